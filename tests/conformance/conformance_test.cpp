// The rules for all transports, see transport/transport.hpp.
#include <poll.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>

#include "conformance_job.hpp"

using namespace transport_test;

BOOST_AUTO_TEST_SUITE(messages)

BOOST_AUTO_TEST_CASE(an_endpoint_address_fits) {
  Job job;
  for (const std::string& address : job.book().addresses)
    BOOST_CHECK_LE(address.size(), shmemx::transport::kMaxAddressBytes);
}

BOOST_AUTO_TEST_CASE(envelope_header_and_payload_arrive_unchanged) {
  Job job;
  BOOST_REQUIRE(job.send({.from = 2, .to = 0, .header = pattern(40, 1), .payload = pattern(8, 2), .handler = 99}));
  BOOST_REQUIRE(got(job, 0, 1));
  const Message& message = job.sink(0).messages.front();
  BOOST_CHECK_EQUAL(message.source, 2);
  BOOST_CHECK_EQUAL(message.fixed.handler, 99);
  BOOST_CHECK_EQUAL(message.fixed.header_bytes, 40);
  BOOST_CHECK_EQUAL(message.fixed.ack, 5);
  BOOST_CHECK(message.header == pattern(40, 1));
  BOOST_CHECK(message.payload == pattern(8, 2));
}

BOOST_AUTO_TEST_CASE(payloads_of_all_lengths_arrive_complete) {
  Job job;
  unsigned n = 0;
  for (const std::size_t header_bytes : {0, 1, 16, 511, 512}) {
    for (const std::size_t payload_bytes :
         {0, 1, 7, 8, 15, 16, 17, 1000, 4095, 4096, 16383, 16384, 16385, 65536, 1048576}) {
      for (const bool lands : {true, false}) {
        job.sink(1).lands = lands;
        job.sink(1).messages.clear();
        BOOST_REQUIRE(job.send({.header = pattern(header_bytes, n), .payload = pattern(payload_bytes, n + 1)}));
        BOOST_REQUIRE(got(job, 1, 1));
        const Message& message = job.sink(1).messages.front();
        BOOST_TEST_CONTEXT("header " << header_bytes << ", body " << payload_bytes) {
          BOOST_CHECK(message.header == pattern(header_bytes, n));
          BOOST_CHECK(message.payload == pattern(payload_bytes, n + 1));
          BOOST_CHECK_EQUAL(message.placed, lands && payload_bytes >= kLongBytes);
        }
        ++n;
      }
    }
  }
  BOOST_CHECK(job.sink(1).aligned);
}

BOOST_AUTO_TEST_CASE(short_and_long_messages_of_a_pair_stay_in_order) {
  Job job;
  constexpr unsigned kMessages = 2000;
  const std::size_t sizes[] = {0, 8, 40, 20'000, 300, 4096, 100'000, 1, 16'384, 70'000, 8};
  for (unsigned i = 0; i < kMessages; ++i) {
    const Urgency urgency = i % 3 == 0 ? Urgency::gather : Urgency::now;
    BOOST_REQUIRE(job.send({.header = number_bytes(i), .payload = pattern(sizes[i % 11], i), .urgency = urgency}));
  }
  job[0].flush();
  BOOST_REQUIRE(got(job, 1, kMessages));
  check_sequence(job.sink(1), 0, kMessages);
  BOOST_CHECK(job.sink(1).in_order);
  BOOST_CHECK(!job.sink(1).overtaken);
  BOOST_CHECK(job.sink(1).aligned);
  for (unsigned i = 0; i < kMessages; ++i) BOOST_REQUIRE(job.sink(1).messages[i].payload == pattern(sizes[i % 11], i));
}

// Runs of long messages, which may be under way at the same time, with short ones between.
BOOST_AUTO_TEST_CASE(messages_placed_early_are_completed_in_order) {
  for (const bool lands : {true, false}) {
    Job job;
    job.sink(1).lands = lands;
    constexpr unsigned kMessages = 300;
    const std::size_t sizes[] = {300'000, 70'000, 1'000'000, 16'384, 131'073, 8, 500'000, 600'000, 0};
    for (unsigned i = 0; i < kMessages; ++i)
      BOOST_REQUIRE(job.send({.header = number_bytes(i), .payload = pattern(sizes[i % 9], i), .flags = kPlacedEarly}));
    BOOST_REQUIRE(got(job, 1, kMessages));
    check_sequence(job.sink(1), 0, kMessages);
    BOOST_CHECK(job.sink(1).in_order);
    for (unsigned i = 0; i < kMessages; ++i) {
      BOOST_REQUIRE(job.sink(1).messages[i].payload == pattern(sizes[i % 9], i));
      BOOST_REQUIRE_EQUAL(job.sink(1).messages[i].fixed.flags, kPlacedEarly);
    }
  }
}

// A payload that the receiver declines never leaves its sender, which may use it again.
// On a provider that has a limit (strict_provider). What follows such a payload waits for it, and so does the end.
BOOST_AUTO_TEST_CASE(payloads_that_are_not_registered_are_copied) {
  if (std::getenv("SHMEMX_TEST_PROVIDER_MEMORY") == nullptr) {
    BOOST_TEST_MESSAGE("no limit of registrations");
    return;
  }
  const auto long_payload = pattern(std::size_t{5} << 20, 1);
  const auto own = pattern(600'001, 2);
  for (const bool lands : {true, false}) {
    Outgoing outgoing;
    Job job;
    job.sink(1).lands = lands;
    BOOST_REQUIRE(job.poll_until([&] {
      return job[0].send(1, {1, 0, 4, 0}, number_bytes(0), long_payload, &outgoing, Urgency::now) != Sent::no;
    }));
    BOOST_REQUIRE(job.send({.header = number_bytes(1), .payload = pattern(100, 3)}));
    BOOST_REQUIRE(job.send({.header = number_bytes(2), .payload = own}));
    BOOST_REQUIRE(got(job, 1, 3));
    check_sequence(job.sink(1), 0, 3);
    BOOST_CHECK(job.sink(1).messages[0].payload == long_payload && job.sink(1).messages[2].payload == own);
    BOOST_CHECK(job.poll_until([&] { return outgoing.done; }));
    BOOST_CHECK_EQUAL(job.sink(0).copied.size(), 1U);
  }
}

BOOST_AUTO_TEST_CASE(declined_payloads_stay_with_their_sender) {
  Job job;
  if (job[1].capabilities().declinable_bytes == 0) return;
  job.sink(1).declines = true;
  constexpr unsigned kPayloads = 8;
  const auto payload = pattern(600'000, 1);
  std::vector<Outgoing> outgoing(kPayloads);
  for (unsigned i = 0; i < kPayloads; ++i) {
    const std::uint8_t flags = i % 2 == 0 ? 0 : kPlacedEarly;
    Sent sent = Sent::no;
    BOOST_REQUIRE(job.poll_until([&] {
      sent = job[0].send(1, {7, flags, 4, 0}, number_bytes(i), payload, &outgoing[i], Urgency::now);
      return sent != Sent::no;
    }));
    BOOST_REQUIRE(sent == Sent::later);
  }
  BOOST_REQUIRE(got(job, 1, kPayloads));
  check_sequence(job.sink(1), 0, kPayloads);
  for (const Message& message : job.sink(1).messages) BOOST_CHECK(message.payload.empty());
  BOOST_CHECK(job.poll_until([&] { return std::ranges::all_of(outgoing, [](const Outgoing& o) { return o.done; }); }));
  job.sink(1).declines = false;
  BOOST_REQUIRE(job.send({.header = number_bytes(kPayloads), .payload = payload}));
  BOOST_REQUIRE(got(job, 1, kPayloads + 1));
  BOOST_CHECK(job.sink(1).messages.back().payload == payload);
}

// Over sockets UCX sends them with their header, so the receiver has them before it could decline them.
BOOST_AUTO_TEST_CASE(ucx_sends_payloads_up_to_its_eager_limit_at_once) {
  Job job;
  if (transport_name() != "ucx" || job[1].capabilities().rma) return;
  job.sink(1).declines = true;
  const std::size_t sizes[] = {65'536, 65'537, 131'073, 262'144, 262'145};
  for (unsigned i = 0; i < 5; ++i)
    BOOST_REQUIRE(job.send({.header = number_bytes(i), .payload = pattern(sizes[i], i)}));
  BOOST_REQUIRE(got(job, 1, 5));
  for (unsigned i = 0; i < 4; ++i) BOOST_CHECK(job.sink(1).messages[i].payload == pattern(sizes[i], i));
  BOOST_CHECK(job.sink(1).messages[4].payload.empty());
}

BOOST_AUTO_TEST_CASE(messages_not_to_be_placed_early_wait_for_their_turn) {
  Job job;
  constexpr unsigned kMessages = 200;
  for (unsigned i = 0; i < kMessages; ++i) {
    const std::uint8_t flags = i % 4 == 3 ? 0 : kPlacedEarly;
    BOOST_REQUIRE(job.send({.header = number_bytes(i), .payload = pattern(400'000, i), .flags = flags}));
  }
  BOOST_REQUIRE(got(job, 1, kMessages));
  check_sequence(job.sink(1), 0, kMessages);
  BOOST_CHECK(job.sink(1).in_order);
  BOOST_CHECK(!job.sink(1).overtaken);
}

BOOST_AUTO_TEST_CASE(messages_for_the_same_place_are_placed_one_after_the_other) {
  Job job;
  job.sink(1).same_place = true;
  constexpr unsigned kMessages = 100;
  const std::size_t sizes[] = {600'000, 100'000, 400'000};
  for (unsigned i = 0; i < kMessages; ++i)
    BOOST_REQUIRE(job.send({.header = number_bytes(i), .payload = pattern(sizes[i % 3], i), .flags = kPlacedEarly}));
  BOOST_REQUIRE(got(job, 1, kMessages));
  check_sequence(job.sink(1), 0, kMessages);
  for (unsigned i = 0; i < kMessages; ++i) BOOST_REQUIRE(job.sink(1).messages[i].payload == pattern(sizes[i % 3], i));
}

BOOST_AUTO_TEST_CASE(coalesced_messages_are_sent_by_flush) {
  Job job;
  constexpr unsigned kMessages = 5000;
  for (unsigned i = 0; i < kMessages; ++i) {
    BOOST_REQUIRE(job.send({.header = number_bytes(i), .payload = pattern(8, i), .urgency = Urgency::gather}));
  }
  job[0].flush();
  BOOST_REQUIRE(got(job, 1, kMessages));
  check_sequence(job.sink(1), 0, kMessages);
}

BOOST_AUTO_TEST_CASE(coalesced_messages_are_sent_before_an_urgent_one) {
  Job job;
  for (unsigned i = 0; i < 10; ++i) BOOST_REQUIRE(job.send({.header = number_bytes(i), .urgency = Urgency::gather}));
  BOOST_REQUIRE(job.send({.header = number_bytes(10)}));
  BOOST_REQUIRE(got(job, 1, 11));
  check_sequence(job.sink(1), 0, 11);
}

BOOST_AUTO_TEST_CASE(a_persistent_payload_is_read_until_it_is_done) {
  constexpr unsigned kPayloads = 12;
  std::vector<std::vector<std::byte>> payloads;  // must outlive the job
  std::vector<Outgoing> outgoing(kPayloads);
  Job job;
  std::vector<Sent> sent(kPayloads, Sent::no);
  for (unsigned i = 0; i < kPayloads; ++i) payloads.push_back(pattern(600'000, i));
  for (unsigned i = 0; i < kPayloads; ++i) {
    const auto header = number_bytes(i);
    BOOST_REQUIRE(job.poll_until([&] {
      sent[i] = job[0].send(1, {7, 0, 4, 0}, header, payloads[i], &outgoing[i], Urgency::now);
      return sent[i] != Sent::no;
    }));
    if (sent[i] == Sent::yes)
      std::memset(payloads[i].data(), 0xee, payloads[i].size());  // the payload may be overwritten
  }
  for (unsigned i = 0; i < kPayloads; ++i) {
    BOOST_REQUIRE(job.poll_until([&] { return sent[i] == Sent::yes || outgoing[i].done; }));
    std::memset(payloads[i].data(), 0xee, payloads[i].size());
  }
  BOOST_REQUIRE(got(job, 1, kPayloads));
  for (unsigned i = 0; i < kPayloads; ++i) BOOST_CHECK(job.sink(1).messages[i].payload == pattern(600'000, i));
}

BOOST_AUTO_TEST_CASE(gathered_persistent_payloads_leave_at_a_flush_at_the_latest) {
  std::vector<std::vector<std::byte>> payloads;  // must outlive the job
  std::vector<Outgoing> outgoing(64);
  Job job;
  for (unsigned i = 0; i < 64; ++i) {
    const Bytes payload = payloads.emplace_back(pattern(i % 4 == 1 ? 40 : 20'000 + i % 4 * 30'000, i));
    while (job[0].send(1, {7, 0, 4, 0}, number_bytes(i), payload, &outgoing[i], Urgency::gather) == Sent::no)
      job.poll_all();
  }
  job[0].flush();
  BOOST_REQUIRE(got(job, 1, 64));
  for (unsigned i = 0; i < 64; ++i) BOOST_REQUIRE(job.sink(1).messages[i].payload == payloads[i]);
}

BOOST_AUTO_TEST_CASE(the_first_messages_of_all_pairs_at_once) {
  for (int round = 0; round < 10; ++round) {
    Job job({.n = 4});
    for (int from = 0; from < 4; ++from) {
      for (int to = 0; to < 4; ++to) {
        if (from == to) continue;
        for (unsigned i = 0; i < 3; ++i) {
          const Header fixed{1, 0, 4, 0};
          BOOST_REQUIRE(job[from].send(to, fixed, number_bytes(i), {}, nullptr, Urgency::now) == Sent::yes);
        }
      }
    }
    for (int pe = 0; pe < 4; ++pe) BOOST_REQUIRE(got(job, pe, 9));
    for (int pe = 0; pe < 4; ++pe) {
      for (int from = 0; from < 4; ++from) check_sequence(job.sink(pe), from, from == pe ? 0 : 3);
      BOOST_CHECK(job.sink(pe).losses.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(sinks_may_send) {
  Job job;
  constexpr unsigned kHops = 3000;
  for (int pe = 0; pe < 3; ++pe) {
    job.sink(pe).on_message = [&job, pe](const Message& message) {
      const unsigned hop = number_of(message) + 1;
      if (hop >= kHops) return;
      const auto payload = pattern(hop % 50 == 0 ? 40'000 : hop % 100, hop);
      BOOST_CHECK(job[pe].send((pe + 1 + static_cast<int>(hop % 2)) % 3, {1, 0, 4, 0}, number_bytes(hop), payload,
                               nullptr, Urgency::now) == Sent::yes);
    };
  }
  BOOST_REQUIRE(job.send({.header = number_bytes(0)}));
  BOOST_REQUIRE(job.poll_until([&] {
    return job.sink(0).messages.size() + job.sink(1).messages.size() + job.sink(2).messages.size() >= kHops;
  }));
}

BOOST_AUTO_TEST_CASE(a_sleeper_is_woken) {
  Job job;
  if (!job[1].capabilities().waits) {
    BOOST_TEST_MESSAGE("no descriptor to wait on");
    return;
  }
  BOOST_REQUIRE(job.send({.header = number_bytes(0)}));
  BOOST_REQUIRE(got(job, 1, 1));
  for (unsigned i = 1; i < 50; ++i) {
    BOOST_REQUIRE(job[0].send(1, {1, 0, 4, 0}, number_bytes(i), pattern(i * 1000, i), nullptr, Urgency::now) ==
                  Sent::yes);
    // The sender polls; the receiver sleeps whenever arm() allows it.
    BOOST_REQUIRE(job.poll_until(
        [&] {
          if (job[1].arm()) {
            pollfd waiting{job[1].descriptor(), POLLIN, 0};
            ::poll(&waiting, 1, 100);
            if ((waiting.revents & POLLIN) == 0) return false;
          }
          job[1].poll(-1);
          return job.sink(1).messages.size() == i + 1;
        },
        1));
  }
  check_sequence(job.sink(1), 0, 50);
}

BOOST_AUTO_TEST_CASE(no_sleeper_is_woken_without_a_message) {
  Job job;
  if (!job[1].capabilities().waits) {
    BOOST_TEST_MESSAGE("no descriptor to wait on");
    return;
  }
  for (unsigned i = 0; i < 10; ++i) {
    BOOST_REQUIRE(job.send({.from = 0, .to = 1, .header = number_bytes(i), .payload = pattern(i * 10'000, i)}));
    BOOST_REQUIRE(job.send({.from = 1, .to = 0, .header = number_bytes(i)}));
  }
  BOOST_REQUIRE(got(job, 1, 10));
  BOOST_REQUIRE(got(job, 0, 10));
  for (const int pe : {0, 1}) {
    BOOST_CHECK(job.poll_until([&] {
      pollfd waiting{job[pe].descriptor(), POLLIN, 0};
      return job[pe].arm() && ::poll(&waiting, 1, 0) == 0;
    }));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ends)

BOOST_AUTO_TEST_CASE(an_end_without_shutdown_is_one_loss) {
  Job job({.timeout_ms = 3000});  // which ofi waits for
  BOOST_REQUIRE(job.send({.from = 0, .to = 1, .header = number_bytes(0)}));
  BOOST_REQUIRE(job.send({.from = 2, .to = 1, .header = number_bytes(0)}));
  BOOST_REQUIRE(got(job, 1, 2));
  BOOST_REQUIRE(job.send({.from = 1, .to = 0, .header = number_bytes(0)}));
  BOOST_REQUIRE(got(job, 0, 1));
  job.kill(1);
  BOOST_REQUIRE(job.poll_until([&] {
    job[2].send(1, {1, 0, 4, 0}, number_bytes(1), {}, nullptr, Urgency::now);  // a message to it is outstanding
    job[0].send(1, {1, 0, 4, 0}, number_bytes(1), {}, nullptr, Urgency::now);
    return !job.sink(0).losses.empty() && !job.sink(2).losses.empty();
  }));
  for (int i = 0; i < 100; ++i) job.poll_all();
  for (const int pe : {0, 2}) {
    BOOST_REQUIRE_EQUAL(job.sink(pe).losses.size(), 1U);
    BOOST_CHECK_EQUAL(job.sink(pe).losses.front().pe, 1);
    BOOST_CHECK(!job.sink(pe).losses.front().cause.empty());
  }
  BOOST_REQUIRE(job.send({.from = 0, .to = 2, .header = number_bytes(0)}));
  BOOST_CHECK(got(job, 2, 1));
}

BOOST_AUTO_TEST_CASE(a_shutdown_is_no_loss_and_loses_nothing) {
  Job job;
  constexpr unsigned kMessages = 60;
  BOOST_REQUIRE(job.send({.from = 1, .to = 0, .header = number_bytes(0)}));
  BOOST_REQUIRE(got(job, 0, 1));
  for (unsigned i = 0; i < kMessages; ++i) {
    const Urgency urgency = i % 2 == 0 ? Urgency::gather : Urgency::now;
    BOOST_REQUIRE(job.send({.header = number_bytes(i), .payload = pattern(i * 10, i), .urgency = urgency}));
  }
  BOOST_REQUIRE(job.send({.from = 1, .to = 0, .header = number_bytes(1)}));  // not yet received when PE 0 closes
  job[0].close(1000);
  job.kill(0);
  BOOST_REQUIRE(got(job, 1, kMessages));
  for (int i = 0; i < 100; ++i) job.poll_all();
  check_sequence(job.sink(1), 0, kMessages);
  BOOST_CHECK(job.sink(1).losses.empty());
  BOOST_CHECK(job.sink(0).losses.empty());
}

BOOST_AUTO_TEST_CASE(a_pe_without_an_endpoint_address_is_lost) {
  Job job;
  job.book().addresses[1].clear();
  job[0].send(1, {1, 0, 4, 0}, number_bytes(0), {}, nullptr, Urgency::now);
  BOOST_CHECK(job.sink(0).losses.empty());  // sinks are called by poll() only
  BOOST_REQUIRE(job.poll_until([&] { return !job.sink(0).losses.empty(); }));
  BOOST_CHECK_EQUAL(job.sink(0).losses.front().pe, 1);
}

BOOST_AUTO_TEST_CASE(an_endpoint_with_another_secret_receives_nothing) {
  Job job;
  Endpoints others(transport_name(), {.n = 3, .timeout_ms = 3000, .secret = 0x4321});
  others.book().addresses = job.book().addresses;
  others[0].send(1, {1, 0, 4, 0}, number_bytes(0), pattern(100, 0), nullptr, Urgency::now);
  BOOST_REQUIRE(job.poll_until([&] {
    others.poll_all();
    return !others.sink(0).losses.empty();
  }));
  BOOST_CHECK(job.sink(1).messages.empty());
  BOOST_CHECK(job.sink(1).losses.empty());
  BOOST_REQUIRE(job.send({.header = number_bytes(0)}));
  BOOST_REQUIRE(got(job, 1, 1));
  check_sequence(job.sink(1), 0, 1);
}

BOOST_AUTO_TEST_CASE(the_path_to_a_pe_is_reported) {
  Job job;
  BOOST_CHECK(!job[0].describe(1).empty());
  BOOST_REQUIRE(job.send({.header = number_bytes(0)}));
  BOOST_REQUIRE(got(job, 1, 1));
  BOOST_CHECK(!job[0].describe(1).empty());
}

BOOST_AUTO_TEST_SUITE_END()
