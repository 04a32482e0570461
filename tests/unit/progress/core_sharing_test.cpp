
#include <boost/test/unit_test.hpp>

#include "progress/policy.hpp"
#include "support/core.hpp"

namespace {

using namespace shmemx;
using namespace shmemx::progress;

constexpr std::uint64_t kSlice = 3'000'000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStart = 1'000'000'000'000;

// Returns for how many milliseconds after `now` the core counts as busy.
std::uint64_t busy_ms(std::uint64_t now) {
  std::uint64_t ms = 0;
  while (core_is_busy(now + ms * kMs)) ++ms;
  return ms;
}

struct Forgetful {
  Forgetful() { forget_core_sharing(); }
  ~Forgetful() {
    set_turn_ns(kDefaultTurnNs);
    forget_core_sharing();
  }
  unit::OnOneCore core;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(progress_core_sharing, Forgetful)

BOOST_AUTO_TEST_CASE(a_short_yield_has_no_effect) {
  note_switch(400, kStart);
  BOOST_CHECK(!core_is_shared(kStart));
  BOOST_CHECK(!core_is_busy(kStart));
}

BOOST_AUTO_TEST_CASE(a_yield_to_a_waiting_pe_means_a_shared_core_for_a_while) {
  note_switch(20'000, kStart);
  BOOST_CHECK(core_is_shared(kStart));
  BOOST_CHECK(!core_is_busy(kStart));
  BOOST_CHECK(!core_is_shared(kStart + 20 * kMs));
}

BOOST_AUTO_TEST_CASE(a_core_goes_round_if_switches_follow_each_other_quickly) {
  constexpr std::uint64_t kUs = 1000;
  note_switch(20 * kUs, kStart);
  BOOST_CHECK(!core_goes_round(kStart));
  note_switch(20 * kUs, kStart + 400 * kUs);  // such as a progress thread that looks
  note_switch(20 * kUs, kStart + 800 * kUs);
  BOOST_CHECK(!core_goes_round(kStart + 800 * kUs));
  note_switch(20 * kUs, kStart + 850 * kUs);
  BOOST_CHECK(core_goes_round(kStart + 850 * kUs));
  BOOST_CHECK(!core_goes_round(kStart + 20 * kMs));
}

BOOST_AUTO_TEST_CASE(yields_are_in_vain_if_several_let_nobody_run_on_a_core_that_goes_round) {
  constexpr std::uint64_t kUs = 1000;
  const auto after_idle_yields = [](int count, std::uint64_t now) {
    bool any = false;
    for (int i = 0; i < count; ++i) any |= yields_in_vain(400, now);
    return any;
  };
  BOOST_CHECK(!after_idle_yields(100, kStart));  // nobody else is here
  note_switch(20 * kUs, kStart);
  note_switch(20 * kUs, kStart + 50 * kUs);
  BOOST_CHECK(!yields_in_vain(20 * kUs, kStart + 50 * kUs));
  BOOST_CHECK(!after_idle_yields(3, kStart + 60 * kUs));
  BOOST_CHECK(!yields_in_vain(20 * kUs, kStart + 60 * kUs));  // somebody has run
  BOOST_CHECK(!after_idle_yields(3, kStart + 70 * kUs));
  BOOST_CHECK(after_idle_yields(1, kStart + 70 * kUs));
  BOOST_CHECK(!after_idle_yields(3, kStart + 80 * kUs));  // counted anew
  BOOST_CHECK(!after_idle_yields(100, kStart + 20 * kMs));
}

BOOST_AUTO_TEST_CASE(a_core_is_wanted_while_it_is_shared_and_where_pes_outnumber_cores) {
  BOOST_CHECK(!core_is_wanted(kStart));
  note_switch(20'000, kStart);
  BOOST_CHECK(core_is_wanted(kStart));
  BOOST_CHECK(!core_is_wanted(kStart + 20 * kMs));
  const bool before = policy().crowded;
  policy().crowded = true;
  BOOST_CHECK(core_is_wanted(kStart + 20 * kMs));
  policy().crowded = before;
}

BOOST_AUTO_TEST_CASE(a_time_slice_means_a_busy_core_twice_as_long_each_time) {
  std::uint64_t now = kStart;
  for (const std::uint64_t ms : {10U, 20U, 40U, 80U, 160U, 320U, 640U, 1000U, 1000U}) {
    note_switch(kSlice, now);
    BOOST_CHECK_EQUAL(busy_ms(now), ms);
    now += (ms + 1) * kMs;
  }
}

BOOST_AUTO_TEST_CASE(slices_within_that_time_only_extend_it) {
  note_switch(kSlice, kStart);
  note_switch(kSlice, kStart + 5 * kMs);
  BOOST_CHECK_EQUAL(busy_ms(kStart + 5 * kMs), 10U);
}

BOOST_AUTO_TEST_CASE(a_short_yield_after_that_time_resets_it) {
  note_switch(kSlice, kStart);
  note_switch(kSlice, kStart + 11 * kMs);
  BOOST_CHECK_EQUAL(busy_ms(kStart + 11 * kMs), 20U);
  note_switch(400, kStart + 40 * kMs);
  note_switch(kSlice, kStart + 41 * kMs);
  BOOST_CHECK_EQUAL(busy_ms(kStart + 41 * kMs), 10U);
}

BOOST_AUTO_TEST_CASE(the_turns_of_many_pes_on_a_core_are_no_time_slices) {
  set_turn_ns(2 * kSlice);
  note_switch(kSlice, kStart);
  BOOST_CHECK(core_is_shared(kStart));
  BOOST_CHECK(!core_is_busy(kStart));
}

BOOST_AUTO_TEST_SUITE_END()
