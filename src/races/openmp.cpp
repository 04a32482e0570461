// OpenMP as GCC's libgomp serves it: regions, barriers, locks, tasks, in front of it. Which iterations a thread gets
// orders nothing.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "races/life.hpp"
#include "races/local_words.hpp"
#include "races/spin_lock.hpp"

namespace shmemx::races {
namespace {

// Words of a parallel, which its address names.
struct Parallel;
enum class Word : std::uint64_t { odd_barrier, fork, join, even_barrier, tasks, ordered, copy, depend };
thread_local Parallel* parallel = nullptr;
thread_local unsigned n_barriers = 0;  // of the parallel that this thread has come to

std::uint64_t word_of(const void* of, Word word) noexcept {
  return (reinterpret_cast<std::uintptr_t>(of) << 3 | static_cast<std::uint64_t>(word)) ^ std::uint64_t{1} << 62;
}
void release(Word word) noexcept {
  if (parallel != nullptr) release_word(word_of(parallel, word));
}
void acquire(Word word) noexcept {
  if (parallel != nullptr) acquire_word(word_of(parallel, word));
}

using Outlined = void(void*);

// A parallel parallel from its begin to its end.
struct Parallel {
  Outlined* outlined;
  void* data;
};

void run_members(void* given) noexcept {
  auto* const mine = static_cast<Parallel*>(given);
  Parallel* const outer = std::exchange(parallel, mine);
  const unsigned outer_barriers = std::exchange(n_barriers, 0);
  acquire(Word::fork);
  mine->outlined(mine->data);
  release(Word::join);
  parallel = outer;
  n_barriers = outer_barriers;
}

void acquire_all_of(const Parallel& ended) noexcept {
  acquire_word(word_of(&ended, Word::join));
  acquire_word(word_of(&ended, Word::tasks));  // they may run when their members have ended
}

// Calls real(outlined, data) for a parallel.
template <class Real>
void run_parallel(Outlined* outlined, void* data, Real real) noexcept {
  Parallel mine{outlined, data};
  release_word(word_of(&mine, Word::fork));
  real(run_members, &mine);
  acquire_all_of(mine);
}

// Two barriers in turn: a thread may come to the next one before others have left this one, and is ahead of those.
template <class Real>
void meet(Real real) noexcept {
  const Word barrier = n_barriers++ % 2 == 0 ? Word::even_barrier : Word::odd_barrier;
  release(barrier);
  real();
  acquire(barrier);
  acquire(Word::tasks);
}

// A task's arguments, with what stands in front of them.
struct Task {
  Outlined* outlined;
  Parallel* of;
  void* data;                  // where the program has the arguments
  void (*copy)(void*, void*);  // null: their bytes are copied
  std::size_t header;          // bytes of this
  bool has_dependences;
};
std::uint64_t task_word(const Parallel* of) noexcept { return word_of(of, Word::tasks); }

void run_task(void* given) noexcept {
  const auto* const task = static_cast<const Task*>(given);
  Parallel* const outer = parallel;
  parallel = task->of;
  acquire_word(word_of(task->of, Word::copy));
  if (task->has_dependences) acquire_word(word_of(task->of, Word::depend));
  task->outlined(static_cast<char*>(given) + task->header);
  if (task->has_dependences) release_word(word_of(task->of, Word::depend));
  release_word(task_word(task->of));
  parallel = outer;
}
void copy_task(void* to, void* from) noexcept {
  const Task task = *static_cast<const Task*>(from);
  *static_cast<Task*>(to) = task;
  task.copy(static_cast<char*>(to) + task.header, task.data);
}

constexpr unsigned kDepends = 8;  // a flag of GOMP_task

// A taskloop's tasks get their bounds at the begin of their arguments, so nothing can stand in front of these, as it
// does for other tasks. The function that libgomp calls tells them apart: there is one for each of a number of loops.
struct TaskLoop {
  Outlined* outlined = nullptr;
  Parallel* of = nullptr;
  int users = 0;  // calls of the loop that have not returned; one more for loops whose tasks may outlive the call
};
constexpr std::size_t kTaskLoops = 64;
std::array<TaskLoop, kTaskLoops> task_loops;
SpinLock task_loops_lock;

void run_task_of_loop(std::size_t index, void* data) noexcept {
  const TaskLoop loop = task_loops[index];
  Parallel* const outer = parallel;
  parallel = loop.of;
  acquire_word(word_of(loop.of, Word::copy));
  loop.outlined(data);
  release_word(task_word(loop.of));
  parallel = outer;
}
template <std::size_t Index>
void run_task_of(void* data) noexcept {
  run_task_of_loop(Index, data);
}
constexpr auto kRunTaskOf = []<std::size_t... Index>(std::index_sequence<Index...>) {
  return std::array<Outlined*, kTaskLoops>{run_task_of<Index>...};
}
(std::make_index_sequence<kTaskLoops>());

// Returns the index for the loop; kTaskLoops if there is none left, so that its tasks are not ordered.
std::size_t begin_task_loop(Outlined* outlined, Parallel* of) noexcept {
  const std::scoped_lock lock(task_loops_lock);
  std::size_t free = kTaskLoops;
  for (std::size_t i = 0; i < kTaskLoops; ++i) {
    TaskLoop& loop = task_loops[i];
    if (loop.users == 0) {
      free = i;
    } else if (loop.outlined == outlined && loop.of == of) {
      ++loop.users;
      return i;
    }
  }
  if (free != kTaskLoops) task_loops[free] = {outlined, of, 1};
  return free;
}
void end_task_loop(std::size_t index) noexcept {
  const std::scoped_lock lock(task_loops_lock);
  --task_loops[index].users;
}

// libgomp reads the reductions from a parallel's data, which therefore stay as they are, as a taskloop's do.
template <std::size_t Index>
void run_members_of(void*) noexcept {
  run_members(task_loops[Index].of);
}
constexpr auto kRunMembersOf = []<std::size_t... Index>(std::index_sequence<Index...>) {
  return std::array<Outlined*, kTaskLoops>{run_members_of<Index>...};
}
(std::make_index_sequence<kTaskLoops>());

// Calls real(function) for a parallel.
template <class Real>
unsigned run_with_reductions(Outlined* outlined, void* data, Real real) noexcept {
  Parallel mine{outlined, data};
  const std::size_t index = begin_task_loop(outlined, &mine);
  release_word(word_of(&mine, Word::fork));
  const unsigned threads = real(index == kTaskLoops ? outlined : kRunMembersOf[index]);
  acquire_all_of(mine);
  if (index != kTaskLoops) end_task_loop(index);
  return threads;
}

constexpr unsigned kNoGroup = 1U << 11;  // a flag of GOMP_taskloop: it returns before its tasks have run

// Calls real(function) for a loop whose tasks run outlined().
template <class Real>
void run_task_loop(Outlined* outlined, unsigned flags, Real real) noexcept {
  const std::size_t index = begin_task_loop(outlined, parallel);
  release_word(word_of(parallel, Word::copy));
  real(index == kTaskLoops ? outlined : kRunTaskOf[index]);
  if ((flags & kNoGroup) != 0) return;
  acquire_word(task_word(parallel));
  if (index != kTaskLoops) end_task_loop(index);
}

// Where all calls of a program are defined here, linkers leave libgomp out.
void* definition_in_libgomp(const char* name) noexcept {
  static void* const libgomp = ::dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
  return libgomp == nullptr ? nullptr : ::dlsym(libgomp, name);
}
template <class Function>
Function* next(Function*& kept, const char* name) noexcept {
  if (kept != nullptr) return kept;
  void* const found = next_definition(name);
  kept = reinterpret_cast<Function*>(found != nullptr ? found : definition_in_libgomp(name));
  return kept;
}

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are libgomp's

// clang-format off
#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]
#define SHMEMX_NEXT(R, NAME, ...) \
  next([]() -> R (*&)(__VA_ARGS__) { static R (*kept)(__VA_ARGS__) = nullptr; return kept; }(), #NAME)

// ---- Regions ----
SHMEMX_EXPORT void GOMP_parallel(Outlined* outlined, void* data, unsigned threads, unsigned flags) {
  run_parallel(outlined, data, [&](Outlined* run, void* mine) {
    SHMEMX_NEXT(void, GOMP_parallel, Outlined*, void*, unsigned, unsigned)(run, mine, threads, flags);
  });
}
SHMEMX_EXPORT unsigned GOMP_parallel_reductions(Outlined* outlined, void* data, unsigned threads, unsigned flags) {
  const auto real = SHMEMX_NEXT(unsigned, GOMP_parallel_reductions, Outlined*, void*, unsigned, unsigned);
  return run_with_reductions(outlined, data, [=](Outlined* run) { return real(run, data, threads, flags); });
}
SHMEMX_EXPORT void GOMP_parallel_sections(Outlined* outlined, void* data, unsigned threads, unsigned count, unsigned flags) {
  run_parallel(outlined, data, [&](Outlined* run, void* mine) {
    SHMEMX_NEXT(void, GOMP_parallel_sections, Outlined*, void*, unsigned, unsigned, unsigned)(run, mine, threads, count, flags);
  });
}
#define SHMEMX_LOOP(NAME)                                                                                             \
  SHMEMX_EXPORT void NAME(Outlined* outlined, void* data, unsigned threads, long start, long end, long step, long chunk,      \
                          unsigned flags) {                                                                           \
    run_parallel(outlined, data, [&](Outlined* run, void* mine) {                                                             \
      SHMEMX_NEXT(void, NAME, Outlined*, void*, unsigned, long, long, long, long, unsigned)                               \
      (run, mine, threads, start, end, step, chunk, flags);                                                           \
    });                                                                                                               \
  }
SHMEMX_LOOP(GOMP_parallel_loop_static)
SHMEMX_LOOP(GOMP_parallel_loop_dynamic)
SHMEMX_LOOP(GOMP_parallel_loop_guided)
SHMEMX_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
SHMEMX_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
#define SHMEMX_LOOP_AT_RUN_TIME(NAME)                                                                                 \
  SHMEMX_EXPORT void NAME(Outlined* outlined, void* data, unsigned threads, long start, long end, long step, unsigned flags) { \
    run_parallel(outlined, data, [&](Outlined* run, void* mine) {                                                             \
      SHMEMX_NEXT(void, NAME, Outlined*, void*, unsigned, long, long, long, unsigned)                                     \
      (run, mine, threads, start, end, step, flags);                                                                  \
    });                                                                                                               \
  }
SHMEMX_LOOP_AT_RUN_TIME(GOMP_parallel_loop_runtime)
SHMEMX_LOOP_AT_RUN_TIME(GOMP_parallel_loop_nonmonotonic_runtime)
SHMEMX_LOOP_AT_RUN_TIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

// ---- Barriers, also those at the ends of loops and sections ----
#define SHMEMX_BARRIER(NAME) \
  SHMEMX_EXPORT void NAME(void) { meet([] { SHMEMX_NEXT(void, NAME, void)(); }); }
#define SHMEMX_BARRIER_CANCEL(NAME)                                                  \
  SHMEMX_EXPORT bool NAME(void) {                                                    \
    bool result = false;                                                             \
    meet([&] { result = SHMEMX_NEXT(bool, NAME, void)(); });                         \
    return result;                                                                   \
  }
SHMEMX_BARRIER(GOMP_barrier)
SHMEMX_BARRIER(GOMP_loop_end)
SHMEMX_BARRIER(GOMP_sections_end)
SHMEMX_BARRIER_CANCEL(GOMP_barrier_cancel)
SHMEMX_BARRIER_CANCEL(GOMP_loop_end_cancel)
SHMEMX_BARRIER_CANCEL(GOMP_sections_end_cancel)

// ---- Sections of one thread at a time ----
#define SHMEMX_ENTER(NAME, WORD) \
  SHMEMX_EXPORT void NAME(void) { SHMEMX_NEXT(void, NAME, void)(); acquire_word(WORD); }
#define SHMEMX_EXIT(NAME, WORD) \
  SHMEMX_EXPORT void NAME(void) { release_word(WORD); SHMEMX_NEXT(void, NAME, void)(); }
namespace { const char critical = 0, atomic = 0; }
SHMEMX_ENTER(GOMP_critical_start, reinterpret_cast<std::uintptr_t>(&critical))
SHMEMX_EXIT(GOMP_critical_end, reinterpret_cast<std::uintptr_t>(&critical))
SHMEMX_ENTER(GOMP_atomic_start, reinterpret_cast<std::uintptr_t>(&atomic))
SHMEMX_EXIT(GOMP_atomic_end, reinterpret_cast<std::uintptr_t>(&atomic))
SHMEMX_ENTER(GOMP_ordered_start, word_of(parallel, Word::ordered))
SHMEMX_EXIT(GOMP_ordered_end, word_of(parallel, Word::ordered))
SHMEMX_EXPORT void GOMP_critical_name_start(void** name) {
  SHMEMX_NEXT(void, GOMP_critical_name_start, void**)(name);
  acquire_word(reinterpret_cast<std::uintptr_t>(name));
}
SHMEMX_EXPORT void GOMP_critical_name_end(void** name) {
  release_word(reinterpret_cast<std::uintptr_t>(name));
  SHMEMX_NEXT(void, GOMP_critical_name_end, void**)(name);
}
SHMEMX_EXPORT void* GOMP_single_copy_start(void) {
  void* const data = SHMEMX_NEXT(void*, GOMP_single_copy_start, void)();
  if (data != nullptr) acquire(Word::copy);
  return data;
}
SHMEMX_EXPORT void GOMP_single_copy_end(void* data) {
  release(Word::copy);
  SHMEMX_NEXT(void, GOMP_single_copy_end, void*)(data);
}

// ---- Locks ----
#define SHMEMX_SET(NAME) \
  SHMEMX_EXPORT void NAME(void* lock) { SHMEMX_NEXT(void, NAME, void*)(lock); acquire_word(reinterpret_cast<std::uintptr_t>(lock)); }
#define SHMEMX_UNSET(NAME) \
  SHMEMX_EXPORT void NAME(void* lock) { release_word(reinterpret_cast<std::uintptr_t>(lock)); SHMEMX_NEXT(void, NAME, void*)(lock); }
#define SHMEMX_TEST(NAME)                                                         \
  SHMEMX_EXPORT int NAME(void* lock) {                                            \
    const int result = SHMEMX_NEXT(int, NAME, void*)(lock);                       \
    if (result != 0) acquire_word(reinterpret_cast<std::uintptr_t>(lock));        \
    return result;                                                                \
  }
SHMEMX_SET(omp_set_lock)
SHMEMX_SET(omp_set_nest_lock)
SHMEMX_UNSET(omp_unset_lock)
SHMEMX_UNSET(omp_unset_nest_lock)
SHMEMX_TEST(omp_test_lock)
SHMEMX_TEST(omp_test_nest_lock)

// ---- Tasks: what they have done is known after taskwait, the end of a taskgroup, or a barrier ----
SHMEMX_EXPORT void GOMP_task(Outlined* outlined, void* data, void (*copy)(void*, void*), long bytes, long alignment, bool condition,
                             unsigned flags, void** depend, int priority, void* detach) {
  const auto aligned = static_cast<std::size_t>(alignment > 16 ? alignment : 16);
  const std::size_t header = (sizeof(Task) + aligned - 1) / aligned * aligned;
  const std::size_t all = header + static_cast<std::size_t>(bytes);
  alignas(64) char few[1024];
  const bool is_small = all <= sizeof few && aligned <= 64;
  char* const block = is_small ? few : static_cast<char*>(::operator new(all, std::align_val_t{aligned}));
  new (block) Task{outlined, parallel, data, copy, header, (flags & kDepends) != 0};
  if (copy == nullptr) std::memcpy(block + header, data, static_cast<std::size_t>(bytes));
  release_word(word_of(parallel, Word::copy));
  SHMEMX_NEXT(void, GOMP_task, Outlined*, void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*)
  (run_task, block, copy == nullptr ? nullptr : copy_task, static_cast<long>(all), static_cast<long>(aligned), condition, flags,
   depend, priority, detach);
  if (!condition) acquire_word(task_word(parallel));  // it has run
  if (!is_small) ::operator delete(block, std::align_val_t{aligned});
}
#define SHMEMX_TASKLOOP(NAME, T)                                                                                         \
  SHMEMX_EXPORT void NAME(Outlined* outlined, void* data, void (*copy)(void*, void*), long bytes, long alignment,        \
                          unsigned flags, unsigned long count, int priority, T start, T end, T step) {                   \
    run_task_loop(outlined, flags, [&](Outlined* run) {                                                                  \
      SHMEMX_NEXT(void, NAME, Outlined*, void*, void (*)(void*, void*), long, long, unsigned, unsigned long, int, T, T, T) \
      (run, data, copy, bytes, alignment, flags, count, priority, start, end, step);                                    \
    });                                                                                                                  \
  }
SHMEMX_TASKLOOP(GOMP_taskloop, long)
SHMEMX_TASKLOOP(GOMP_taskloop_ull, unsigned long long)
#define SHMEMX_TASKS_DONE(NAME) \
  SHMEMX_EXPORT void NAME(void) { SHMEMX_NEXT(void, NAME, void)(); acquire_word(task_word(parallel)); }
SHMEMX_EXPORT void GOMP_taskwait_depend(void** depend) {
  SHMEMX_NEXT(void, GOMP_taskwait_depend, void**)(depend);
  acquire_word(word_of(parallel, Word::depend));
}
SHMEMX_TASKS_DONE(GOMP_taskwait)
SHMEMX_TASKS_DONE(GOMP_taskgroup_end)
// clang-format on
