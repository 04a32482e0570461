// The rules for all transports: many messages, and receivers that do not keep up.
#include <algorithm>

#include "base/clock.hpp"
#include "conformance_job.hpp"

BOOST_AUTO_TEST_SUITE(flow)

using namespace transport_test;

// A PE that does not poll does not delay messages to others, and loses none of its own.
BOOST_AUTO_TEST_CASE(a_slow_pe_delays_no_other) {
  Job job;
  unsigned taken = 0;
  BOOST_REQUIRE(job.send({.header = number_bytes(taken++)}));
  BOOST_REQUIRE(got(job, 1, 1));
  const auto payload = pattern(10'000, 1);
  for (int i = 0; i < 5000; ++i) {
    if (job[0].send(1, {1, 0, 4, 0}, number_bytes(taken), payload, nullptr, Urgency::now) == Sent::no) break;
    ++taken;
  }
  constexpr unsigned kOthers = 500;
  for (unsigned i = 0; i < kOthers; ++i)
    BOOST_REQUIRE(job.send({.to = 2, .header = number_bytes(i), .payload = pattern(100, i)}, 1));
  BOOST_REQUIRE(got(job, 2, kOthers, 1));
  check_sequence(job.sink(2), 0, kOthers);
  BOOST_REQUIRE(got(job, 1, taken));
  check_sequence(job.sink(1), 0, taken);
  BOOST_CHECK(job.sink(1).messages.back().payload == payload);
}

// The sender does not poll, so where the receiver fetches long payloads from it, what is sent behind them has to wait.
BOOST_AUTO_TEST_CASE(little_waits_behind_payloads_whatever_is_sent) {
  constexpr std::size_t kMostSent = std::size_t{4} << 20;  // which take 15 times as much where they wait
  constexpr int kSilentPolls = 2000;  // of the receiver, after which the sender is taken to be stopped
  const auto long_payload = pattern(std::size_t{8} << 20, 1);  // these outlive the job
  const auto payload = pattern(16, 2);
  std::vector<Outgoing> outgoing(4);
  Job job;
  BOOST_REQUIRE(job.send({.header = number_bytes(0)}) && got(job, 1, 1));
  unsigned taken = 1;
  for (Outgoing& one : outgoing) {
    if (job[0].send(1, {1, 0, 4, 0}, number_bytes(taken), long_payload, &one, Urgency::now) != Sent::no) ++taken;
  }
  const auto waiting = [&] { return taken - job.sink(1).messages.size(); };
  for (int refused = 0; refused < kSilentPolls && taken * payload.size() < kMostSent;) {
    const Sent sent = job[0].send(1, {1, 0, 4, 0}, number_bytes(taken), payload, nullptr, Urgency::now);
    taken += sent != Sent::no ? 1 : 0;
    refused = sent != Sent::no ? 0 : refused + 1;
    job[1].poll(0);
  }
  BOOST_TEST_MESSAGE(waiting() << " messages waited");
  BOOST_CHECK_LT(waiting() * payload.size(), kMostSent / 2);
  BOOST_REQUIRE(got(job, 1, taken));
  check_sequence(job.sink(1), 0, taken);
  const auto& last = job.sink(1).messages.back().payload;
  BOOST_CHECK(last == payload || last == long_payload);  // nothing is taken behind a payload that is sent in parts
}

BOOST_AUTO_TEST_CASE(much_data_in_both_directions_at_once) {
  constexpr unsigned kMessages = 60;
  // In use until they are done, which may be after the last message has arrived, so both must outlive the job.
  std::vector<Outgoing> outgoing(2 * kMessages);
  const auto payload = pattern(1 << 20, 3);
  Job job;
  unsigned next[2] = {0, 0};
  unsigned lasting = 0;
  BOOST_REQUIRE(job.poll_until([&] {
    for (int pe = 0; pe < 2; ++pe) {
      unsigned& i = next[pe];
      if (i == kMessages) continue;
      Outgoing& mine = outgoing[static_cast<unsigned>(pe) * kMessages + i];
      const Sent sent = job[pe].send(1 - pe, {1, 0, 4, 0}, number_bytes(i), payload, &mine, Urgency::now);
      if (sent != Sent::no) ++i;
      if (sent == Sent::later) ++lasting;
    }
    return job.sink(0).messages.size() == kMessages && job.sink(1).messages.size() == kMessages;
  }));
  check_sequence(job.sink(0), 1, kMessages);
  check_sequence(job.sink(1), 0, kMessages);
  BOOST_CHECK(job.sink(0).messages.back().payload == payload);
  BOOST_CHECK(job.poll_until([&] {
    return std::count_if(outgoing.begin(), outgoing.end(), [](const Outgoing& one) { return one.done; }) == lasting;
  }));
}

// Of a number only the lower half travels, over ucx and ofi. Those of messages, of packets that say that a payload was
// read, and of signs of life.
BOOST_AUTO_TEST_CASE(numbers_pass_32_bits) {
  constexpr unsigned kMessages = 20;
  Job job({.n = 2, .timeout_ms = 1000, .first_number = (std::uint64_t{1} << 32) - 4});
  const auto payload = pattern(300'000, 1);
  std::vector<Outgoing> outgoing(kMessages);
  for (unsigned i = 0; i < kMessages; ++i) {
    BOOST_REQUIRE(job.send({.from = 0, .to = 1, .header = number_bytes(2 * i)}));
    BOOST_REQUIRE(job.send({.from = 1, .to = 0, .header = number_bytes(i)}));
    const std::vector<std::byte> header = number_bytes(2 * i + 1);
    BOOST_REQUIRE(job.poll_until([&] {
      return job[0].send(1, {1, 0, 4, 0}, header, payload, &outgoing[i], Urgency::now) != Sent::no;
    }));
    BOOST_REQUIRE(got(job, 1, 2 * i + 2) && got(job, 0, i + 1));
  }
  check_sequence(job.sink(1), 0, 2 * kMessages);
  check_sequence(job.sink(0), 1, kMessages);
  BOOST_CHECK(job.sink(1).messages.back().payload == payload);
  const std::uint64_t end = shmemx::now_ns() + 2'500'000'000;  // several pings, or the loss of a silent PE
  job.poll_until([&] { return shmemx::now_ns() > end || !job.sink(0).losses.empty(); });
  BOOST_CHECK(job.sink(0).losses.empty() && job.sink(1).losses.empty());
}

BOOST_AUTO_TEST_SUITE_END()
