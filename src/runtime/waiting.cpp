#include "runtime/waiting.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "base/call_site.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "base/hash.hpp"
#include "base/object_name.hpp"
#include "base/streams.hpp"
#include "base/threads.hpp"
#include "bootstrap/status.hpp"
#include "bootstrap/stuck.hpp"
#include "bootstrap/table_request.hpp"
#include "check/checks.hpp"
#include "coll/background/begin.hpp"
#include "coll/common/matching.hpp"
#include "coll/common/team.hpp"
#include "context/context.hpp"
#include "onesided/idle.hpp"
#include "progress/policy.hpp"
#include "progress/progress_thread.hpp"
#include "runtime/activities.hpp"
#include "runtime/collective_words.hpp"
#include "runtime/deadlock.hpp"
#include "runtime/matching.hpp"
#include "windows/memory_watch.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::Awaited;
using bootstrap::JobState;
using bootstrap::PePhase;

constexpr std::uint64_t kLookNs = 500'000'000;
constexpr std::uint64_t kCompareNs = 3'000'000'000;  // by then PEs have found calls that do not match
constexpr std::uint64_t kLeaveToFirstNs = 1'000'000'000;
constexpr std::uint64_t kAnswerNs = 20'000'000;  // between two attempts to answer: each reads files of /proc

// A thread that waits, or has waited. It alone writes what follows `next`.
struct Waiter {
  std::atomic<pid_t> tid{0};  // 0: of no thread
  Waiter* next = nullptr;
  // Edge waits: the thread clears `wave` before it counts up `waits`; a reader reads `waits` first.
  std::atomic<std::uint64_t> waits{0};  // counts begins and ends of waits that sleep: odd during one
  std::atomic<std::uint64_t> wave{0};   // the wave that it had seen when it last looked in this wait, in vain
  std::uint64_t seen_wave = 0;          // before the look that it makes now

  bool is_waiting() const { return waits.load(std::memory_order_relaxed) % 2 != 0; }
};

struct KnownThreads {
  std::vector<pid_t> before;   // those that ran before the library was started
  std::vector<pid_t> library;  // those of the library, and of what it uses
  bool is_complete = false;    // `library` is known
};

// The proof that all wait in vain, and this PE's part in it.
struct Proof {
  std::mutex mutex;  // of `watch`; only ever tried, as a signal handler may have interrupted its owner
  bootstrap::StuckWatch watch;
  std::atomic<std::uint64_t> next_look_ns{0};
  std::atomic<std::uint64_t> next_answer_ns{0};
};

// The addresses of the executable, and by how much they lie above those in its file.
struct ExecutableRange {
  std::uintptr_t bias = load_bias();
  std::uintptr_t bytes = executable_end() - bias;
};

struct State {
  windows::Arena* arena = nullptr;
  bootstrap::JobHeader* header = nullptr;
  bootstrap::PeRecord* record = nullptr;
  bootstrap::PollingLoop* polling = nullptr;
  bootstrap::Bootstrap* launcher = nullptr;
  bootstrap::Liveness liveness;
  std::atomic<Waiter*> waiters{nullptr};  // grows at its begin only
  KnownThreads threads;
  std::vector<int> announced;  // PEs of other nodes that have said that they have left; under the endpoint's lock
  Proof proof;
  config::Watchdog watchdog;
  ExecutableRange executable;
};
// Never destroyed: other threads may still wait while the process exits.
constinit State* state = nullptr;

constinit thread_local Waiter* own_waiter = nullptr;

// Leaves the entry of a thread that ends to another one. The main thread may still wait after that, in finalize.
struct Release {
  ~Release() {
    if (Waiter* const waiter = std::exchange(own_waiter, nullptr)) waiter->tid.store(0, std::memory_order_release);
  }
};

Waiter& make_waiter() {
  thread_local Release release;
  static_cast<void>(&release);
  const pid_t tid = ::gettid();
  for (Waiter* waiter = state->waiters.load(std::memory_order_acquire); waiter != nullptr; waiter = waiter->next) {
    pid_t none = 0;
    if (waiter->tid.compare_exchange_strong(none, tid, std::memory_order_acq_rel)) return *(own_waiter = waiter);
  }
  auto* const made = new Waiter;
  made->tid.store(tid, std::memory_order_relaxed);  // published with the entry
  made->next = state->waiters.load(std::memory_order_relaxed);
  while (!state->waiters.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) {
  }
  return *(own_waiter = made);
}

Waiter& this_waiter() { return own_waiter != nullptr ? *own_waiter : make_waiter(); }

bool has_departed(const bootstrap::PeRecord& record) { return phase_of(record) == PePhase::departed; }

// Of other arenas: returns the PE of the word if it departed before it had entered as many collectives, or -1.
int departed_before(const std::atomic<std::uint64_t>& word, std::uint64_t entered) {
  using bootstrap::FirstDeparted;
  const std::uint64_t first = word.load(std::memory_order_acquire);
  return first != 0 && FirstDeparted::collectives(first) < entered ? FirstDeparted::pe(first) : -1;
}

// Returns a PE that departed before a collective of all PEs that this PE has entered, or -1. Collectives that the
// departed PE took part in complete, whichever PEs are still in them.
int find_departed() {
  std::uint64_t& epoch = coll::team_table[coll::kWorldTeam].epoch;  // written by the thread in such a collective
  const std::uint64_t entered = std::atomic_ref(epoch).load(std::memory_order_relaxed);
  const std::uint64_t background = coll::background::begun(coll::kWorldTeam);
  for (const auto& [pe, record] : state->arena->records()) {
    if (!state->arena->has(pe)) continue;
    if (!has_departed(*record)) continue;
    if (record->collectives.load(std::memory_order_relaxed) < entered) return pe;    // left
    if (record->background.load(std::memory_order_relaxed) < background) return pe;  // left
  }
  const int foreign = departed_before(state->header->foreign_departed, entered);
  return foreign >= 0 ? foreign : departed_before(state->header->foreign_background, background);
}

// Leaves a job that another PE of the node has ended, if no launcher ends this process.
void leave_ended_job() {
  const auto end = bootstrap::JobEnd::of(state->header->end_word.load(std::memory_order_acquire));
  if (end.state == JobState::running || state->launcher->ends_all()) return;
  flush_standard_streams();
  ::_exit(end.status);
}

bool is_of_library(pid_t thread) {
  for (const pid_t own :
       {progress::node_thread.tid(), progress::network_thread.tid(), windows::MemoryWatch::thread()}) {
    if (thread == own) return true;
  }
  // Threads of a launcher's interface, or of a network. Where the program had several threads before, any of them may
  // have started others meanwhile.
  const std::vector<pid_t>& before = state->threads.before;
  if (before.size() != 1) return false;
  if (!state->threads.is_complete) return thread != before.front();
  const std::vector<pid_t>& known = state->threads.library;
  return std::find(known.begin(), known.end(), thread) != known.end();
}

// Returns the number of the wait of a thread that has looked in vain since `wave`, or how often a thread has run that
// only others can wake. None for other threads.
std::optional<std::uint64_t> wait_of(pid_t thread, std::uint64_t wave) {
  const Waiter* waiter = state->waiters.load(std::memory_order_acquire);
  while (waiter != nullptr && waiter->tid.load(std::memory_order_relaxed) != thread) waiter = waiter->next;
  const std::uint64_t waits = waiter != nullptr ? waiter->waits.load(std::memory_order_acquire) : 0;  // waits
  if (waits % 2 == 0) return switches_if_blocked(thread);
  if (waiter->wave.load(std::memory_order_acquire) < wave) return {};  // waits
  return waits;
}

// A digest of the waits of all threads of the program; none if one of them may move.
std::optional<std::uint64_t> digest_of_waits(std::uint64_t wave) {
  const std::vector<pid_t> threads = program_threads();
  if (threads.empty()) return {};
  Fnv1a digest;
  for (const pid_t thread : threads) {
    const std::optional<std::uint64_t> wait = wait_of(thread, wave);
    if (!wait) return {};
    digest.add(static_cast<std::uint64_t>(thread));
    digest.add(*wait);
  }
  return digest.digest();
}

bool is_in_arena(int pe) { return state->arena->has(pe); }

bool is_gone(int pe) {
  return is_in_arena(pe) && state->liveness.has_ended(state->arena->place_of(pe), state->arena->record(pe));
}

bool has_announced(int pe) {
  return std::find(state->announced.begin(), state->announced.end(), pe) != state->announced.end();
}

// Answers to a wave, if all threads of this PE have looked since it began and nothing is under way.
void answer_wave(std::uint64_t wave) {
  bootstrap::IdleReport& idle = state->record->idle;
  if (idle.wave.load(std::memory_order_relaxed) >= wave || has_armed_timers()) return;
  const std::optional<std::uint64_t> digest = digest_of_waits(wave);
  if (!digest) return;
  onesided::MessageCounts counts;
  if (progress::is_open() && !onesided::is_idle({is_in_arena, is_gone, has_announced}, counts)) return;
  idle.state.store(*digest, std::memory_order_relaxed);             // idle
  idle.sent.store(counts.sent, std::memory_order_relaxed);          // idle
  idle.executed.store(counts.executed, std::memory_order_relaxed);  // idle
  idle.wave.store(wave, std::memory_order_release);                 // idle
}

// Notes that this thread waits, and that it has looked in vain since it was here last, in this wait. Returns the wave
// that had begun by then.
std::uint64_t note_look(Waiter& self) {
  const std::uint64_t looked_since = self.is_waiting() ? self.seen_wave : 0;
  self.wave.store(looked_since, std::memory_order_release);                    // waits
  if (!self.is_waiting()) self.waits.fetch_add(1, std::memory_order_release);  // waits
  self.seen_wave = state->header->idle_wave.load(std::memory_order_acquire);   // wave
  return looked_since;
}

// Returns whether to report a wait, or a loop of tests, that has begun then: it has taken as long as SHMEM_WATCHDOG
// allows, and no PE has reported for as long. PEs that share no arena with PE 0 leave it to one that does, if one of
// those waits as long.
bool claim_long_wait(std::uint64_t since_ns) {
  const std::uint64_t now = now_ns();
  const std::uint64_t limit =
      std::uint64_t{state->watchdog.seconds} * 1'000'000'000U + (is_in_arena(0) ? 0 : kLeaveToFirstNs);
  std::uint64_t reported = state->header->reported_ns.load(std::memory_order_relaxed);
  if (since_ns == 0 || now < since_ns + limit || (reported != 0 && now < reported + limit)) return false;
  return state->header->reported_ns.compare_exchange_strong(reported, now, std::memory_order_relaxed);
}

unsigned seconds_since(std::uint64_t ns) { return static_cast<unsigned>((now_ns() - ns) / 1'000'000'000U); }

void warn_of_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) warn("%s", line.c_str());
}

void report_long_wait(const char* routine) {
  const std::uint64_t since = state->record->waiting_since_ns.load(std::memory_order_relaxed);  // for people
  if (!claim_long_wait(since)) return;
  const std::vector<std::string> lines = table_of_job(*state->arena);
  warn("%s has waited for %u s (SHMEM_WATCHDOG)", routine, seconds_since(since));
  warn_of_lines(lines);
  if (state->watchdog.aborts) fatal(routine, "waits for longer than SHMEM_WATCHDOG=%u:abort", state->watchdog.seconds);
}

// Takes part in the proof that the PEs of this arena wait in vain, and ends the job when it is complete.
void end_when_stuck(const char* routine) {
  const std::uint64_t wave = note_look(this_waiter());
  const std::uint64_t now = now_ns();
  const bool is_asked = state->record->idle.wave.load(std::memory_order_relaxed) < wave &&
                        now >= state->proof.next_answer_ns.load(std::memory_order_relaxed);
  const bool is_due = now >= state->proof.next_look_ns.load(std::memory_order_relaxed);
  if (!is_asked && !is_due) return;
  const std::unique_lock guard(state->proof.mutex, std::try_to_lock);
  if (!guard.owns_lock()) return;
  if (is_asked) {
    answer_wave(wave);
    state->proof.next_answer_ns.store(now + kAnswerNs, std::memory_order_relaxed);
  }
  if (!is_due) return;
  std::atomic<std::uint64_t>& site = state->record->call_site;
  if (site.load(std::memory_order_relaxed) == 0) site.store(call_site(), std::memory_order_relaxed);  // for people
  state->proof.next_look_ns.store(now + kLookNs, std::memory_order_relaxed);
  const bool judges_all = check::is_on();
  const int ended = state->proof.watch.look(state->arena->place_of(diagnostic_identity().pe), judges_all);
  if (ended == bootstrap::StuckWatch::kNone) return;
  const std::uint64_t since = state->record->waiting_since_ns.load(std::memory_order_relaxed);  // for people
  if (ended == bootstrap::StuckWatch::kNobody && some_wait_in_collectives(*state->arena) && now < since + kCompareNs)
    return;
  if (ended == bootstrap::StuckWatch::kNobody || (judges_all && some_wait_for_values(*state->arena)))
    end_deadlock(*state->arena, routine);
  const int pe = ended == bootstrap::StuckWatch::kForeign
                     ? state->header->foreign_left_pe.load(std::memory_order_relaxed)
                     : state->arena->pe_at(static_cast<std::size_t>(ended));
  fatal(routine, "PE %d has ended, and all others wait, so this can never complete", pe);
}

// Of a word that is read in the mapped memory of another PE: returns it as this PE names it, with that PE.
Awaited with_own_name(Awaited awaited, const context::Context& world) {
  const auto step = static_cast<std::uint64_t>(world.pe_step);
  const auto name = [&](const std::byte* first, std::uintptr_t own, std::uint64_t bytes) {
    const std::uint64_t offset = awaited.at - reinterpret_cast<std::uintptr_t>(first);
    const std::uint64_t pe = offset / step;
    if (first == nullptr || pe >= world.n_near || offset % step >= bytes) return false;
    awaited.at = own + offset % step;
    const auto owner = static_cast<std::int32_t>(pe + world.first_near);
    if (owner != world.my_pe) awaited.pe = owner;
    return true;
  };
  const bool is_read = awaited.kind == Awaited::Kind::word && awaited.comparison == 0;
  if (!is_read || !context::node_is_mapped() || world.pe_step <= 0) return awaited;
  if (!name(world.near_heap, world.heap_base, world.window_bytes))
    name(world.near_statics, world.static_base, world.static_bytes);
  return awaited;
}

// Returns what is awaited as other processes can read it: with the place of the address, or the members of a
// collective.
Awaited placed(Awaited awaited) {
  if (awaited.kind == Awaited::Kind::nothing) {
    const coll::Team* const team = coll::awaited_team;
    return team != nullptr ? awaited_call(*team) : awaited;
  }
  if (awaited.kind == Awaited::Kind::operation) return awaited_call(awaited);
  const bool has_address = awaited.kind != Awaited::Kind::message && awaited.kind != Awaited::Kind::team;
  const context::Context& world = context::default_context();
  awaited = with_own_name(awaited, world);
  if (has_address && awaited.at - world.heap_base < world.window_bytes) {
    awaited.space = Awaited::Space::heap;
    awaited.at -= world.heap_base;
  } else if (has_address && awaited.at - state->executable.bias < state->executable.bytes) {
    awaited.space = Awaited::Space::executable;
    awaited.at -= state->executable.bias;
  }
  return awaited;
}

}  // namespace

void watch_waits(windows::Arena& arena, bootstrap::Bootstrap& launcher, std::vector<pid_t> threads_before) {
  const int pe = launcher.identity().pe;
  auto* const made = new State;
  made->arena = &arena;
  made->header = &arena.header();
  made->record = &arena.record(pe);
  made->record->pe = pe;
  made->polling = bootstrap::polling_loop_of(made->header, arena.place_of(pe));
  made->launcher = &launcher;
  bootstrap::announce_liveness(arena.fd(), arena.place_of(pe), *made->record);
  made->liveness = bootstrap::Liveness(arena.fd());
  made->proof.watch = bootstrap::StuckWatch(made->header, made->liveness);
  made->threads.before = std::move(threads_before);
  state = made;
}

void note_library_threads() {
  for (const pid_t thread : threads_of_process()) {
    const std::vector<pid_t>& before = state->threads.before;
    if (std::find(before.begin(), before.end(), thread) == before.end()) state->threads.library.push_back(thread);
  }
  state->threads.is_complete = true;
}

void set_watchdog(const config::Watchdog& watchdog) noexcept { state->watchdog = watchdog; }

std::vector<pid_t> program_threads() {
  std::vector<pid_t> threads = threads_of_process();
  std::erase_if(threads, is_of_library);
  return threads;
}

void note_announced(int pe) {
  if (!has_announced(pe)) state->announced.push_back(pe);
}

void note_waiting(const char* routine, const bootstrap::Awaited& awaited) noexcept {
  if (state == nullptr || routine == nullptr) return;
  bootstrap::set_routine(*state->record, routine);
  bootstrap::store(placed(awaited), state->record->awaited);
  std::atomic<std::uint64_t>& since = state->record->waiting_since_ns;
  if (since.load(std::memory_order_relaxed) == 0) since.store(now_ns(), std::memory_order_relaxed);  // for people
  leave_ended_job();
  note_collective(routine, awaited);
  compare_background_calls();
  answer_other_processes();
  if (state->watchdog.seconds != 0) [[unlikely]]
    report_long_wait(routine);
  const bool some_left = state->header->departed.load(std::memory_order_acquire) != 0;
  // A departed PE has informed the others about whom they wait for.
  const int departed = some_left && !has_departed(*state->record) ? find_departed() : -1;
  if (departed < 0) return end_when_stuck(routine);
  fatal(routine, "PE %d has left the job without shmem_finalize, so this can never complete", departed);
}

void answer_other_processes() noexcept {
  if (state == nullptr || !bootstrap::is_table_requested(*state->header)) return;
  const std::uint32_t request = bootstrap::take_table_request(*state->header);
  if (request != 0) bootstrap::give_table(*state->header, request, table_of_job(*state->arena));
}

// A loop of tests ends no job: the program may do something useful in it.
void note_vain_tests(const char* routine, const Awaited& awaited, std::uint64_t since_ns) noexcept {
  if (state == nullptr) return;
  bootstrap::PollingLoop& loop = *state->polling;
  if (routine == nullptr) return loop.last_ns.store(0, std::memory_order_relaxed);  // for people, like the next ones
  if (loop.since_ns.load(std::memory_order_relaxed) != since_ns) loop.call_site.store(0, std::memory_order_relaxed);
  const std::uint64_t now = now_ns();
  bootstrap::set_words(loop.routine, routine);
  bootstrap::store(placed(awaited), loop.awaited);
  loop.since_ns.store(since_ns, std::memory_order_relaxed);
  if (now - since_ns > kLookNs && loop.call_site.load(std::memory_order_relaxed) == 0)
    loop.call_site.store(call_site(), std::memory_order_relaxed);
  loop.last_ns.store(now, std::memory_order_relaxed);
  answer_other_processes();
  if (state->watchdog.seconds == 0 || !claim_long_wait(since_ns)) return;
  const std::vector<std::string> lines = table_of_job(*state->arena);
  warn("%s has been called in vain for %u s (SHMEM_WATCHDOG)", routine, seconds_since(since_ns));
  warn_of_lines(lines);
}

void forget_waiting() noexcept {
  if (state == nullptr) return;
  forget_collective();
  if (own_waiter != nullptr && own_waiter->is_waiting()) own_waiter->waits.fetch_add(1, std::memory_order_release);
  bootstrap::set_routine(*state->record, "");
  state->record->waiting_since_ns.store(0, std::memory_order_relaxed);  // for people, like the next one
  state->record->call_site.store(0, std::memory_order_relaxed);
}

}  // namespace shmemx::runtime
