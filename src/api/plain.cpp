// Routines without a type in their name: set-up, queries, memory, ordering, signals, locks.
#include <shmemx.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "api/active_set.hpp"
#include "api/plain_define.hpp"
#include "api/signal.hpp"
#include "api/sync.hpp"
#include "base/fatal.hpp"
#include "check/checks.hpp"
#include "check/leaks.hpp"
#include "check/owners.hpp"
#include "coll/barrier.hpp"
#include "coll/common/matching.hpp"
#include "onesided/order.hpp"
#include "progress/wait.hpp"
#include "runtime/job.hpp"
#include "runtime/memory.hpp"
#include "runtime/nodes.hpp"
#include "runtime/observing.hpp"
#include "stats/span.hpp"
#include "sync/lock.hpp"

namespace api = shmemx::api;
namespace coll = shmemx::coll;
namespace context = shmemx::context;
namespace onesided = shmemx::onesided;
namespace runtime = shmemx::runtime;

namespace {

using runtime::InitRequest;
using runtime::StartedBy;
using shmemx::stats::Family;
using shmemx::stats::RoutineSpan;

constexpr std::size_t kSmallAlignment = 16;

// Returns an alignment that starts objects of a cache line or more at a cache line.
std::size_t alignment_for(std::size_t bytes) {
  return bytes >= shmemx::kCacheLine ? shmemx::kCacheLine : kSmallAlignment;
}

const context::Context& world_or_fail(const char* routine) {
  context::require_initialized(routine);
  return api::default_context();
}

[[gnu::cold, gnu::noinline]] void meet_checked(coll::Team& team, const char* routine, coll::CallFamily family) {
  const shmemx::check::TeamUse use(team.route.team_index, routine);
  coll::begin_call(team, coll::call_word(family));
  coll::barrier(team, routine);
}

void meet(coll::Team& team, const char* routine, coll::CallFamily family) {
  if (shmemx::check::is_on()) [[unlikely]]
    return meet_checked(team, routine, family);
  coll::begin_call(team, coll::call_word(family));
  coll::barrier(team, routine);
}

void sync_world(const char* routine) {
  context::require_initialized(routine);
  const RoutineSpan span(routine, Family::collective);
  meet(coll::team_table[coll::kWorldTeam], routine, coll::CallFamily::sync);
}

std::uint32_t lock_index(const long* lock) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(lock) / sizeof *lock);
}

// For what is left at finalize.
void note_lock(const char* routine, const long* lock) {
  if (shmemx::check::is_on()) [[unlikely]]
    shmemx::check::note_handle(shmemx::check::Handle::lock, lock_index(lock), routine);
}

bool is_accessible(const context::Context& route, const void* address, int pe) {
  return context::pe_in_range(route, pe) && context::is_symmetric(route, address, 1);
}

// Returns null, which the program may use without looking: the launcher tells of it if the PE dies of that.
[[gnu::cold, gnu::noinline]] void* note_no_pointer(const context::Context& route, const void* address, int pe) {
  if (!context::pe_in_range(route, pe)) return nullptr;
  std::atomic<std::int32_t>& noted = runtime::arena().record(api::default_context().my_pe).no_pointer_to;
  const int after = context::world_pe(route, pe) + 1;
  noted.store(context::is_symmetric(route, address, 1) ? after : -after, std::memory_order_relaxed);  // for people
  return nullptr;
}

// Returns null if messages are the only way to the PE's memory.
void* symmetric_pointer(const context::Context& route, const void* address, int pe) {
  if (shmemx::check::is_on() && !context::pe_in_range(route, pe)) context::bad_pe(route, "shmem_ptr", pe);
  if (!is_accessible(route, address, pe) || !context::is_mapped(route, pe)) return note_no_pointer(route, address, pe);
  return context::resolve(route, {"shmem_ptr", "dest"}, address, 0, pe).address;  // no access, so nothing is checked
}

// Completes all operations of the default context, for barriers and locks.
void quiet_default(const char* routine) { onesided::quiet(routine, {&api::default_context()}); }

void quiet_pes(const context::Context& context, const char* routine, const int* target_pes, std::size_t npes) {
  if (npes != 0) api::check_array(routine, "target_pes", target_pes);
  for (std::size_t i = 0; i < npes; ++i) {
    if (!context::pe_in_range(context, target_pes[i])) {
      context::require_initialized(routine);
      shmemx::fatal(routine, "argument 'target_pes[%zu]' is %d, allowed are 0..%u", i, target_pes[i],
                    context.n_pes - 1);
    }
  }
  if (npes == 0) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::size_t i = 0; i < npes && shmemx::check::is_on(); ++i)
    onesided::check_complete(routine, {&context, context::world_pe(context, target_pes[i])});
  if (context::all_mapped) return;
  for (std::size_t i = 0; i < npes; ++i) {
    if (!context::is_mapped(context, target_pes[i]))
      onesided::flush(routine, {&context, context::world_pe(context, target_pes[i])});
  }
}

bool threads_share_locks() { return runtime::thread_level() > SHMEM_THREAD_FUNNELED; }

}  // namespace

extern "C" {

void pshmem_init(void) noexcept {
  static_cast<void>(runtime::initialize({"shmem_init", SHMEM_THREAD_SINGLE, StartedBy::init, false}));
}

int pshmem_init_thread(int requested, int* provided) noexcept {
  if (!runtime::initialize({"shmem_init_thread", requested, StartedBy::init, true})) return 1;
  api::check_result("shmem_init_thread", "provided", provided);
  *provided = runtime::thread_level();
  return 0;
}

void pshmem_finalize(void) noexcept { runtime::finalize("shmem_finalize"); }
void pshmem_query_initialized(int* initialized) noexcept {
  api::check_result("shmem_query_initialized", "initialized", initialized);
  *initialized = runtime::is_initialized() ? 1 : 0;
}
void pshmem_query_thread(int* provided) noexcept {
  api::check_result("shmem_query_thread", "provided", provided);
  *provided = runtime::thread_level();
}
void pshmem_global_exit(int status) noexcept { runtime::global_exit(status); }
int pshmem_my_pe(void) noexcept { return world_or_fail("shmem_my_pe").my_pe; }
int pshmem_n_pes(void) noexcept { return static_cast<int>(world_or_fail("shmem_n_pes").n_pes); }

int pshmem_pe_accessible(int pe) noexcept {
  return context::pe_in_range(world_or_fail("shmem_pe_accessible"), pe) ? 1 : 0;
}

int pshmem_addr_accessible(const void* addr, int pe) noexcept {
  return is_accessible(world_or_fail("shmem_addr_accessible"), addr, pe) ? 1 : 0;
}

void* pshmem_ptr(const void* dest, int pe) noexcept { return symmetric_pointer(world_or_fail("shmem_ptr"), dest, pe); }

void* pshmem_team_ptr(shmem_team_t team, const void* dest, int pe) noexcept {
  const coll::Team* const entry = api::team_or_null(team, "shmem_team_ptr");
  return entry == nullptr ? nullptr : symmetric_pointer(entry->route, dest, pe);
}

void pshmem_info_get_version(int* major, int* minor) noexcept {
  api::check_result("shmem_info_get_version", "major", major);
  api::check_result("shmem_info_get_version", "minor", minor);
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

void pshmem_info_get_name(char* name) noexcept {
  api::check_result("shmem_info_get_name", "name", name);
  std::strcpy(name, SHMEM_VENDOR_STRING);
}

void* pshmem_malloc(size_t size) noexcept { return runtime::allocate({"shmem_malloc", size, alignment_for(size)}); }

void* pshmem_calloc(size_t count, size_t size) noexcept {
  size_t bytes;
  // No memory holds this many bytes. The request is still passed on, so that it fails on all PEs alike.
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = ~size_t{0} - shmemx::kPageBytes;
  return runtime::allocate({"shmem_calloc", bytes, alignment_for(bytes), true});
}

void* pshmem_align(size_t alignment, size_t size) noexcept {
  context::require_initialized("shmem_align");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    shmemx::warn("shmem_align: argument 'alignment' is %zu, allowed are powers of two; nothing is allocated",
                 alignment);
    return nullptr;
  }
  return runtime::allocate({"shmem_align", size, std::max(alignment, sizeof(void*))});
}

void* pshmem_malloc_with_hints(size_t size, long hints) noexcept {
  constexpr long kKnown = SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE;
  if ((hints & ~kKnown) != 0)
    shmemx::debug_line("shmem_malloc_with_hints: hints %#lx are unknown and ignored", hints & ~kKnown);
  // Words that other PEs update get cache lines of their own.
  const bool words = (hints & kKnown) != 0 && size != 0 && size <= ~size_t{0} - shmemx::kCacheLine;
  const size_t bytes = words ? shmemx::round_up(size, shmemx::kCacheLine) : size;
  return runtime::allocate({"shmem_malloc_with_hints", bytes, words ? shmemx::kCacheLine : alignment_for(size)});
}

void* pshmem_realloc(void* ptr, size_t size) noexcept { return runtime::reallocate("shmem_realloc", ptr, size); }
void pshmem_free(void* ptr) noexcept { runtime::release("shmem_free", ptr); }

void shmemx_heap_query(shmemx_heap_info_t* info) noexcept {
  context::require_initialized("shmemx_heap_query");
  api::check_result("shmemx_heap_query", "info", info);
  const auto usage = runtime::allocator().usage();
  *info = {usage.capacity, usage.used, runtime::heap_high_water(), usage.largest_free, usage.live_blocks};
}

std::size_t shmemx_route(int pe, char* route, std::size_t bytes) noexcept {
  const context::Context& world = world_or_fail("shmemx_route");
  if (!context::pe_in_range(world, pe))
    shmemx::fatal("shmemx_route", "argument 'pe' is %d, allowed are 0..%u", pe, world.n_pes - 1);
  if (bytes != 0) api::check_result("shmemx_route", "route", route);
  const std::string text = runtime::describe_route(pe);
  if (bytes != 0) {
    const std::size_t copied = std::min(text.size(), bytes - 1);
    std::memcpy(route, text.data(), copied);
    route[copied] = '\0';
  }
  return text.size();
}

void pshmem_signal_add(uint64_t* sig_addr, uint64_t signal, int pe) noexcept {
  api::update_signal(api::default_context(), {"shmem_signal_add", "sig_addr"}, sig_addr, signal, SHMEM_SIGNAL_ADD, pe);
}
void pshmem_signal_set(uint64_t* sig_addr, uint64_t signal, int pe) noexcept {
  api::update_signal(api::default_context(), {"shmem_signal_set", "sig_addr"}, sig_addr, signal, SHMEM_SIGNAL_SET, pe);
}
void pshmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) noexcept {
  api::update_signal(api::checked_context(ctx, "shmem_ctx_signal_add"), {"shmem_ctx_signal_add", "sig_addr"}, sig_addr,
                     signal, SHMEM_SIGNAL_ADD, pe);
}
void pshmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) noexcept {
  api::update_signal(api::checked_context(ctx, "shmem_ctx_signal_set"), {"shmem_ctx_signal_set", "sig_addr"}, sig_addr,
                     signal, SHMEM_SIGNAL_SET, pe);
}

uint64_t pshmem_signal_fetch(const uint64_t* sig_addr) noexcept {
  api::check_waitable("shmem_signal_fetch", "sig_addr", sig_addr, sizeof *sig_addr);
  const uint64_t value = shmemx::sync::load(sig_addr);
  api::note_read("shmem_signal_fetch", sig_addr, value);
  return value;
}

uint64_t pshmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_value) noexcept {
  api::check_comparison("shmem_signal_wait_until", cmp);
  api::check_waitable("shmem_signal_wait_until", "sig_addr", sig_addr, sizeof *sig_addr);
  // Returns the value that satisfied the comparison, not a later one.
  uint64_t seen = 0;
  const auto done = [&] { return shmemx::sync::compares(seen = shmemx::sync::load(sig_addr), cmp, cmp_value); };
  const auto awaited = [&] { return shmemx::bootstrap::awaited_word(sig_addr, cmp, cmp_value, seen); };
  shmemx::progress::wait_for("shmem_signal_wait_until", shmemx::progress::Described{done, awaited});
  return seen;
}

void pshmem_fence(void) noexcept { onesided::fence("shmem_fence", api::default_context()); }
void pshmem_quiet(void) noexcept { quiet_default("shmem_quiet"); }
// SHMEM_CTX_INVALID is a no-op; any other invalid handle ends the job.
void pshmem_ctx_fence(shmem_ctx_t ctx) noexcept {
  const context::Context* const entry = api::context_or_null(ctx, "shmem_ctx_fence");
  if (entry == nullptr) return;
  shmemx::check::check_owner("shmem_ctx_fence", onesided::index_of(*entry));
  onesided::fence("shmem_ctx_fence", *entry);
}
void pshmem_ctx_quiet(shmem_ctx_t ctx) noexcept {
  const context::Context* const entry = api::context_or_null(ctx, "shmem_ctx_quiet");
  if (entry == nullptr) return;
  shmemx::check::check_owner("shmem_ctx_quiet", onesided::index_of(*entry));
  onesided::quiet("shmem_ctx_quiet", {entry});
}
void pshmem_pe_quiet(const int* target_pes, size_t npes) noexcept {
  quiet_pes(api::default_context(), "shmem_pe_quiet", target_pes, npes);
}
void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int* target_pes, size_t npes) noexcept {
  quiet_pes(api::checked_context(ctx, "shmem_ctx_pe_quiet"), "shmem_ctx_pe_quiet", target_pes, npes);
}

void pshmem_barrier_all(void) noexcept {
  context::require_initialized("shmem_barrier_all");
  const RoutineSpan span("shmem_barrier_all", Family::collective);
  quiet_default("shmem_barrier_all");
  meet(coll::team_table[coll::kWorldTeam], "shmem_barrier_all", coll::CallFamily::barrier);
}
void pshmem_sync_all(void) noexcept { sync_world("shmem_sync_all"); }

int pshmem_team_sync(shmem_team_t team) noexcept {
  const RoutineSpan span("shmem_team_sync", Family::collective);
  coll::Team& entry = api::checked_team(team, "shmem_team_sync");
  meet(entry, "shmem_team_sync", coll::CallFamily::sync);
  return 0;
}

void pshmem_barrier(int start, int log_stride, int size, long* psync) noexcept {
  quiet_default("shmem_barrier");
  api::active_sync("shmem_barrier", coll::CallFamily::barrier, {start, log_stride, size, psync});
}
void pshmem_sync(int start, int log_stride, int size, long* psync) noexcept {
  api::active_sync("shmem_sync", coll::CallFamily::sync, {start, log_stride, size, psync});
}

void pshmem_set_lock(long* lock) noexcept {
  shmemx::sync::set_lock(world_or_fail("shmem_set_lock"), "shmem_set_lock", lock, threads_share_locks());
  note_lock("shmem_set_lock", lock);
}
void pshmem_clear_lock(long* lock) noexcept {
  quiet_default("shmem_clear_lock");
  shmemx::check::forget_handle(shmemx::check::Handle::lock, lock_index(lock));
  shmemx::sync::clear_lock(world_or_fail("shmem_clear_lock"), "shmem_clear_lock", lock);
}
int pshmem_test_lock(long* lock) noexcept {
  if (!shmemx::sync::try_lock(world_or_fail("shmem_test_lock"), "shmem_test_lock", lock)) return 1;
  note_lock("shmem_test_lock", lock);
  return 0;
}

void pshmem_pcontrol(int level, ...) noexcept { runtime::control_observing(level); }

// The oldest names, which have no pshmem_ form.
void start_pes(int) noexcept {
  static_cast<void>(runtime::initialize({"start_pes", SHMEM_THREAD_SINGLE, StartedBy::start_pes, false}));
}
int _my_pe(void) noexcept { return pshmem_my_pe(); }
int _num_pes(void) noexcept { return pshmem_n_pes(); }
void* shmalloc(size_t size) noexcept { return pshmem_malloc(size); }
void shfree(void* ptr) noexcept { pshmem_free(ptr); }
void* shrealloc(void* ptr, size_t size) noexcept { return pshmem_realloc(ptr, size); }
void* shmemalign(size_t alignment, size_t size) noexcept { return pshmem_align(alignment, size); }

}  // extern "C"

SHMEMX_ALIAS(shmem_init)
SHMEMX_ALIAS(shmem_init_thread)
SHMEMX_ALIAS(shmem_finalize)
SHMEMX_ALIAS(shmem_query_initialized)
SHMEMX_ALIAS(shmem_query_thread)
SHMEMX_ALIAS(shmem_global_exit)
SHMEMX_ALIAS(shmem_my_pe)
SHMEMX_ALIAS(shmem_n_pes)
SHMEMX_ALIAS(shmem_pe_accessible)
SHMEMX_ALIAS(shmem_addr_accessible)
SHMEMX_ALIAS(shmem_ptr)
SHMEMX_ALIAS(shmem_team_ptr)
SHMEMX_ALIAS(shmem_info_get_version)
SHMEMX_ALIAS(shmem_info_get_name)
SHMEMX_ALIAS(shmem_malloc)
SHMEMX_ALIAS(shmem_calloc)
SHMEMX_ALIAS(shmem_align)
SHMEMX_ALIAS(shmem_malloc_with_hints)
SHMEMX_ALIAS(shmem_realloc)
SHMEMX_ALIAS(shmem_free)
SHMEMX_ALIAS(shmem_signal_add)
SHMEMX_ALIAS(shmem_signal_set)
SHMEMX_ALIAS(shmem_ctx_signal_add)
SHMEMX_ALIAS(shmem_ctx_signal_set)
SHMEMX_ALIAS(shmem_signal_fetch)
SHMEMX_ALIAS(shmem_signal_wait_until)
SHMEMX_ALIAS(shmem_fence)
SHMEMX_ALIAS(shmem_quiet)
SHMEMX_ALIAS(shmem_ctx_fence)
SHMEMX_ALIAS(shmem_ctx_quiet)
SHMEMX_ALIAS(shmem_pe_quiet)
SHMEMX_ALIAS(shmem_ctx_pe_quiet)
SHMEMX_ALIAS(shmem_barrier_all)
SHMEMX_ALIAS(shmem_sync_all)
SHMEMX_ALIAS(shmem_team_sync)
SHMEMX_ALIAS(shmem_barrier)
SHMEMX_ALIAS(shmem_sync)
SHMEMX_ALIAS(shmem_set_lock)
SHMEMX_ALIAS(shmem_clear_lock)
SHMEMX_ALIAS(shmem_test_lock)
SHMEMX_ALIAS(shmem_pcontrol)
