// The states of a connection, over pairs of sockets, and how fast the other side takes what is sent.
#include "transport/tcp/connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <span>

#include "base/unique_fd.hpp"
#include "endpoints.hpp"
#include "transport/tcp/speed.hpp"

BOOST_AUTO_TEST_SUITE(tcp_connection)

using namespace shmemx::tcp;
using namespace transport_test;
using State = Connection::State;

namespace {

// PE 0 has dialed PE 1.
struct Pair {
  // `number`: of the sockets between the two.
  void open(std::uint64_t number) {
    int ends[2];
    BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    near.open(NetworkFd(ends[0]), number, nullptr, true);
    far.open(NetworkFd(ends[1]), number, nullptr, number > 1);
    BOOST_REQUIRE(far.send_resume() && (number == 1 || near.send_resume()));
  }
  static std::string take_resume(Connection& one) {
    while (one.awaits_resume()) BOOST_REQUIRE_GT(one.read_resume(), 0);
    return one.take_resume();
  }
  static void send(Connection& one, unsigned number, std::size_t bytes) {
    one.out.append({1, 0, 4, 0}, number_bytes(number), pattern(bytes, number));
    if (one.may_write()) BOOST_REQUIRE(one.write() == Outbox::Written::all);
  }
  static void receive(Connection& one, std::size_t most) {
    while (most != 0) {
      iovec areas[2];
      BOOST_REQUIRE_NE(one.in.areas(areas), 0);
      areas[0].iov_len = std::min(areas[0].iov_len, most);
      const ssize_t got = one.read(areas, 1);
      if (got <= 0) return;
      most -= static_cast<std::size_t>(got);
      BOOST_REQUIRE(one.in.advance(static_cast<std::size_t>(got)));
    }
  }
  // PE 0 suspends on the first pair of sockets.
  void leave() {
    BOOST_REQUIRE_EQUAL(take_resume(near), "");
    near.out.append_suspend(1);
    BOOST_REQUIRE(near.write() == Outbox::Written::all);
    near.leave();
    receive(far, std::size_t{1} << 20);
  }

  shmemx::UniqueFd epoll{::epoll_create1(EPOLL_CLOEXEC)};
  Recorder sinks[2];
  Connection near{1, sinks[0]};
  Connection far{0, sinks[1]};
};

constexpr std::size_t kAll = std::size_t{1} << 20;

}  // namespace

BOOST_AUTO_TEST_CASE(the_side_that_has_dialed_writes_at_once_and_takes_no_acknowledgement_before_the_resume_frame) {
  Pair pair;
  BOOST_CHECK(pair.near.is(State::connecting) && !pair.near.may_write() && !pair.near.is_open());
  pair.open(1);
  BOOST_CHECK(pair.near.is(State::up) && pair.near.may_write() && pair.near.awaits_resume());
  BOOST_CHECK(pair.far.may_write() && !pair.far.awaits_resume());
  Pair::send(pair.near, 0, 10);
  Pair::receive(pair.far, kAll);
  pair.near.drop_acknowledged();
  BOOST_CHECK(!pair.near.out.is_acknowledged());
  BOOST_CHECK_EQUAL(Pair::take_resume(pair.near), "");
  pair.near.drop_acknowledged();
  BOOST_CHECK(pair.near.out.is_acknowledged() && pair.near.is_idle());
}

BOOST_AUTO_TEST_CASE(both_streams_continue_on_another_socket) {
  Pair pair;
  pair.open(1);
  Pair::take_resume(pair.near);
  Pair::send(pair.near, 0, 5000);
  Pair::send(pair.far, 0, 10);
  Pair::receive(pair.far, 1000);  // of the first message
  Pair::receive(pair.near, kAll);
  pair.near.close(pair.epoll.get());
  pair.far.close(pair.epoll.get());
  BOOST_CHECK(pair.near.is(State::connecting) && pair.far.is(State::connecting));
  Pair::send(pair.near, 1, 10);  // waits
  Pair::send(pair.far, 1, 10);
  pair.open(2);
  for (Connection* const one : {&pair.near, &pair.far}) {
    BOOST_CHECK(one->is_resuming() && !one->may_write());
    BOOST_CHECK_EQUAL(Pair::take_resume(*one), "");
    BOOST_REQUIRE(one->may_write() && one->write() == Outbox::Written::all);
  }
  Pair::receive(pair.near, kAll);
  Pair::receive(pair.far, kAll);
  for (const Recorder& sink : pair.sinks) {
    BOOST_REQUIRE_EQUAL(sink.messages.size(), 2u);
    for (unsigned i = 0; i < 2; ++i) BOOST_CHECK_EQUAL(number_of(sink.messages[i]), i);
  }
}

BOOST_AUTO_TEST_CASE(a_resume_frame_that_does_not_fit_is_refused) {
  for (const std::uint64_t number : {1, 2}) {
    Pair pair;
    pair.open(number);
    const FrameHeader frame{0, FrameKind::resume, 0, std::bit_cast<Header>(std::uint64_t{16})};
    int ends[2];
    BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    const shmemx::UniqueFd other(ends[1]);
    pair.near.close(pair.epoll.get());
    pair.near.open(NetworkFd(ends[0]), number, nullptr, true);
    BOOST_REQUIRE_EQUAL(::send(other.get(), &frame, sizeof frame, 0), static_cast<ssize_t>(sizeof frame));
    BOOST_CHECK_EQUAL(Pair::take_resume(pair.near), "it continues at byte 16, where bytes 0 to 0 are kept");
  }
}

BOOST_AUTO_TEST_CASE(a_connection_that_has_failed_or_leaves_is_read_and_not_written) {
  for (const State state : {State::failed, State::leaving, State::replaced}) {
    Pair pair;
    pair.open(1);
    Pair::take_resume(pair.near);
    Pair::send(pair.far, 0, 10);
    if (state == State::failed) pair.near.fail();
    if (state == State::leaving) pair.near.leave();
    if (state == State::replaced) pair.near.replace();
    BOOST_CHECK(pair.near.is(state) && pair.near.is_open() && !pair.near.may_write() && !pair.near.is_idle());
    Pair::receive(pair.near, kAll);
    BOOST_CHECK_EQUAL(pair.sinks[0].messages.size(), 1u);
    pair.near.end(pair.epoll.get());
    BOOST_CHECK(pair.near.is(State::ended) && !pair.near.is_open());
  }
}

BOOST_AUTO_TEST_CASE(a_suspended_connection_keeps_what_the_other_side_may_lack) {
  for (const bool has_more : {false, true}) {
    Pair pair;
    pair.open(1);
    pair.leave();
    BOOST_CHECK(pair.far.is_suspended_by_other() && !pair.near.is_suspended_by_other());
    if (has_more) Pair::send(pair.near, 0, 10);
    if (has_more) pair.far.out.append({1, 0, 4, 0}, number_bytes(0), {});
    for (Connection* const one : {&pair.far, &pair.near}) {
      one->close(pair.epoll.get());
      BOOST_CHECK_EQUAL(one->suspend(one == &pair.near), !has_more);
      BOOST_CHECK(one->is(has_more ? State::connecting : State::suspended));
    }
    pair.near.reconnect();
    BOOST_CHECK(pair.near.is(State::connecting) && !pair.near.is_suspended_by_other());
  }
}

BOOST_AUTO_TEST_CASE(a_message_as_short_as_the_suspend_frame_that_waits_behind_it_is_not_taken_for_it) {
  Pair pair;
  pair.open(1);
  pair.leave();
  pair.near.out.append({1, 0, 0, 0}, {}, {});
  pair.near.close(pair.epoll.get());
  BOOST_CHECK(!pair.near.suspend(true) && pair.near.is(State::connecting));
}

// ---- speeds ----

// Sends `bytes` for `ns` each time. Returns the time behind them.
std::uint64_t take_samples(Speed& speed, unsigned samples, std::size_t bytes, std::uint64_t ns) {
  Outbox out;
  std::uint64_t now = 1'000'000;
  for (unsigned i = 0; i < samples; ++i) {
    out.append({1, 0, 0, 0}, {}, pattern(bytes - sizeof(FrameHeader), i));
    speed.begin(out, now);
    BOOST_CHECK(speed.is_under_way(out));
    out.gone(out.unsent());
    now += ns;
    out.acknowledge(out.sent());
    speed.measure(out, now);
    BOOST_CHECK(!speed.is_under_way(out));
    speed.end();
    now += 1'000'000'000;  // idle time does not count
  }
  return now;
}

BOOST_AUTO_TEST_CASE(a_speed_is_known_after_some_samples) {
  Speed fast;
  Speed slow;
  take_samples(fast, 2, Speed::kLeastSample, 100'000);
  BOOST_CHECK(!fast.is_known());
  take_samples(fast, 2, Speed::kLeastSample, 100'000);
  BOOST_REQUIRE(fast.is_known());
  BOOST_CHECK_CLOSE(fast.bytes_per_ns(), static_cast<double>(Speed::kLeastSample) / 100'000, 0.1);
  BOOST_CHECK(!slow.is_much_slower_than(fast));  // it is not known
  take_samples(slow, 3, Speed::kLeastSample, 450'000);
  BOOST_CHECK(slow.is_much_slower_than(fast) && !fast.is_much_slower_than(slow));
}

BOOST_AUTO_TEST_SUITE_END()
