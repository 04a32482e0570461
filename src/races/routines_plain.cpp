// Routines without a type in their name.
#include <shmem.h>

#include "races/blocks.hpp"
#include "races/life.hpp"
#include "races/team.hpp"

#undef shmem_sync  // generics of C++ and C11
#undef shmem_signal_add
#undef shmem_signal_set
#undef shmem_wait_until

namespace shmemx::races {
namespace {

// A barrier of the world, with quiet on the default context or without.
enum class Completes : bool { stores, all };
template <class Real>
auto meet(Routine& routine, const TeamPlace& team, Completes completes, Real real) noexcept {
  if (completes == Completes::all) note_quiet(routine, SHMEM_CTX_DEFAULT, kAllPes);
  Collective call(routine, team);
  return call_then(real, [&] { call.leave(Waits::for_all); });
}

// Members may store to the work arrays of the others from their calls on. The same set may use them again at once.
TeamPlace set_with_work(Routine& routine, const ActiveSet& set, std::size_t size) noexcept {
  if (!routine.is_watched()) return {};
  const TeamPlace place = place_in(set);
  note_contribution(routine, place, {set.work, size * sizeof(long)});
  return place;
}

TeamPlace world(const Routine& routine) noexcept {
  return routine.is_watched() ? place_in(SHMEM_TEAM_WORLD) : TeamPlace{};
}

template <class Real>
void* allocate(Routine& routine, std::size_t bytes, Real real) noexcept {
  if (bytes == 0 || !routine.is_watched()) return real();
  void* const block = meet(routine, world(routine), Completes::all, real);
  Symmetric place{};
  if (job.locate(reinterpret_cast<std::uintptr_t>(block), place)) add_block({place.offset, bytes, routine.where()});
  return block;
}

template <class Real>
void release(Routine& routine, void* block, Real real) noexcept {
  if (block == nullptr || !routine.is_watched()) return real();
  Symmetric place{};
  if (job.locate(reinterpret_cast<std::uintptr_t>(block), place)) remove_block(place.offset);
  meet(routine, world(routine), Completes::all, real);
}

template <class Real>
void* resize(Routine& routine, void* block, std::size_t bytes, Real real) noexcept {
  if ((block == nullptr && bytes == 0) || !routine.is_watched()) return real();
  void* const now = meet(routine, world(routine), Completes::all, real);
  Symmetric place{};
  if (now == nullptr && bytes != 0) return now;
  if (block != nullptr && job.locate(reinterpret_cast<std::uintptr_t>(block), place)) remove_block(place.offset);
  if (job.locate(reinterpret_cast<std::uintptr_t>(now), place)) add_block({place.offset, bytes, routine.where()});
  return now;
}

// A lock is one object in the job, whoever holds it.
SyncWord* lock_word(const Routine& routine, const void* lock) noexcept {
  Symmetric place{};
  if (!routine.is_watched() || !job.locate(reinterpret_cast<std::uintptr_t>(lock), place)) return nullptr;
  return &job.words().at(Symmetric{kMostPes, place.window, place.offset}.key());
}
void acquire_lock(const Routine& routine, const void* lock) noexcept {
  SyncWord* const word = lock_word(routine, lock);
  if (word == nullptr) return;
  word->lock.lock();
  routine.thread().acquire(word->clock());
  word->lock.unlock();
}
void release_lock(Routine& routine, const void* lock) noexcept {
  note_quiet(routine, SHMEM_CTX_DEFAULT, kAllPes);
  SyncWord* const word = lock_word(routine, lock);
  if (word == nullptr) return;
  word->lock.lock();
  word->clock().join(*routine.thread().clock, job.n_slots());
  word->lock.unlock();
  routine.thread().advance();
}

void split(shmem_team_t parent, shmem_team_t* x, shmem_team_t* y) noexcept {
  if (x != nullptr) note_team(parent, *x, 0);
  if (y != nullptr) note_team(parent, *y, 1);
  note_split(parent);
}

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the standard's

#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]
#define SHMEMX_ROUTINE_HERE(NAME) Routine routine({NAME, __builtin_return_address(0)})

// ---- Set-up ----
SHMEMX_EXPORT void shmem_init(void) {
  {
    const StartOfLibrary start;
    pshmem_init();
  }
  begin_watching();
}
SHMEMX_EXPORT int shmem_init_thread(int requested, int* provided) {
  int result = 0;
  {
    const StartOfLibrary start;
    result = pshmem_init_thread(requested, provided);
  }
  if (result == 0) begin_watching();
  return result;
}
SHMEMX_EXPORT void start_pes(int npes) {
  const auto real = reinterpret_cast<void (*)(int)>(next_definition("start_pes"));
  {
    const StartOfLibrary start;
    real(npes);
  }
  begin_watching();
}
SHMEMX_EXPORT void shmem_finalize(void) {
  {
    SHMEMX_ROUTINE_HERE("shmem_finalize");
    meet(routine, world(routine), Completes::all, [] {});
    end_watching();
  }
  pshmem_finalize();
}

// ---- Memory ----
SHMEMX_EXPORT void* shmem_malloc(size_t size) {
  SHMEMX_ROUTINE_HERE("shmem_malloc");
  return allocate(routine, size, [=] { return pshmem_malloc(size); });
}
SHMEMX_EXPORT void* shmem_calloc(size_t count, size_t size) {
  SHMEMX_ROUTINE_HERE("shmem_calloc");
  return allocate(routine, count * size, [=] { return pshmem_calloc(count, size); });
}
SHMEMX_EXPORT void* shmem_align(size_t alignment, size_t size) {
  SHMEMX_ROUTINE_HERE("shmem_align");
  return allocate(routine, size, [=] { return pshmem_align(alignment, size); });
}
SHMEMX_EXPORT void* shmem_malloc_with_hints(size_t size, long hints) {
  SHMEMX_ROUTINE_HERE("shmem_malloc_with_hints");
  return allocate(routine, size, [=] { return pshmem_malloc_with_hints(size, hints); });
}
SHMEMX_EXPORT void* shmem_realloc(void* block, size_t size) {
  SHMEMX_ROUTINE_HERE("shmem_realloc");
  return resize(routine, block, size, [=] { return pshmem_realloc(block, size); });
}
SHMEMX_EXPORT void shmem_free(void* block) {
  SHMEMX_ROUTINE_HERE("shmem_free");
  release(routine, block, [=] { pshmem_free(block); });
}
SHMEMX_EXPORT void* shmalloc(size_t size) {
  SHMEMX_ROUTINE_HERE("shmalloc");
  return allocate(routine, size, [=] { return pshmem_malloc(size); });
}
SHMEMX_EXPORT void* shmemalign(size_t alignment, size_t size) {
  SHMEMX_ROUTINE_HERE("shmemalign");
  return allocate(routine, size, [=] { return pshmem_align(alignment, size); });
}
SHMEMX_EXPORT void* shrealloc(void* block, size_t size) {
  SHMEMX_ROUTINE_HERE("shrealloc");
  return resize(routine, block, size, [=] { return pshmem_realloc(block, size); });
}
SHMEMX_EXPORT void shfree(void* block) {
  SHMEMX_ROUTINE_HERE("shfree");
  release(routine, block, [=] { pshmem_free(block); });
}

// ---- Synchronisation ----
SHMEMX_EXPORT void shmem_barrier_all(void) {
  SHMEMX_ROUTINE_HERE("shmem_barrier_all");
  meet(routine, world(routine), Completes::all, [] { pshmem_barrier_all(); });
}
SHMEMX_EXPORT void shmem_sync_all(void) {
  SHMEMX_ROUTINE_HERE("shmem_sync_all");
  meet(routine, world(routine), Completes::stores, [] { pshmem_sync_all(); });
}
SHMEMX_EXPORT int shmem_team_sync(shmem_team_t team) {
  SHMEMX_ROUTINE_HERE("shmem_team_sync");
  return meet(routine, routine.is_watched() ? place_in(team) : TeamPlace{}, Completes::stores,
              [=] { return pshmem_team_sync(team); });
}
SHMEMX_EXPORT void shmem_barrier(int first, int log_stride, int size, long* work) {
  SHMEMX_ROUTINE_HERE("shmem_barrier");
  meet(routine, set_with_work(routine, {first, log_stride, size, work}, SHMEM_BARRIER_SYNC_SIZE), Completes::all,
       [=] { pshmem_barrier(first, log_stride, size, work); });
}
SHMEMX_EXPORT void shmem_sync(int first, int log_stride, int size, long* work) {
  SHMEMX_ROUTINE_HERE("shmem_sync");
  meet(routine, set_with_work(routine, {first, log_stride, size, work}, SHMEM_SYNC_SIZE), Completes::stores,
       [=] { pshmem_sync(first, log_stride, size, work); });
}

// ---- Order ----
SHMEMX_EXPORT void shmem_fence(void) {
  SHMEMX_ROUTINE_HERE("shmem_fence");
  note_fence(routine, SHMEM_CTX_DEFAULT);
  pshmem_fence();
}
SHMEMX_EXPORT void shmem_ctx_fence(shmem_ctx_t ctx) {
  SHMEMX_ROUTINE_HERE("shmem_ctx_fence");
  note_fence(routine, ctx);
  pshmem_ctx_fence(ctx);
}
SHMEMX_EXPORT void shmem_quiet(void) {
  SHMEMX_ROUTINE_HERE("shmem_quiet");
  pshmem_quiet();
  note_quiet(routine, SHMEM_CTX_DEFAULT, kAllPes);
}
SHMEMX_EXPORT void shmem_ctx_quiet(shmem_ctx_t ctx) {
  SHMEMX_ROUTINE_HERE("shmem_ctx_quiet");
  pshmem_ctx_quiet(ctx);
  note_quiet(routine, ctx, kAllPes);
}
SHMEMX_EXPORT void shmem_pe_quiet(const int* pes, size_t n) {
  SHMEMX_ROUTINE_HERE("shmem_pe_quiet");
  pshmem_pe_quiet(pes, n);
  for (size_t i = 0; i < n; ++i) note_quiet(routine, SHMEM_CTX_DEFAULT, pes[i]);
}
SHMEMX_EXPORT void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int* pes, size_t n) {
  SHMEMX_ROUTINE_HERE("shmem_ctx_pe_quiet");
  pshmem_ctx_pe_quiet(ctx, pes, n);
  for (size_t i = 0; i < n; ++i) note_quiet(routine, ctx, pes[i]);
}
SHMEMX_EXPORT void shmem_ctx_destroy(shmem_ctx_t ctx) {
  SHMEMX_ROUTINE_HERE("shmem_ctx_destroy");
  note_quiet(routine, ctx, kAllPes);
  if (routine.is_watched()) forget_context(ctx);
  pshmem_ctx_destroy(ctx);
}

// ---- Teams ----
SHMEMX_EXPORT int shmem_team_split_strided(shmem_team_t parent, int start, int stride, int size,
                                           const shmem_team_config_t* config, long mask, shmem_team_t* team) {
  SHMEMX_ROUTINE_HERE("shmem_team_split_strided");
  const auto real = [=] { return pshmem_team_split_strided(parent, start, stride, size, config, mask, team); };
  if (!routine.is_watched()) return real();
  const int result = meet(routine, place_in(parent), Completes::stores, real);
  if (result == 0) split(parent, team, nullptr);
  return result;
}
SHMEMX_EXPORT int shmem_team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* x_config, long x_mask,
                                      shmem_team_t* x_team, const shmem_team_config_t* y_config, long y_mask,
                                      shmem_team_t* y_team) {
  SHMEMX_ROUTINE_HERE("shmem_team_split_2d");
  const auto real = [=] {
    return pshmem_team_split_2d(parent, xrange, x_config, x_mask, x_team, y_config, y_mask, y_team);
  };
  if (!routine.is_watched()) return real();
  const int result = meet(routine, place_in(parent), Completes::stores, real);
  if (result == 0) split(parent, x_team, y_team);
  return result;
}
SHMEMX_EXPORT void shmem_team_destroy(shmem_team_t team) {
  SHMEMX_ROUTINE_HERE("shmem_team_destroy");
  if (routine.is_watched()) forget_team(team);
  pshmem_team_destroy(team);
}

// ---- Signals ----
SHMEMX_EXPORT void shmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t* address, uint64_t signal, int pe) {
  SHMEMX_ROUTINE_HERE("shmem_ctx_signal_add");
  note_signal(routine, {ctx, pe, {nullptr, 0}, {nullptr, 0}}, {address});
  pshmem_ctx_signal_add(ctx, address, signal, pe);
}
SHMEMX_EXPORT void shmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t* address, uint64_t signal, int pe) {
  SHMEMX_ROUTINE_HERE("shmem_ctx_signal_set");
  note_signal(routine, {ctx, pe, {nullptr, 0}, {nullptr, 0}}, {address});
  pshmem_ctx_signal_set(ctx, address, signal, pe);
}
SHMEMX_EXPORT void shmem_signal_add(uint64_t* address, uint64_t signal, int pe) {
  SHMEMX_ROUTINE_HERE("shmem_signal_add");
  note_signal(routine, {SHMEM_CTX_DEFAULT, pe, {nullptr, 0}, {nullptr, 0}}, {address});
  pshmem_signal_add(address, signal, pe);
}
SHMEMX_EXPORT void shmem_signal_set(uint64_t* address, uint64_t signal, int pe) {
  SHMEMX_ROUTINE_HERE("shmem_signal_set");
  note_signal(routine, {SHMEM_CTX_DEFAULT, pe, {nullptr, 0}, {nullptr, 0}}, {address});
  pshmem_signal_set(address, signal, pe);
}
SHMEMX_EXPORT uint64_t shmem_signal_fetch(const uint64_t* address) {
  SHMEMX_ROUTINE_HERE("shmem_signal_fetch");
  note_local(routine, {address, sizeof *address}, Kind::wait);
  const uint64_t value = pshmem_signal_fetch(address);
  note_satisfied(routine, address, sizeof *address);
  return value;
}
SHMEMX_EXPORT uint64_t shmem_signal_wait_until(uint64_t* address, int cmp, uint64_t value) {
  SHMEMX_ROUTINE_HERE("shmem_signal_wait_until");
  note_wait(routine, {address, sizeof *address});
  const uint64_t seen = pshmem_signal_wait_until(address, cmp, value);
  note_satisfied(routine, address, sizeof *address, condition(SHMEM_CMP_EQ, seen));
  return seen;
}

// ---- Locks ----
SHMEMX_EXPORT void shmem_set_lock(long* lock) {
  SHMEMX_ROUTINE_HERE("shmem_set_lock");
  pshmem_set_lock(lock);
  acquire_lock(routine, lock);
}
SHMEMX_EXPORT void shmem_clear_lock(long* lock) {
  SHMEMX_ROUTINE_HERE("shmem_clear_lock");
  release_lock(routine, lock);
  pshmem_clear_lock(lock);
}
SHMEMX_EXPORT int shmem_test_lock(long* lock) {
  SHMEMX_ROUTINE_HERE("shmem_test_lock");
  const int result = pshmem_test_lock(lock);
  if (result == 0) acquire_lock(routine, lock);
  return result;
}
