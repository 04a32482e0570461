#include "base/clock.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

BOOST_AUTO_TEST_SUITE(base_clock)

BOOST_AUTO_TEST_CASE(time_never_goes_back) {
  std::uint64_t before = shmemx::now_ns();
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t now = shmemx::now_ns();
    BOOST_REQUIRE_GE(now, before);
    before = now;
  }
}

BOOST_AUTO_TEST_CASE(time_is_the_steady_clock_in_nanoseconds) {
  const auto steady = std::chrono::steady_clock::now();
  const std::uint64_t begin = shmemx::now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::uint64_t end = shmemx::now_ns();
  const auto around =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - steady).count();
  BOOST_CHECK_GE(end - begin, 20'000'000U);
  BOOST_CHECK_LE(end - begin, static_cast<std::uint64_t>(around));
}

BOOST_AUTO_TEST_SUITE_END()
