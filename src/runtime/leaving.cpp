#include "runtime/leaving.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "am/endpoint.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "base/mutex.hpp"
#include "base/own_stack.hpp"
#include "base/streams.hpp"
#include "context/route.hpp"
#include "progress/policy.hpp"
#include "progress/threads.hpp"
#include "runtime/contexts.hpp"
#include "runtime/job.hpp"
#include "runtime/waiting.hpp"
#include "transport/registry.hpp"
#include "windows/fork_guard.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::JobState;
using bootstrap::PePhase;

// Time for others to report first: launchers that see a death directly, or the PE that has ended the job.
constexpr int kLooksForEnd = 100;
constexpr int kLooksForLauncher = 500;  // after a PE has announced that it ends the job
constexpr std::uint64_t kLookForEndNs = 10'000'000;

struct Watch {
  const windows::Arena* arena = nullptr;
  bootstrap::JobHeader* header = nullptr;
  bootstrap::PeRecord* record = nullptr;
  bootstrap::Bootstrap* launcher = nullptr;
  pid_t pid = 0;  // tells a forked child, which is not a PE, from this PE
};
constinit Watch watch;
constinit const Nodes* nodes_of_job = nullptr;
constinit int exit_status = 0;

bool claim(JobState state, int status) {
  std::uint64_t running = 0;
  const bootstrap::JobEnd end{state, status, diagnostic_identity().pe};
  return watch.header->end_word.compare_exchange_strong(running, end.word(), std::memory_order_acq_rel);
}

bool has_ended() { return watch.header->end_word.load(std::memory_order_acquire) != 0; }

bool claim_report() {
  constexpr int kPauses = 1000;  // longer than the reporter takes to look up where the calls were made
  constexpr timespec kPause{0, 5'000'000};
  if (::getpid() != watch.pid) return true;
  std::uint32_t reporter = 0;  // from now on this PE, unless another one was first
  const auto mine = static_cast<std::uint32_t>(diagnostic_identity().pe) + 1;
  if (!has_ended() && watch.header->reporter.compare_exchange_strong(reporter, mine, std::memory_order_relaxed))
    return true;
  if (reporter == mine) return true;
  for (int i = 0; i < kPauses && !has_ended(); ++i) ::nanosleep(&kPause, nullptr);
  return false;
}

bool claim_job_end(int status) { return ::getpid() != watch.pid || claim(JobState::aborted, status); }

void end_job(int status) {
  if (::getpid() == watch.pid) watch.launcher->abort(status);
}

bool has_left(PePhase phase) { return phase == PePhase::departed || phase == PePhase::finalized; }

// Of any PE of the job, as far as this arena knows.
PePhase phase_of(int pe) {
  if (watch.arena->has(pe)) return bootstrap::phase_of(watch.arena->record(pe));
  const auto& phase = *bootstrap::foreign_phase_of(watch.header, static_cast<std::size_t>(pe));
  return static_cast<PePhase>(phase.load(std::memory_order_acquire));
}

void end_job_at_exit(int status) {
  watch.record->phase.store(static_cast<std::uint32_t>(PePhase::ending), std::memory_order_release);
  flush_standard_streams();
  watch.launcher->abort(status);
}

// The launcher's interface ends now, and the library later, after the program's exit handlers.
void read_remaining_addresses() {
  if (!is_initialized() || nodes_of_job == nullptr || !nodes_of_job->several()) return;
  if (Status read = nodes_of_job->peer_addresses->read_all(); !read)
    debug_line("the addresses of other nodes cannot be read: %s", read.error().text.c_str());
}

// Returns whether this thread ends the process inside a call of the library: from a signal handler that has interrupted
// it, or from a handler of an active message. What the call uses is in disorder, and it never unlocks what it has
// locked.
bool is_inside_call() { return locks_held != 0; }

void at_exit(int status, void*) {
  if (::getpid() != watch.pid) return;
  exit_status = status;
  const auto end = bootstrap::JobEnd::of(watch.header->end_word.load(std::memory_order_acquire));
  if (end.state != JobState::running) return end_job_at_exit(end.status);
  if (status != 0 && is_initialized()) return end_job_at_exit(status);
  if (!is_inside_call()) read_remaining_addresses();
  watch.launcher->finalize();
}

// The other PEs find out that this one has ended.
[[noreturn]] void leave_inside_call(bool is_ending) {
  if (!is_ending)
    warn(
        "exit was called inside a call of the library, by a signal handler or a handler of an active message; this PE "
        "ends without shmem_finalize");
  flush_standard_streams();
  ::_exit(exit_status);
}

// Finalizes if necessary and leaves the networks. Runs after all exit handlers of the program, which may still use
// and finalize the library.
[[gnu::destructor]] void say_good_bye() {
  if (watch.record == nullptr || ::getpid() != watch.pid) return;
  const bool is_ending = bootstrap::phase_of(*watch.record) == PePhase::ending;
  if (is_inside_call()) leave_inside_call(is_ending);
  if (!is_ending) finalize_at_exit();
  progress::stop_threads();
  const std::uint32_t take_over_ms = nodes_of_job != nullptr ? nodes_of_job->setup.timeout_ms : kPatienceMs;
  call_with_stack(kAmpleStackBytes, [is_ending, take_over_ms] {
    am::leave_networks(is_ending ? bootstrap::PePhase::ending : bootstrap::PePhase::finalized,
                       {kPatienceMs, take_over_ms});
  });
}

void after_fork_in_child() {
  transport::close_descriptors_in_child();
  // The child may continue, but it is not a PE: its calls of the library end it with a diagnostic.
  context::make_unusable(context::default_context());
  make_contexts_unusable();
  progress::policy().poll = nullptr;  // messages are for the parent
  context::set_unusable_reason("called in a forked child, which is not a PE");
}

void pause_ns(std::uint64_t ns) {
  const timespec pause{0, static_cast<long>(ns)};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

void name_hosts(const Nodes& nodes) noexcept { nodes_of_job = &nodes; }

std::string host_of(int pe) { return nodes_of_job != nullptr ? nodes_of_job->host_of(pe) : std::string(); }

void end_for_lost(int pe, const std::string& cause) noexcept {
  const PePhase phase = phase_of(pe);
  if (has_left(phase)) return;
  const bootstrap::RoutineName waiting = bootstrap::routine_of(*watch.record);
  const int looks = phase == PePhase::ending ? kLooksForLauncher : kLooksForEnd;
  for (int look = 0; look < looks && watch.header->end_word.load(std::memory_order_acquire) == 0; ++look)
    pause_ns(kLookForEndNs);
  fatal(waiting[0] != '\0' ? waiting.data() : nullptr, "PE %d on host %s is lost: %s", pe,
        nodes_of_job != nullptr ? nodes_of_job->host_of(pe).c_str() : "?", cause.c_str());
}

namespace {

// Keeps the word of the PE that has entered the fewest collectives.
void note_departed(std::atomic<std::uint64_t>& word, int pe, std::uint64_t entered) {
  const std::uint64_t departed = bootstrap::FirstDeparted::word(pe, entered);
  std::uint64_t first = word.load(std::memory_order_relaxed);
  while ((first == 0 || departed < first) && !word.compare_exchange_weak(first, departed)) {
  }
}

// Of a PE of another arena, which all PEs of this one get to know by that.
void note_foreign_stage(int pe, const am::StageNote& note) {
  bootstrap::JobHeader& header = *watch.header;
  auto& phase = *bootstrap::foreign_phase_of(&header, static_cast<std::size_t>(pe));
  const auto before = static_cast<PePhase>(phase.exchange(static_cast<std::uint32_t>(note.phase)));
  if (has_left(note.phase)) note_announced(pe);
  if (before == note.phase) return;
  if (note.phase == PePhase::departed || note.phase == PePhase::departing) {
    note_departed(header.foreign_departed, pe, note.collectives);
    note_departed(header.foreign_background, pe, note.background);
    header.departed.fetch_add(1, std::memory_order_acq_rel);
  }
  header.foreign_finalized.fetch_add((note.phase == PePhase::finalized ? 1U : 0U) -
                                     (before == PePhase::finalized ? 1U : 0U));
  if (has_left(note.phase)) header.foreign_left_pe.store(pe, std::memory_order_relaxed);
  header.foreign_left.fetch_add((has_left(note.phase) ? 1U : 0U) - (has_left(before) ? 1U : 0U));
}

}  // namespace

void note_stage(int pe, const am::StageNote& note) noexcept {
  if (!watch.arena->has(pe)) return note_foreign_stage(pe, note);
  bootstrap::PeRecord& record = watch.arena->record(pe);
  const bool departed = note.phase == PePhase::departed || note.phase == PePhase::departing;
  const auto phase = static_cast<std::uint32_t>(departed ? PePhase::departed : note.phase);
  if (departed) {
    record.collectives.store(note.collectives, std::memory_order_relaxed);  // left
    record.background.store(note.background, std::memory_order_relaxed);    // left
  }
  if (record.phase.exchange(phase, std::memory_order_acq_rel) == phase || !departed) return;
  watch.header->departed.fetch_add(1, std::memory_order_acq_rel);
}

void watch_for_the_end(windows::Arena& arena, bootstrap::Bootstrap& launcher) noexcept {
  const bootstrap::Identity identity = launcher.identity();
  watch = Watch{&arena, &arena.header(), &arena.record(identity.pe), &launcher, ::getpid()};
  DiagnosticIdentity& who = diagnostic_identity();
  who.pe = identity.pe;
  who.n_pes = identity.n_pes;
  who.pid = watch.pid;
  who.claim_report = claim_report;
  who.claim_job_end = claim_job_end;
  who.end_job = end_job;
  ::on_exit(at_exit, nullptr);
}

void disown_forked_children() noexcept { windows::run_in_children(after_fork_in_child); }

void global_exit(int status) noexcept {
  context::require_initialized("shmem_global_exit");
  const int low = status & 0xff;  // the system keeps only these bits of a status
  const int kept = low == 0 && status != 0 ? 1 : low;
  claim(JobState::global_exit, kept);
  std::exit(kept);
}

}  // namespace shmemx::runtime
