#include "bootstrap/status.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <memory>

#include "base/clock.hpp"

BOOST_AUTO_TEST_SUITE(bootstrap_status)

namespace {

using namespace shmemx;
using namespace shmemx::bootstrap;

constexpr std::uint64_t kSecondNs = 1'000'000'000;

// This process as a PE that has called shmem_long_g in vain for a minute, and that waits in shmem_quiet.
struct LoopingPe {
  std::unique_ptr<JobHeader> header{new JobHeader{}};
  std::unique_ptr<PeRecord> record{new PeRecord{}};
  std::unique_ptr<PollingLoop> loop{new PollingLoop{}};

  explicit LoopingPe(std::uint64_t waited_ns) {
    const std::uint64_t now = now_ns();
    record->pid = ::getpid();
    record->phase = static_cast<std::uint32_t>(PePhase::running);
    record->waiting_since_ns = now - waited_ns;
    set_routine(*record, "shmem_quiet");
    set_words(loop->routine, "shmem_long_g");
    loop->since_ns = now - 60 * kSecondNs;
    loop->last_ns = now;
  }
  PeActivity activity() const { return activity_of(header.get(), *record, 0, loop.get()); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_call_of_a_loop_that_waits_for_a_moment_is_the_loop) {
  const PeActivity activity = LoopingPe(kSecondNs / 1000).activity();
  BOOST_CHECK_EQUAL(activity.doing, kPolling);
  BOOST_CHECK_EQUAL(activity.routine, "shmem_long_g");
  BOOST_CHECK_GE(activity.waited_ns, 60 * kSecondNs);
}

BOOST_AUTO_TEST_CASE(a_wait_that_takes_long_is_no_loop) {
  const PeActivity activity = LoopingPe(2 * kSecondNs).activity();
  BOOST_CHECK_EQUAL(activity.doing, "");
  BOOST_CHECK_EQUAL(activity.routine, "shmem_quiet");
}

BOOST_AUTO_TEST_CASE(a_loop_that_has_ended_hides_no_wait) {
  LoopingPe pe(kSecondNs / 1000);
  pe.loop->last_ns = now_ns() - 10 * kSecondNs;
  BOOST_CHECK_EQUAL(pe.activity().routine, "shmem_quiet");
}

BOOST_AUTO_TEST_SUITE_END()
