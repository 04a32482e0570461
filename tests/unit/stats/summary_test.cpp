#include "stats/summary.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

BOOST_AUTO_TEST_SUITE(stats_summary)

namespace {

using namespace shmemx::stats;

// A job of `n_pes` in which PE `pe` has called one routine, and put to the next PE.
std::unique_ptr<Summary> summary_of(int pe, std::uint32_t n_pes, const char* routine, std::uint64_t ns) {
  auto made = std::make_unique<Summary>();
  made->n_pes = n_pes;
  made->pes_per_group = static_cast<std::uint32_t>((n_pes + kGroups - 1) / kGroups);
  made->pes = 1;
  made->waiting.run_ns = made->waiting.longest_run_ns = 1'000'000'000;
  made->waiting.blocked_ns = ns;
  made->waiting.most = made->waiting.least[0] = {pe, ns};
  made->transfers[0][1] = {1, 8};
  const auto row = static_cast<std::uint32_t>(pe) / made->pes_per_group;
  const auto column = (static_cast<std::uint32_t>(pe) + 1) % n_pes / made->pes_per_group;
  made->matrix[row][column] = {1, 8};
  RoutineSummary& entry = made->routines[made->n_routines++];
  std::snprintf(entry.name, sizeof entry.name, "%s", routine);
  entry.calls = 1;
  entry.ns = ns;
  entry.least = entry.most = {pe, ns};
  return made;
}

std::unique_ptr<Summary> merged(int n_pes) {
  auto all = summary_of(0, static_cast<std::uint32_t>(n_pes), "shmem_barrier_all", 100'000'000);
  for (int pe = 1; pe < n_pes; ++pe) {
    const auto ns = static_cast<std::uint64_t>(100 - pe % 7) * 1'000'000;
    merge(*all, *summary_of(pe, static_cast<std::uint32_t>(n_pes), "shmem_barrier_all", ns));
  }
  return all;
}

bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(merging_adds_and_keeps_the_extremes) {
  const auto all = merged(8);
  BOOST_CHECK_EQUAL(all->pes, 8U);
  BOOST_CHECK_EQUAL(all->transfers[0][1].operations, 8U);
  BOOST_CHECK_EQUAL(all->transfers[0][1].bytes, 64U);
  BOOST_CHECK_EQUAL(all->n_routines, 1U);
  BOOST_CHECK_EQUAL(all->routines[0].calls, 8U);
  BOOST_CHECK_EQUAL(all->routines[0].least.pe, 6);
  BOOST_CHECK_EQUAL(all->routines[0].most.pe, 0);
  BOOST_CHECK_EQUAL(all->waiting.most.pe, 0);
  BOOST_CHECK_EQUAL(all->waiting.least[0].pe, 6);
  BOOST_CHECK_EQUAL(all->waiting.least[1].pe, 5);
  BOOST_CHECK_EQUAL(all->waiting.least[2].pe, 4);
}

BOOST_AUTO_TEST_CASE(pes_of_a_large_job_share_rows) {
  const auto all = merged(40);  // 3 a row
  BOOST_CHECK_EQUAL(all->matrix[0][0].operations, 2U);
  BOOST_CHECK_EQUAL(all->matrix[0][1].operations, 1U);
  const std::string text = text_of(*all, 2);
  BOOST_CHECK(holds(text, "what 40 PEs on 2 nodes did in 1.000000 s (SHMEM_STATS)\n"));
  BOOST_CHECK(holds(text, "\n  0-2 "));
  BOOST_CHECK(holds(text, "\n  39 "));
}

BOOST_AUTO_TEST_CASE(routines_beyond_the_table_are_one_entry) {
  auto all = summary_of(0, 2, "first", 1);
  for (std::uint32_t i = 0; i < 2 * kSummaryRoutines; ++i)
    merge(*all, *summary_of(1, 2, ("routine" + std::to_string(i)).c_str(), 10));
  BOOST_CHECK_EQUAL(all->n_routines, kSummaryRoutines);
  BOOST_CHECK_EQUAL(all->routines[kSummaryRoutines - 1].name, "other routines");
  BOOST_CHECK_EQUAL(all->routines[kSummaryRoutines - 1].calls, 2 * kSummaryRoutines - (kSummaryRoutines - 2));
}

BOOST_AUTO_TEST_CASE(tasks_are_added_up) {
  auto all = summary_of(0, 2, "first", 1);
  all->tasks = {3, 3000, {0, 3000}, {0, 3000}};
  auto other = summary_of(1, 2, "first", 1);
  other->tasks = {1, 7000, {1, 7000}, {1, 7000}};
  merge(*all, *other);
  BOOST_CHECK(
      holds(text_of(*all, 1), "\ntasks: 4 run in 0.000010 s; least PE 0 0.000003 s, most PE 1 0.000007 s\nwaiting: "));
}

BOOST_AUTO_TEST_CASE(a_job_that_does_nothing_says_so) {
  Summary none;
  none.n_pes = 1;
  none.pes = 1;
  const std::string text = text_of(none, 1);
  BOOST_CHECK(holds(text, "no operations on the memory of PEs\nno calls that wait\n"));
}

BOOST_AUTO_TEST_SUITE_END()
