#include "bootstrap/status.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(launcher_status)

using shmemx::bootstrap::describe;
using shmemx::bootstrap::PeActivity;

using Lines = std::vector<std::string>;

constexpr std::uint64_t kSecond = 1'000'000'000;

BOOST_AUTO_TEST_CASE(pes_that_do_the_same_share_a_line) {
  std::vector<PeActivity> all;
  for (int pe = 0; pe < 1000; ++pe)
    all.push_back({pe, 100 + pe, "shmem_barrier_all", {}, (pe == 0 ? 2 : 11) * kSecond});
  all[1] = {1, 101, {}, "computing"};
  const Lines expected{"pe 0, 2..999: waiting in shmem_barrier_all for 2.0 to 11 s", "pe 1 (pid 101): computing",
                       "pe 1 is the only one that is not in shmem_barrier_all"};
  const Lines lines = describe(all);
  BOOST_CHECK_EQUAL_COLLECTIONS(lines.begin(), lines.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(two_pes_keep_nobody_waiting_alone) {
  const Lines lines = describe({{0, 10, "shmem_quiet", {}, 0}, {1, 0, {}, "has not called shmem_init"}});
  const Lines expected{"pe 1: has not called shmem_init", "pe 0 (pid 10): waiting in shmem_quiet"};
  BOOST_CHECK_EQUAL_COLLECTIONS(lines.begin(), lines.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(a_record_tells_what_its_pe_does) {
  using namespace shmemx::bootstrap;
  JobHeader header{};
  PeRecord record{};
  BOOST_CHECK_EQUAL(activity_of(&header, record, 0).doing, "has not called shmem_init");
  record.pid = ::getpid();
  record.phase = static_cast<std::uint32_t>(PePhase::running);
  BOOST_CHECK_EQUAL(activity_of(&header, record, 0).doing, "computing");
  set_routine(record, "shmem_quiet");
  record.waiting_since_ns = 1;
  const PeActivity waiting = activity_of(&header, record, 3);
  BOOST_CHECK_EQUAL(waiting.routine, "shmem_quiet");
  BOOST_CHECK_GT(waiting.waited_ns, 0U);
  BOOST_CHECK_EQUAL(waiting.pe, 3);
  set_routine(record, "\033[2J");  // no text
  BOOST_CHECK_EQUAL(activity_of(&header, record, 0).doing, "computing");
  record.phase = static_cast<std::uint32_t>(PePhase::finalized);
  BOOST_CHECK_EQUAL(activity_of(&header, record, 0).doing, "after shmem_finalize, computing");
}

BOOST_AUTO_TEST_SUITE_END()
