#include "am/bursts.hpp"

#include <boost/test/unit_test.hpp>

#include "am/network_thread.hpp"

BOOST_AUTO_TEST_SUITE(am_bursts)

namespace {

using namespace shmemx::am;

constexpr std::uint64_t kHour = 3'600'000'000'000;

struct Fixture {
  explicit Fixture(std::uint64_t longest_ns = kHour) {
    bursts.open(3, longest_ns);
    network_thread.runs.store(true);
  }
  ~Fixture() { network_thread.runs.store(false); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  Bursts bursts;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_message_to_each_pe_does_not_wait) {
  Fixture f;
  BOOST_CHECK(!f.bursts.follows(1) && !f.bursts.follows(2));
  BOOST_CHECK(f.bursts.follows(1) && f.bursts.follows(1) && f.bursts.follows(2));
}

BOOST_AUTO_TEST_CASE(an_end_ends_the_bursts_to_all_pes) {
  Fixture f;
  for (const int pe : {1, 1, 2, 2}) f.bursts.follows(pe);
  f.bursts.end();
  BOOST_CHECK(!f.bursts.follows(1) && !f.bursts.follows(2));
}

BOOST_AUTO_TEST_CASE(the_sender_begins_to_gather_once_in_a_burst) {
  Fixture f;
  const std::uint32_t begun = gathered_batches();
  for (int i = 0; i < 5; ++i) f.bursts.follows(1);
  BOOST_CHECK_EQUAL(gathered_batches(), begun + 1);
}

BOOST_AUTO_TEST_CASE(messages_that_are_far_apart_are_no_burst) {
  Fixture f(0);
  for (int i = 0; i < 3; ++i) BOOST_CHECK(!f.bursts.follows(1));
}

BOOST_AUTO_TEST_CASE(nothing_waits_without_the_progress_thread) {
  Fixture f;
  network_thread.runs.store(false);
  for (int i = 0; i < 3; ++i) BOOST_CHECK(!f.bursts.follows(1));
}

BOOST_AUTO_TEST_SUITE_END()
