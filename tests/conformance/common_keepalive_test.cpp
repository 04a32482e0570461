#include <poll.h>
#include <sys/eventfd.h>

#include <boost/test/unit_test.hpp>

#include "base/clock.hpp"
#include "transport/common/keepalive.hpp"

BOOST_AUTO_TEST_SUITE(common_keepalive)

using shmemx::UniqueFd;
using shmemx::transport::Keepalive;
using shmemx::transport::KeepaliveTimer;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint32_t kSilenceMs = 8000;  // rounds of a second

bool is_readable(int fd, int timeout_ms) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, timeout_ms) == 1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_round_is_an_eighth_of_the_silence) {
  Keepalive keepalive(kSilenceMs, 0);
  BOOST_CHECK(!keepalive.is_round_over(999 * kMs));
  BOOST_CHECK(keepalive.is_round_over(1000 * kMs));
  BOOST_CHECK(!keepalive.is_round_over(1001 * kMs));
  BOOST_CHECK_EQUAL(keepalive.round_end_ns(), 2000 * kMs);
}

BOOST_AUTO_TEST_CASE(time_without_polls_is_one_round) {
  Keepalive keepalive(kSilenceMs, 0);
  BOOST_CHECK(keepalive.is_round_over(100'000 * kMs));
  BOOST_CHECK(!keepalive.is_round_over(100'001 * kMs));
}

BOOST_AUTO_TEST_CASE(a_silent_peer_gets_one_keepalive_and_is_then_lost) {
  Keepalive::Peer peer;
  unsigned pings = 0;
  std::uint32_t rounds = 0;
  Keepalive::Action action = Keepalive::Action::none;
  while (action != Keepalive::Action::lose) {
    action = Keepalive::end_round(peer);
    pings += action == Keepalive::Action::ping ? 1 : 0;
    ++rounds;
  }
  BOOST_CHECK_EQUAL(pings, 1U);
  BOOST_CHECK_EQUAL(rounds, Keepalive::kRoundsUntilLost);
}

BOOST_AUTO_TEST_CASE(a_sign_of_life_restarts_the_time) {
  Keepalive::Peer peer;
  for (int i = 0; i < 100; ++i) {
    for (std::uint32_t round = 1; round < Keepalive::kRoundsUntilLost; ++round)
      BOOST_REQUIRE(Keepalive::end_round(peer) != Keepalive::Action::lose);
    peer.heard();
  }
}

BOOST_AUTO_TEST_CASE(the_timer_wakes_a_sleeper_until_it_is_cleared) {
  const UniqueFd network(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  auto timer = KeepaliveTimer::open(network.get());
  BOOST_REQUIRE(timer);
  BOOST_CHECK(!is_readable(timer->descriptor(), 0));
  timer->set(shmemx::now_ns());
  BOOST_CHECK(is_readable(timer->descriptor(), 60'000));
  timer->clear();
  BOOST_CHECK(!is_readable(timer->descriptor(), 0));
}

BOOST_AUTO_TEST_CASE(the_network_wakes_a_sleeper) {
  const UniqueFd network(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
  auto timer = KeepaliveTimer::open(network.get());
  BOOST_REQUIRE(timer);
  BOOST_CHECK(is_readable(timer->descriptor(), 0));
}

BOOST_AUTO_TEST_SUITE_END()
