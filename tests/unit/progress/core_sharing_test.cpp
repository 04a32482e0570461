
#include <boost/test/unit_test.hpp>

#include "progress/core_sharing.hpp"

namespace {

using namespace shmemx;
using namespace shmemx::progress;

constexpr std::uint64_t kSlice = 3'000'000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStart = 1'000'000'000'000;

constexpr unsigned kCpu = 3;

struct OneCore {
  // Returns for how many milliseconds after `now` the core counts as busy.
  std::uint64_t busy_ms(std::uint64_t now) const {
    std::uint64_t ms = 0;
    while (cores.is_busy(now + ms * kMs, kCpu)) ++ms;
    return ms;
  }
  void note_switch(std::uint64_t away, std::uint64_t now) { cores.note_switch(away, now, kCpu); }

  CoreSharing cores;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(progress_core_sharing, OneCore)

BOOST_AUTO_TEST_CASE(a_short_yield_has_no_effect) {
  note_switch(400, kStart);
  BOOST_CHECK(!cores.is_shared(kStart));
  BOOST_CHECK(!cores.is_busy(kStart, kCpu));
}

BOOST_AUTO_TEST_CASE(a_yield_to_a_waiting_pe_means_a_shared_core_for_a_while) {
  note_switch(20'000, kStart);
  BOOST_CHECK(cores.is_shared(kStart));
  BOOST_CHECK(!cores.is_busy(kStart, kCpu));
  BOOST_CHECK(!cores.is_shared(kStart + 20 * kMs));
}

BOOST_AUTO_TEST_CASE(a_core_goes_round_if_switches_follow_each_other_quickly) {
  constexpr std::uint64_t kUs = 1000;
  note_switch(20 * kUs, kStart);
  BOOST_CHECK(!cores.goes_round(kStart));
  note_switch(20 * kUs, kStart + 400 * kUs);  // such as a progress thread that looks
  note_switch(20 * kUs, kStart + 800 * kUs);
  BOOST_CHECK(!cores.goes_round(kStart + 800 * kUs));
  note_switch(20 * kUs, kStart + 850 * kUs);
  BOOST_CHECK(cores.goes_round(kStart + 850 * kUs));
  BOOST_CHECK(!cores.goes_round(kStart + 20 * kMs));
}

// Waits that sleep give up no core, so nothing shows any more that others need it.
BOOST_AUTO_TEST_CASE(a_core_on_which_yields_were_in_vain_goes_round_twice_as_long_each_time) {
  std::uint64_t now = kStart;
  for (const std::uint64_t ms : {10U, 20U, 40U, 80U, 160U, 320U, 500U, 500U}) {
    cores.note_vain_yields(now);
    cores.note_vain_yields(now + (ms - 1) * kMs);
    BOOST_CHECK(cores.goes_round(now + (ms - 1) * kMs));
    BOOST_CHECK(!cores.goes_round(now + ms * kMs));
    now += (ms + 1) * kMs;
  }
  now += 2000 * kMs;
  cores.note_vain_yields(now);
  BOOST_CHECK(!cores.goes_round(now + 10 * kMs));
}

BOOST_AUTO_TEST_CASE(where_yields_are_in_vain_all_the_time_one_is_enough) {
  for (int i = 0; i < 7; ++i) cores.note_vain_yields(kStart);
  BOOST_CHECK_EQUAL(cores.idle_yields_in_vain(), 4);
  cores.note_vain_yields(kStart);
  BOOST_CHECK_EQUAL(cores.idle_yields_in_vain(), 1);
  note_switch(20'000, kStart);  // one of them has let somebody run
  BOOST_CHECK_EQUAL(cores.idle_yields_in_vain(), 4);
  cores.note_vain_yields(kStart);
  cores.note_vain_yields(kStart);
  BOOST_CHECK_EQUAL(cores.idle_yields_in_vain(), 1);
}

// The scheduler moves threads.
BOOST_AUTO_TEST_CASE(a_program_occupies_one_core) {
  note_switch(kSlice, kStart);
  BOOST_CHECK(cores.is_busy(kStart, kCpu));
  BOOST_CHECK(!cores.is_busy(kStart, kCpu + 1));
}

BOOST_AUTO_TEST_CASE(a_gap_between_two_looks_is_a_preemption) {
  std::uint64_t last = kStart;
  BOOST_CHECK(!cores.note_preemption(last, kStart + 400'000, kCpu));
  BOOST_CHECK(!cores.is_shared(kStart + 400'000));
  BOOST_CHECK(cores.note_preemption(last, kStart + kSlice, kCpu));
  BOOST_CHECK_EQUAL(last, kStart + kSlice);
  BOOST_CHECK(cores.is_shared(kStart + kSlice));
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
  cores.set_turn_ns(2 * kSlice);
  note_switch(kSlice, kStart);
  BOOST_CHECK(cores.is_shared(kStart));
  BOOST_CHECK(!cores.is_busy(kStart, kCpu));
}

BOOST_AUTO_TEST_SUITE_END()
