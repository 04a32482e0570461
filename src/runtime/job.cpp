#include "runtime/job.hpp"

#include <limits.h>
#include <shmemx/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "am/endpoint.hpp"
#include "base/fatal.hpp"
#include "base/mutex.hpp"
#include "base/own_stack.hpp"
#include "base/threads.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/second_copy.hpp"
#include "coll/active_set/teams.hpp"
#include "coll/background/begin.hpp"
#include "coll/barrier.hpp"
#include "coll/common/matching.hpp"
#include "coll/internode/barrier.hpp"
#include "coll/split.hpp"
#include "config/config.hpp"
#include "context/route.hpp"
#include "onesided/direct.hpp"
#include "onesided/order.hpp"
#include "public_windows/lock.hpp"
#include "runtime/checking.hpp"
#include "runtime/contexts.hpp"
#include "runtime/leaving.hpp"
#include "runtime/matching.hpp"
#include "runtime/memory.hpp"
#include "runtime/messaging.hpp"
#include "runtime/observing.hpp"
#include "runtime/start.hpp"
#include "runtime/waiting.hpp"
#include "tasks/tasks.hpp"

// Of the C library. A strong reference would bring its allocator into static executables that have another one.
extern "C" [[gnu::weak]] int malloc_trim(std::size_t kept) noexcept;

namespace shmemx::runtime {
namespace {

// State that exists once for the process. The job's memory stays mapped after finalize, for a later init.
struct Job {
  std::unique_ptr<bootstrap::Bootstrap> launcher;
  std::optional<windows::Arena> arena;
  std::unique_ptr<heap::BlockAllocator> allocator;
  StartParameters parameters;
  bool set_up = false;  // all members above are valid; a start that failed half-way cannot be repeated
};
// Never destroyed, since other static destructors may still use the library.
Job& job() {
  static Job* const instance = new Job;
  return *instance;
}

constinit Mutex state_mutex;  // guards init, finalize and the state that they change
constinit std::atomic<int> open_initializations{0};
constinit std::atomic<int> level{SHMEM_THREAD_SINGLE};

void set_phase(bootstrap::PePhase phase) {
  Job& self = job();
  self.arena->record(self.parameters.identity.pe)
      .phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
}

// Announces that this PE enters no further collective. PEs that wait for it in one then end the job. PEs of other nodes
// take it for one that does nothing more, unless its program has other threads.
void announce_departure() {
  Job& self = job();
  const std::uint64_t entered = coll::team_table[coll::kWorldTeam].epoch;
  const std::uint64_t background = coll::background::begun(coll::kWorldTeam);
  bootstrap::PeRecord& record = self.arena->record(self.parameters.identity.pe);
  record.collectives.store(entered, std::memory_order_relaxed);    // left
  record.background.store(background, std::memory_order_relaxed);  // left
  set_phase(bootstrap::PePhase::departed);
  self.arena->header().departed.fetch_add(1, std::memory_order_acq_rel);
  const auto phase = program_threads().size() > 1 ? bootstrap::PePhase::departing : bootstrap::PePhase::departed;
  am::send_stage({.phase = phase, .collectives = entered, .background = background},
                 coll::awaiting_in_barrier(coll::team_table[coll::kWorldTeam]), kPatienceMs);
}

// The start of a large job needs megabytes for a moment, to divide all PEs into nodes.
void give_back_memory(int n_pes) {
  constexpr int kManyPes = 1 << 16;
  if (n_pes >= kManyPes && ::malloc_trim != nullptr) ::malloc_trim(0);
}

// Starts the library for the first time in this process: connects to the launcher, maps the arena, shares the static
// data.
Status start_process(const InitRequest& request) {
  Job& self = job();
  std::vector<pid_t> threads_before = threads_of_process();
  if (self.launcher != nullptr)
    return Error{Errc::unsupported, 0, "an earlier call has failed in this process, see its message"};
  SHMEMX_TRY(bootstrap::only_copy());
  SHMEMX_TRY_ASSIGN(launcher,
                    request.caller != nullptr ? bootstrap::connect_caller(*request.caller) : bootstrap::connect());
  self.launcher = std::move(launcher);
  self.parameters.identity = self.launcher->identity();
  auto fd = self.launcher->arena();
  if (!fd) {
    if (request.caller != nullptr) self.launcher.reset();  // nothing refers to it yet: the caller may try again
    return fd.error();
  }
  SHMEMX_TRY_ASSIGN(arena, windows::Arena::open(std::move(*fd)));
  self.arena.emplace(std::move(arena));
  const auto [pe, n_pes] = self.parameters.identity;
  if (self.launcher->nodes().n_nodes() > 1) self.arena->set_pes(self.launcher->nodes().pes_with(pe, n_pes));
  watch_for_the_end(*self.arena, *self.launcher);
  watch_collectives(*self.arena);
  watch_waits(*self.arena, *self.launcher, std::move(threads_before));
  SHMEMX_TRY(read_parameters(self.parameters));
  if (std::string note = self.launcher->note(); !note.empty())
    self.parameters.config.warnings.push_back(std::move(note));
  SHMEMX_TRY(share_memory(*self.arena, self.parameters, *self.launcher, request.routine));
  disown_forked_children();
  self.allocator =
      std::make_unique<heap::BlockAllocator>(self.parameters.heap_limit_bytes, self.arena->geometry().alignment);
  note_heap_usage();
  give_back_memory(n_pes);
  return meet_node_pes(*self.arena, request.routine);  // from here on no PE fails
}

// Returns the route of the PEs whose memory this PE maps. If their numbers form no arithmetic sequence, each PE is in
// a team of its own.
context::Context shared_route(const context::Context& world, const Nodes& nodes) {
  if (context::all_mapped) return world;
  std::vector<int> mapped = nodes.here;
  if (!context::node_is_mapped()) mapped.assign(1, world.my_pe);
  const int stride = mapped.size() > 1 ? mapped[1] - mapped[0] : 1;
  bool regular = true;
  for (std::size_t i = 1; i < mapped.size(); ++i) regular = regular && mapped[i] - mapped[i - 1] == stride;
  if (!regular) mapped.assign(1, world.my_pe);
  const team::PeSet set(Pe{mapped[0]}, regular ? stride : 1, static_cast<int>(mapped.size()));
  return coll::route_of(world, set, set.find(Pe{world.my_pe})->value);
}

void open_world() {
  Job& self = job();
  open_checks(self.parameters.config, self.arena->heap(self.parameters.nodes.index), self.parameters.heap_limit_bytes);
  check_threads(thread_level());
  const context::Context world = make_world(*self.arena, self.parameters);
  context::default_context() = world;
  onesided::open_direct(context::default_context());
  context::context_table[context::kInvalidContext].handle = ~std::uint64_t{0};
  coll::install_team(coll::kEndTeam, world, 0);
  coll::install_team(coll::kWorldTeam, world, coll::kWorldTeam);
  coll::install_team(coll::kSharedTeam, shared_route(world, self.parameters.nodes), coll::kSharedTeam);
  open_messages(*self.arena, self.parameters, level.load());
}

// Returns true for the first PE of the node that reports an init error where init errors are returned. Without an
// arena every PE reports.
bool is_first_init_error() {
  const Job& self = job();
  return !self.arena || self.arena->header().init_error_printed.exchange(1, std::memory_order_relaxed) == 0;
}

bool returns_errors(const InitRequest& request) {
  if (request.caller != nullptr) return true;
  return request.may_return_error && config::init_errors_of(environ) == config::InitErrors::return_;
}

bool fail(const InitRequest& request, const Error& error) {
  char cause[128] = "";
  if (error.system_errno != 0) std::snprintf(cause, sizeof cause, ": %s", std::strerror(error.system_errno));
  if (returns_errors(request)) {
    const auto print = is_first_init_error() ? warn : debug_line;
    print("%s: %s%s", request.routine, error.text.c_str(), cause);
    return false;
  }
  fatal(request.routine, "%s%s", error.text.c_str(), cause);
}

// With a digest of the collectives of all PEs in place of a number of elements: members that have made different ones
// find out at the end of the job.
void enter_finalize() {
  const std::uint64_t digest = coll::digest_of_all_pes();
  coll::begin_call(coll::team_table[coll::kEndTeam],
                   coll::call_word(coll::kind_of(coll::CallFamily::finalize), digest ^ digest >> 32));
}

void meet_in_finalize(const char* routine) {
  onesided::quiet(routine);
  enter_finalize();
  coll::barrier(coll::team_table[coll::kEndTeam], routine);
}

// Nobody shall wait for a lock of a PE that does nothing more.
void release_locks(const char* routine) {
  const int owner = public_windows::release_held_locks(routine);
  if (owner >= 0) warn("%s: this PE still held the lock of a window of PE %d, which is free now", routine, owner);
}

// The other members could wait for ever for what this PE has not done yet.
void require_no_collectives(const char* routine) {
  const std::size_t open = coll::background::open_requests();
  if (open != 0)
    fatal(routine,
          "called with %zu collective%s that this PE has not completed: call shmemx_wait or shmemx_test for each "
          "request first",
          open, open == 1 ? "" : "s");
}

void complete_operations(const char* routine) {
  require_no_collectives(routine);
  release_locks(routine);
  onesided::quiet(routine);
  flush_messages(routine);
}

// Completes all outstanding operations and waits until all PEs are here.
void end_traffic(const char* routine) {
  const StartParameters& parameters = job().parameters;
  complete_operations(routine);
  coll::compare_passed_calls(routine);
  enter_finalize();
  coll::barrier(coll::team_table[coll::kEndTeam], routine);
  // Without a progress thread, messages that wait for a connection are not sent later. After this barrier all
  // connections are established.
  const bool has_agent = parameters.config.progress != config::Progress::off;
  if (parameters.nodes.several() && !has_agent) coll::barrier(coll::team_table[coll::kEndTeam], routine);
  tasks::check_all_run(routine);
  report_observed(routine, parameters.nodes);
  report_end(parameters, *job().launcher);
}

void close_world(const char* routine) {
  Job& self = job();
  tasks::require_outside(routine);
  end_checks(routine);
  end_traffic(routine);
  close_messages();
  drop_contexts();
  coll::reset_active_teams();
  coll::reset_teams();
  self.allocator->reset();
  note_heap_usage();
  discard_heap();  // after the barrier no PE accesses the heap
  context::make_unusable(context::default_context());
  coll::team_table[coll::kWorldTeam].handle = coll::team_table[coll::kSharedTeam].handle = 0;
  context::set_unusable_reason("called after shmem_finalize");
  set_phase(bootstrap::PePhase::finalized);
  am::send_stage(bootstrap::PePhase::finalized, 0);
}

// The first init of a life of the library. The caller holds the mutex.
bool start(const InitRequest& request) {
  const bool first = !job().set_up;
  if (first) {
    if (Status status = start_process(request); !status) return fail(request, status.error());
    configure_waiting(*job().arena, job().parameters);
    job().set_up = true;
  }
  level.store(std::clamp(request.thread_level, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE));
  open_observing(job().parameters, *job().arena);
  open_world();
  if (first) {
    if (Status met = meet_node_pes(*job().arena, request.routine); !met) return fail(request, met.error());
    note_library_threads();
    report_start(*job().arena, job().parameters, *job().launcher);
  } else {
    am::send_stage(bootstrap::PePhase::running, kPatienceMs);
    coll::begin_call(coll::team_table[coll::kWorldTeam], coll::call_word(coll::CallFamily::start));
    coll::barrier(coll::team_table[coll::kWorldTeam], request.routine);
  }
  set_phase(bootstrap::PePhase::running);
  start_observing(request.routine, job().parameters.nodes);
  open_initializations.store(1);
  return true;
}

}  // namespace

bool initialize(const InitRequest& request) noexcept {
  const std::lock_guard guard(state_mutex);
  if (open_initializations.load() == 0) {
    bool is_started = false;
    call_with_stack(kAmpleStackBytes, [&] { is_started = start(request); });
    return is_started;
  }
  if (request.by == StartedBy::init) open_initializations.fetch_add(1);
  return true;
}

InitResult initialize_for_caller(const InitRequest& request) noexcept {
  const std::lock_guard guard(state_mutex);
  const bootstrap::Identity asked = request.caller->identity;
  const bootstrap::Identity known = job().parameters.identity;
  const bool is_other = job().set_up && (asked.pe != known.pe || asked.n_pes != known.n_pes);
  if (open_initializations.load() > 0 || is_other) {
    warn("%s: the library %s PE %d of %d; nothing is done", request.routine,
         is_other ? "was started in this process as" : "is initialised already, as", known.pe, known.n_pes);
    return InitResult::already_started;
  }
  bool is_started = false;
  call_with_stack(kAmpleStackBytes, [&] { is_started = start(request); });
  if (is_started) return InitResult::started;
  return job().launcher == nullptr ? InitResult::wrong_caller : InitResult::failed;
}

void finalize(const char* routine) noexcept {
  const std::lock_guard guard(state_mutex);
  if (job().set_up && !is_initialized()) {
    debug_line("%s: called more often than shmem_init; nothing is done", routine);
    return;
  }
  context::require_initialized(routine);
  if (open_initializations.load() > 1) {
    open_initializations.fetch_sub(1);
    meet_in_finalize(routine);
    return;
  }
  call_with_stack(kAmpleStackBytes, [routine] { close_world(routine); });
  open_initializations.store(0);
}

// The contexts stay usable, since threads of the program may run until the process has ended.
void finalize_at_exit() noexcept {
  const char* const routine = "shmem_finalize";
  const std::lock_guard guard(state_mutex);
  if (!is_initialized()) return;
  end_checks_at_exit(routine);
  complete_operations(routine);  // what this PE has done reaches others before they learn that it has left
  announce_departure();
  for (int open = open_initializations.load(); open > 1; --open) meet_in_finalize(routine);
  call_with_stack(kAmpleStackBytes, [routine] { end_traffic(routine); });
  set_phase(bootstrap::PePhase::finalized);
  open_initializations.store(0);
}

bool is_initialized() noexcept { return open_initializations.load(std::memory_order_acquire) > 0; }
int thread_level() noexcept { return level.load(std::memory_order_relaxed); }
windows::Arena& arena() noexcept { return *job().arena; }
heap::BlockAllocator& allocator() noexcept { return *job().allocator; }
const config::Config& configuration() noexcept { return job().parameters.config; }

}  // namespace shmemx::runtime
