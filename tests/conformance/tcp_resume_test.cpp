// Connections that break in mid-job: others follow, and each message arrives once and in order.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <random>

#include "acted_pe.hpp"
#include "numbered_traffic.hpp"
#include "transport/tcp/tcp_transport.hpp"

BOOST_AUTO_TEST_SUITE(tcp_resume)

using namespace transport_test;
using shmemx::UniqueFd;
using shmemx::tcp::TcpTransport;
using shmemx::transport::Outgoing;

namespace {

bool reset(Endpoints& job, int from, int to) { return static_cast<TcpTransport&>(job[from]).parts().resume.reset(to); }
bool move(Endpoints& job, int from, int to) { return static_cast<TcpTransport&>(job[from]).parts().connector.move(to); }
bool suspend(Endpoints& job, int from, int to) {
  return static_cast<TcpTransport&>(job[from]).parts().suspension.suspend(to);
}

}  // namespace

BOOST_AUTO_TEST_CASE(messages_of_both_sides_survive_a_reset) {
  for (const int breaker : {0, 1}) {
    Endpoints job("tcp");
    unsigned resets = 0;
    post(job, 0, 1, 0);
    BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == 1; }));
    post(job, 1, 0, 0);
    for (unsigned i = 1; i < 20; ++i) {
      post(job, 0, 1, i, i % 5 == 0 ? 40'000 : 100);
      post(job, 1, 0, i, i % 7 == 0 ? 40'000 : 100);
      if (i % 4 != 0) continue;
      resets += reset(job, breaker, 1 - breaker) ? 1 : 0;
      for (unsigned polls = 0; polls < i * 5; ++polls) job.poll_all();
    }
    BOOST_CHECK_GE(resets, 2u);
    BOOST_CHECK(job.poll_until([&] { return job.sink(0).messages.size() == 20 && job.sink(1).messages.size() == 20; }));
    for (int i = 0; i < 100; ++i) job.poll_all();
    for (const int pe : {0, 1}) {
      BOOST_REQUIRE_EQUAL(job.sink(pe).messages.size(), 20u);
      for (unsigned i = 0; i < 20; ++i) BOOST_CHECK_EQUAL(number_of(job.sink(pe).messages[i]), i);
    }
    check_no_losses(job);
  }
}

BOOST_AUTO_TEST_CASE(both_sides_may_break_at_once) {
  Endpoints job("tcp");
  unsigned next = 0;
  for (int round = 0; round < 20; ++round, ++next) {
    post(job, 0, 1, next);
    post(job, 1, 0, next);
    BOOST_REQUIRE(job.poll_until(
        [&] { return job.sink(0).messages.size() == next + 1 && job.sink(1).messages.size() == next + 1; }));
    reset(job, 0, 1);
    reset(job, 1, 0);
  }
  check_no_losses(job);
}

BOOST_AUTO_TEST_CASE(a_long_payload_continues_in_its_middle) {
  Endpoints job("tcp");
  post(job, 0, 1, 0);
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == 1; }));
  const std::vector<std::byte> data = pattern(std::size_t{32} << 20, 1);
  Outgoing outgoing;
  BOOST_REQUIRE(job[0].send(1, {1, 0, 4, 0}, pattern(4, 0), data, &outgoing, Urgency::now) == Sent::later);
  unsigned polls = 0;
  unsigned resets = 0;
  const auto done = [&] {
    if (++polls % 4 == 0 && resets < 5 && reset(job, static_cast<int>(resets % 2), 1 - static_cast<int>(resets % 2)))
      ++resets;
    return job.sink(1).messages.size() == 2 && outgoing.done;
  };
  BOOST_CHECK(job.poll_until(done));
  BOOST_CHECK_GE(resets, 1u);
  BOOST_CHECK(job.sink(1).messages.back().payload == data);
  check_no_losses(job);
}

BOOST_AUTO_TEST_CASE(the_shutdown_frame_survives_a_reset) {
  Endpoints job("tcp");
  post(job, 0, 1, 0);
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == 1; }));
  post(job, 1, 0, 0);
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(0).messages.size() == 1; }));
  BOOST_CHECK(reset(job, 1, 0));
  job[0].close(0);
  for (int i = 0; i < 500; ++i) job.poll_all(0);
  job.close_all();
}

// A PE may drop a connection that it has answered before it takes it, since another one was first: what its kernel has
// acknowledged by then is sent once more.
BOOST_AUTO_TEST_CASE(a_connection_that_was_never_taken_costs_nothing) {
  Endpoints job("tcp", {.n = 2});
  ActedPe forgetful(job);  // its kernel acknowledges what arrives, but nobody reads it
  constexpr std::size_t kMessages = 10;
  for (unsigned i = 0; i < kMessages; ++i) post(job, 0, 1, i, 5000);
  UniqueFd fd = forgetful.accept();
  const std::size_t arriving = sizeof(shmemx::transport::Response) + kMessages * 5000;
  BOOST_REQUIRE(job.poll_until([&] { return ActedPe::available(fd) >= arriving; }, 1));
  fd.reset();
  forgetful.leave();
  BOOST_CHECK(job.poll_until([&] { return job.sink(1).messages.size() == kMessages; }));
  check_no_losses(job);
  BOOST_REQUIRE_EQUAL(job.sink(1).messages.size(), kMessages);
  for (unsigned i = 0; i < kMessages; ++i) BOOST_CHECK_EQUAL(number_of(job.sink(1).messages[i]), i);
}

// A PE that has ended is not waited for.
BOOST_AUTO_TEST_CASE(a_pe_that_has_ended_is_lost) {
  Endpoints job("tcp");
  post(job, 0, 1, 0);
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == 1; }));
  job.kill(1);
  BOOST_REQUIRE(job.poll_until([&] { return !job.sink(0).losses.empty(); }));
  BOOST_CHECK_EQUAL(job.sink(0).losses.front().pe, 1);
  BOOST_CHECK_EQUAL(job.sink(0).losses.front().cause, "it has closed the connection without a shutdown message");
}

// A child of the PE that lives longer has copies of its descriptors, with which the kernel would neither end the
// connection nor refuse another one.
BOOST_AUTO_TEST_CASE(a_forked_child_keeps_neither_connections_nor_the_listener) {
  Endpoints job("tcp");
  post(job, 0, 1, 0);
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == 1; }));
  int done[2];
  BOOST_REQUIRE_EQUAL(::pipe2(done, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    shmemx::transport::close_network_fds_in_child();
    [[maybe_unused]] const ssize_t written = ::write(done[1], "", 1);
    for (;;) ::pause();
  }
  char byte;
  BOOST_CHECK_EQUAL(::read(done[0], &byte, 1), 1);
  post(job, 1, 0, 0);  // the parent's are open
  BOOST_CHECK(job.poll_until([&] { return job.sink(0).messages.size() == 1; }));
  job.kill(1);
  BOOST_CHECK(job.poll_until([&] { return !job.sink(0).losses.empty(); }));
  ::kill(child, SIGKILL);
  BOOST_CHECK_EQUAL(::waitpid(child, nullptr, 0), child);
  for (const int end : done) ::close(end);
}

// All pairs send messages of all kinds, while connections are reset and suspended at random.
BOOST_AUTO_TEST_CASE(nothing_is_lost_or_doubled_at_random) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  RandomTraffic traffic(seed);
  unsigned resets = 0;
  traffic.run([&](int from, int to) {
    if (traffic.pick(12) == 0) {
      resets += reset(traffic.job, from, to) ? 1 : 0;
    } else if (traffic.pick(12) == 0) {
      suspend(traffic.job, from, to);
    } else {
      return false;
    }
    return true;
  });
  BOOST_CHECK_GT(resets, 100u);
}

// Connections that work move to others, also while some of those break.
BOOST_AUTO_TEST_CASE(nothing_is_lost_when_connections_move) {
  for (const char* transport : {"tcp", "tcp:mac"}) {
    const unsigned seed = std::random_device{}();
    BOOST_TEST_MESSAGE("seed " << seed);
    RandomTraffic traffic(seed, transport);
    unsigned moves = 0;
    traffic.run([&](int from, int to) {
      const unsigned what = traffic.pick(24);
      if (what == 0) return reset(traffic.job, from, to);
      if (what == 1) return suspend(traffic.job, from, to);
      if (what > 4) return false;
      moves += move(traffic.job, from, to) ? 1 : 0;
      return true;
    });
    BOOST_CHECK_GT(moves, 100u);
  }
}

// ---- payloads on two rails ----

void open_rail(Endpoints& job, int from, int to) {
  BOOST_REQUIRE(job.poll_until([&] { return static_cast<TcpTransport&>(job[from]).parts().rails.open_on_any(to); }));
}

void check_split_payloads(const std::string& transport) {
  Endpoints job(transport, {.n = 2});
  post(job, 0, 1, 0);
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == 1; }));
  open_rail(job, 0, 1);
  std::vector<std::vector<std::byte>> payloads;
  std::vector<std::unique_ptr<Outgoing>> outgoing;
  for (unsigned i = 1; i < 100; i += 2) {
    payloads.push_back(pattern((std::size_t{300} << 10) + i * 1237, i));
    outgoing.push_back(std::make_unique<Outgoing>());
    std::vector<std::byte> header(4);
    std::memcpy(header.data(), &i, sizeof i);
    job.sink(1).lands = i % 3 != 0;
    BOOST_REQUIRE(job.poll_until([&] {
      return job[0].send(1, {1, 0, 4, 0}, header, payloads.back(), outgoing.back().get(), Urgency::now) != Sent::no;
    }));
    post(job, 0, 1, i + 1, i % 5 * 100);
    if (i % 9 == 0) reset(job, 0, 1);
    if (i % 15 == 0) reset(job, 1, 0);
    if (i % 11 == 0) reset(job, 0, 3);  // the second rail
    if (i % 13 == 0) reset(job, 1, 2);
    if (i % 7 == 0) move(job, 0, i % 2 == 0 ? 1 : 3);
    if (i % 17 == 0) move(job, 1, 2);
  }
  BOOST_CHECK(job.poll_until([&] { return job.sink(1).messages.size() == 101; }));
  BOOST_CHECK(job.poll_until(
      [&] { return std::all_of(outgoing.begin(), outgoing.end(), [](const auto& one) { return one->done; }); }));
  for (unsigned i = 0; i < 101; ++i) {
    const Message& message = job.sink(1).messages[i];
    BOOST_REQUIRE_EQUAL(number_of(message), i);
    BOOST_REQUIRE(message.payload == (i % 2 == 0 ? message.payload : payloads[i / 2]));
  }
  BOOST_CHECK(job.sink(1).in_order && job.sink(1).aligned);
  BOOST_CHECK(job.poll_until([&] { return job[0].describe(1).find("; second rail ") != std::string::npos; }));
  check_no_losses(job);
}

// The second part completes the message, and what follows on the first rail is broken: both are lost while the second
// one is being read.
BOOST_AUTO_TEST_CASE(a_part_that_ends_both_rails_is_the_last_that_is_read) {
  using shmemx::tcp::FrameHeader;
  using shmemx::tcp::FrameKind;
  Endpoints job("tcp", {.n = 2});
  ActedPe acted(job);
  post(job, 0, 1, 0);
  const UniqueFd first = acted.accept_and_begin();
  BOOST_CHECK(!static_cast<TcpTransport&>(job[0]).parts().rails.open_on_any(1));
  const UniqueFd second = acted.accept_and_begin();
  const std::vector<std::byte> payload = pattern(64 << 10, 1);
  const std::size_t part = 8 << 10;
  const shmemx::tcp::SplitHeader split{0, payload.size()};
  const shmemx::tcp::PartHeader place{0, part};
  const auto bytes_of_struct = [](const auto& one) { return std::as_bytes(std::span(&one, 1)); };
  const FrameHeader message{0, FrameKind::part, 0, {0, 0, sizeof place, 0}};
  ActedPe::send_frame(first, {0, FrameKind::split, 0, {1, 0, 4, 0}},
                      {bytes_of_struct(split), number_bytes(7), Bytes(payload).first(part)});
  ActedPe::send_frame(first, {0, FrameKind{0x1111}, 0, {}});
  std::vector<std::byte> rest = ActedPe::frame_of(message, {bytes_of_struct(place), Bytes(payload).subspan(part)});
  const std::size_t begin = rest.size() - 1000;
  ActedPe::send(second, Bytes(rest).first(begin));
  for (int i = 0; i < 100; ++i) job[0].poll(-1);
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(begin));
  for (int i = 0; i < 5; ++i) {  // more than one read takes
    const auto more = ActedPe::frame_of(message, {bytes_of_struct(place), Bytes(payload).first(part)});
    rest.insert(rest.end(), more.begin(), more.end());
  }
  ActedPe::send(second, rest);
  BOOST_CHECK(job.poll_until([&] { return !job.sink(0).losses.empty(); }, 1));
  for (int i = 0; i < 100; ++i) job[0].poll(-1);
  BOOST_CHECK_EQUAL(job.sink(0).losses.size(), 1u);
  BOOST_CHECK_EQUAL(job.sink(0).losses.front().cause, "it sent a frame of an unknown kind");
  BOOST_REQUIRE_EQUAL(job.sink(0).messages.size(), 1u);
  BOOST_CHECK(job.sink(0).messages.front().payload == payload);
  BOOST_CHECK(!acted.try_accept().valid());  // no connection follows one that is lost
  acted.leave();
}

BOOST_AUTO_TEST_CASE(split_payloads_arrive_in_order_with_all_other_messages) {
  for (const char* transport : {"tcp", "tcp:mac"}) check_split_payloads(transport);
}

// The first rail has much in front of split messages, whose second parts arrive early: they stay in the kernels and at
// the sender.
BOOST_AUTO_TEST_CASE(second_parts_wait_for_their_messages) {
  constexpr std::size_t kPayload = std::size_t{1} << 20;
  constexpr unsigned kBefore = 200;
  constexpr unsigned kSplit = 100;
  for (const char* transport : {"tcp", "tcp:mac"}) {
    Endpoints job(transport, {.n = 2});
    post(job, 0, 1, 0);
    BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == 1; }));
    open_rail(job, 0, 1);
    const auto payload = pattern(kPayload, 1);
    std::vector<Outgoing> outgoing(kBefore + kSplit);
    for (unsigned i = 0; i < outgoing.size(); ++i) {
      const std::size_t bytes = i < kBefore ? std::size_t{250} << 10 : kPayload;
      BOOST_REQUIRE(job[0].send(1, {1, 0, 4, 0}, pattern(4, i), Bytes(payload).first(bytes), &outgoing[i],
                                Urgency::now) != Sent::no);
    }
    BOOST_CHECK(job.poll_until([&] { return job.sink(1).messages.size() == outgoing.size() + 1; }));
    BOOST_CHECK(job.sink(1).in_order);
    BOOST_CHECK(job.sink(1).messages.back().payload == payload);
    check_no_losses(job);
  }
}

BOOST_AUTO_TEST_CASE(split_payloads_that_nobody_takes_are_given_back_at_the_end) {
  Endpoints job("tcp", {.n = 2});
  post(job, 0, 1, 0);
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == 1; }));
  open_rail(job, 0, 1);
  const auto payload = pattern(std::size_t{4} << 20, 1);
  std::vector<Outgoing> outgoing(10);
  for (Outgoing& one : outgoing)
    BOOST_REQUIRE(job[0].send(1, {1, 0, 4, 0}, pattern(4, 1), payload, &one, Urgency::now) != Sent::no);
  BOOST_CHECK(std::none_of(outgoing.begin(), outgoing.end(), [](const Outgoing& one) { return one.done; }));
  job[0].close(0);
  BOOST_CHECK(std::all_of(outgoing.begin(), outgoing.end(), [](const Outgoing& one) { return one.done; }));
}

BOOST_AUTO_TEST_SUITE_END()
