#include "launcher/deadlines.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(launcher_deadlines)

using shmemx::launcher::Deadlines;

BOOST_AUTO_TEST_CASE(without_a_deadline_only_events_end_the_wait) {
  const Deadlines none;
  BOOST_CHECK_EQUAL(none.wait_ms(1000, -1), -1);
  BOOST_CHECK(!Deadlines::is_due(none.kill_ms, 1000));
}

BOOST_AUTO_TEST_CASE(the_next_deadline_bounds_the_wait) {
  Deadlines deadlines;
  deadlines.limit_ms = 5000;
  deadlines.check_ms = 1500;
  BOOST_CHECK_EQUAL(deadlines.wait_ms(1000, -1), 500);
  BOOST_CHECK_EQUAL(deadlines.wait_ms(1000, 1200), 200);
  deadlines.kill_ms = 900;
  BOOST_CHECK_EQUAL(deadlines.wait_ms(1000, 1200), 0);
  BOOST_CHECK(Deadlines::is_due(deadlines.kill_ms, 1000));
  BOOST_CHECK(!Deadlines::is_due(deadlines.check_ms, 1000));
}

BOOST_AUTO_TEST_CASE(a_wait_is_at_most_a_minute) {
  Deadlines deadlines;
  deadlines.limit_ms = 10'000'000;
  BOOST_CHECK_EQUAL(deadlines.wait_ms(0, -1), 60'000);
}

BOOST_AUTO_TEST_SUITE_END()
