// Waking a thread of another PE that sleeps on the networks.
#include "progress/wake_socket.hpp"

#include <poll.h>

#include <boost/test/unit_test.hpp>

#include "base/doorbell.hpp"
#include "progress/threads.hpp"

BOOST_AUTO_TEST_SUITE(progress_wake_socket)

namespace {

using namespace shmemx;

bool is_readable(const progress::WakeSocket& socket) {
  pollfd descriptor{socket.descriptor(), POLLIN, 0};
  return ::poll(&descriptor, 1, 0) == 1;
}

struct Hooks {
  Hooks() : before(doorbell_hooks) { doorbell_hooks.wake_network_sleeper = progress::wake_network_sleeper; }
  ~Hooks() { doorbell_hooks = before; }
  DoorbellHooks before;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_wake_up_stays_until_it_is_read) {
  progress::WakeSocket socket;
  BOOST_REQUIRE(socket.open());
  BOOST_CHECK(!is_readable(socket));
  for (int i = 0; i < 2000; ++i) BOOST_REQUIRE(progress::send_wake_up(socket.name()));  // more than its queue holds
  BOOST_CHECK(is_readable(socket));
  socket.drain();
  BOOST_CHECK(!is_readable(socket));
}

BOOST_AUTO_TEST_CASE(who_wakes_a_pe_writes_to_its_socket_while_it_shows_one) {
  const Hooks hooks;
  progress::WakeSocket socket;
  BOOST_REQUIRE(socket.open());
  Doorbell doorbell{};
  doorbell.sleepers = 1;
  wake(doorbell);
  BOOST_CHECK(!is_readable(socket));
  doorbell.sleepers = 1;
  doorbell.wake_socket = socket.name();
  wake(doorbell);
  BOOST_CHECK(is_readable(socket));
  BOOST_CHECK_EQUAL(doorbell.unreachable.load(), 0U);
}

BOOST_AUTO_TEST_CASE(a_socket_that_cannot_be_reached_is_noted) {
  const Hooks hooks;
  std::uint64_t name = 0;
  {
    progress::WakeSocket socket;
    BOOST_REQUIRE(socket.open());
    name = socket.name();
  }
  Doorbell doorbell{};
  doorbell.sleepers = 1;
  doorbell.wake_socket = name;
  wake(doorbell);
  BOOST_CHECK_EQUAL(doorbell.unreachable.load(), 1U);
}

BOOST_AUTO_TEST_SUITE_END()
