// What replies to an attempt to connect mean, by the address that they come from. Time is made up.
#include "transport/tcp/dial.hpp"

#include <sys/epoll.h>

#include <boost/test/unit_test.hpp>

#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "transport/tcp/socket.hpp"

BOOST_AUTO_TEST_SUITE(tcp_dial)

using namespace shmemx::tcp;
using shmemx::now_ns;
using shmemx::UniqueFd;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1000 * kMs;

Address v4(std::uint8_t last) {
  Address address;
  address.prefix_bits = 8;
  address.bytes = {127, 0, 0, last};
  return address;
}

// Nobody listens at its port, so that the kernel refuses each attempt at any address of 127.0.0.0/8.
std::uint16_t closed_port() {
  std::uint16_t port = 0;
  const auto listener = open_listener(port);
  BOOST_REQUIRE(listener);
  return port;
}

struct Attempts {
  // The former connection led from 127.0.0.1 to 127.0.0.5.
  static Dial::Resumed resumed() {
    return {.connections = 1, .deadline = now_ns() + 30 * kSecond, .path = {v4(1), v4(5), "lo"}, .has_ended = true};
  }
  explicit Attempts(const std::vector<Candidate>& candidates) {
    share.own.look(now_ns());
    dial.set_candidates({1, closed_port(), {}}, candidates);
  }
  // Returns the state after that time, or earlier if it is not `trying`.
  Dial::State after(std::uint64_t ns) {
    Dial::State state = Dial::State::trying;
    for (const std::uint64_t end = now + ns; now < end && state == Dial::State::trying; now += 50 * kMs)
      state = dial.step(now);
    return state;
  }

  shmemx::transport::Setup setup{.me = 0, .n_pes = 2};
  UniqueFd epoll{::epoll_create1(EPOLL_CLOEXEC)};
  Dial::Share share{&setup, epoll.get()};
  Dial dial{1, share};
  std::uint64_t now = now_ns();
};

Candidate at(std::uint8_t last, bool is_own = false) { return {v4(last), 0, "lo", is_own}; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_refusal_on_the_path_of_the_former_connection_is_the_end_of_the_pe) {
  Attempts attempts({at(5), at(6)});
  attempts.dial.resume(Attempts::resumed());
  BOOST_CHECK(attempts.after(kSecond) == Dial::State::failed);
  BOOST_CHECK(attempts.dial.was_refused());
}

BOOST_AUTO_TEST_CASE(a_refusal_at_another_address_says_nothing_until_the_time_out) {
  Attempts attempts({at(6), at(7)});
  attempts.dial.resume(Attempts::resumed());
  BOOST_CHECK(attempts.after(29 * kSecond) == Dial::State::trying);
  BOOST_CHECK(!attempts.dial.was_refused());
  BOOST_CHECK(attempts.after(2 * kSecond) == Dial::State::failed);
}

// The same address may lead to another machine over another interface.
BOOST_AUTO_TEST_CASE(a_refusal_over_another_interface_says_nothing) {
  Attempts attempts({at(5)});
  Dial::Resumed resumed = Attempts::resumed();
  resumed.path = {v4(9), v4(5), "eth9"};
  attempts.dial.resume(resumed);
  BOOST_CHECK(attempts.after(20 * kSecond) == Dial::State::trying);
}

// What the PE has sent last may still be under way, until its kernel ends the connection.
BOOST_AUTO_TEST_CASE(a_refusal_counts_when_the_former_connection_has_ended) {
  Attempts attempts({at(5)});
  Dial::Resumed resumed = Attempts::resumed();
  resumed.has_ended = false;
  attempts.dial.resume(resumed);
  BOOST_CHECK(attempts.after(20 * kSecond) == Dial::State::trying);
  attempts.dial.note_end();
  BOOST_CHECK(attempts.after(kSecond) == Dial::State::failed);
}

BOOST_AUTO_TEST_CASE(a_second_rail_is_tried_for_as_long_as_the_first_one_lives) {
  Attempts attempts({at(5)});
  Dial::Resumed resumed = Attempts::resumed();
  resumed.has_other = true;
  attempts.dial.resume(resumed);
  BOOST_CHECK(attempts.after(60 * kSecond) == Dial::State::trying);
}

// At the first contact nothing is known of the PE's machine. It is not this one.
BOOST_AUTO_TEST_CASE(at_the_first_contact_this_machine_itself_does_not_count) {
  Attempts own({at(5, true)});
  BOOST_CHECK(own.after(20 * kSecond) == Dial::State::trying);
  BOOST_CHECK(own.after(20 * kSecond) == Dial::State::failed);
  Attempts other({at(5)});
  BOOST_CHECK(other.after(20 * kSecond) == Dial::State::failed);
}

BOOST_AUTO_TEST_SUITE_END()
