#include "base/timer_slack.hpp"

#include <sys/prctl.h>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(base_timer_slack)

namespace {

int slack_ns() { return ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_thread_has_its_slack_back_when_the_object_is_destroyed) {
  for (const unsigned long before_ns : {50'000UL, 1'000'000UL}) {
    BOOST_REQUIRE_EQUAL(::prctl(PR_SET_TIMERSLACK, before_ns, 0, 0, 0), 0);
    const int before = slack_ns();  // 0 in a thread of the real-time class
    {
      shmemx::TimerSlack slack;
      BOOST_CHECK_EQUAL(slack_ns(), before);
      slack.tighten();
      BOOST_CHECK_LE(slack_ns(), 1000);
    }
    BOOST_CHECK_EQUAL(slack_ns(), before);
  }
  ::prctl(PR_SET_TIMERSLACK, 0UL, 0, 0, 0);  // the default
}

BOOST_AUTO_TEST_CASE(a_smaller_slack_of_the_program_stays) {
  BOOST_REQUIRE_EQUAL(::prctl(PR_SET_TIMERSLACK, 10UL, 0, 0, 0), 0);
  const int before = slack_ns();
  {
    shmemx::TimerSlack slack;
    slack.tighten();
    BOOST_CHECK_EQUAL(slack_ns(), before);
  }
  BOOST_CHECK_EQUAL(slack_ns(), before);
  ::prctl(PR_SET_TIMERSLACK, 0UL, 0, 0, 0);  // the default
}

BOOST_AUTO_TEST_SUITE_END()
