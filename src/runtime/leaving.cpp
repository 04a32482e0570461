#include "runtime/leaving.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/fatal.hpp"
#include "context/route.hpp"
#include "runtime/job.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::JobState;
using bootstrap::PePhase;

struct Watch {
  bootstrap::JobHeader* header = nullptr;
  bootstrap::PeRecord* record = nullptr;
  bootstrap::Bootstrap* launcher = nullptr;
  pid_t pid = 0;  // a forked child is not this PE
};
constinit Watch watch;

bool claim(JobState state, int status) {
  auto expected = static_cast<std::uint32_t>(JobState::running);
  // The status first: whoever sees the state must find it. A loser's status is overwritten by nobody, as only the first one counts.
  std::int32_t unset = 0;
  watch.header->exit_status.compare_exchange_strong(unset, status, std::memory_order_acq_rel);
  if (!watch.header->job_state.compare_exchange_strong(expected, static_cast<std::uint32_t>(state), std::memory_order_acq_rel)) return false;
  watch.header->exit_status.store(status, std::memory_order_release);
  watch.header->ending_pe.store(diagnostic_identity().pe, std::memory_order_release);
  return true;
}

bool claim_job_end(int status) { return ::getpid() != watch.pid || claim(JobState::aborted, status); }

void end_job(int status) {
  if (::getpid() == watch.pid) watch.launcher->abort(status);
}

// Routines that all PEs take part in: they never complete once a PE has left.
bool needs_every_pe(std::string_view routine) {
  constexpr std::array<std::string_view, 13> collective = {
      "shmem_barrier_all", "shmem_sync_all", "shmem_finalize", "shmem_init",  "shmem_init_thread", "start_pes", "exit after start_pes",
      "shmem_malloc",      "shmem_calloc",   "shmem_align",    "shmem_free", "shmem_realloc",     "shmem_malloc_with_hints"};
  for (const std::string_view name : collective) {
    if (routine == name) return true;
  }
  return false;
}

int find_departed(const bootstrap::JobHeader& header) {
  for (std::size_t pe = 0; pe < header.n_pes; ++pe) {
    const auto phase = bootstrap::record_of(watch.header, pe)->phase.load(std::memory_order_acquire);
    if (phase == static_cast<std::uint32_t>(PePhase::departed)) return static_cast<int>(pe);
  }
  return -1;
}

void at_exit(int status, void*) {
  if (::getpid() != watch.pid) return;
  const auto state = static_cast<JobState>(watch.header->job_state.load(std::memory_order_acquire));
  if (state != JobState::running) {
    std::fflush(nullptr);
    watch.launcher->abort(watch.header->exit_status.load(std::memory_order_acquire));
    return;
  }
  if (status != 0 && is_initialized()) {
    std::fflush(nullptr);
    watch.launcher->abort(status);
    return;
  }
  finalize_at_exit();
  watch.launcher->finalize();
}

void after_fork_in_child() {
  // The child may run on, but it is not a PE: everything it calls of the library ends it with a line that says so.
  context::make_unusable(context::default_context());
  context::set_unusable_reason("called in a forked child, which is not a PE");
}

}  // namespace

void watch_for_the_end(windows::Arena& arena, bootstrap::Bootstrap& launcher) noexcept {
  const bootstrap::Identity identity = launcher.identity();
  watch = Watch{&arena.header(), &arena.record(identity.pe), &launcher, ::getpid()};
  DiagnosticIdentity& who = diagnostic_identity();
  who.pe = identity.pe;
  who.n_pes = identity.n_pes;
  who.claim_job_end = claim_job_end;
  who.end_job = end_job;
  ::on_exit(at_exit, nullptr);
  ::pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

void note_waiting(const char* routine) noexcept {
  if (watch.record == nullptr || routine == nullptr) return;
  std::snprintf(watch.record->routine, sizeof watch.record->routine, "%s", routine);
  if (watch.header->departed.load(std::memory_order_acquire) == 0 || !needs_every_pe(routine)) return;
  fatal(routine, "PE %d has left the job without shmem_finalize, so this can never complete", find_departed(*watch.header));
}

void forget_waiting() noexcept {
  if (watch.record != nullptr) watch.record->routine[0] = '\0';
}

void global_exit(int status) noexcept {
  context::require_initialized("shmem_global_exit");
  claim(JobState::global_exit, status);
  std::exit(status);
}

}  // namespace shmemx::runtime
