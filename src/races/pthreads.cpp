// Threads of the program and how they synchronise, in front of the C library's.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <mutex>

#include "races/life.hpp"
#include "races/local_words.hpp"
#include "races/thread.hpp"

namespace shmemx::races {
namespace {

// What a new thread begins with. `Result` is that of its function: void* for POSIX's threads, int for those of C.
template <class Result>
struct Begin {
  Result (*function)(void*);
  void* argument;
  Thread* thread;  // null: one of the library's own
  bool is_internal;
};

constexpr std::uint64_t kEndOfThread = 0x10;

// Called when a thread ends, also if it is cancelled or calls pthread_exit: no destructor of an object would be called
// then, as this library is compiled without exceptions.
void end_thread(void*) noexcept {
  if (self == nullptr) return;
  release_word(::pthread_self() ^ kEndOfThread);
  retire_thread(self);
  become(nullptr);
  is_internal = true;
}
pthread_key_t make_end_key() noexcept {
  pthread_key_t key = 0;
  ::pthread_key_create(&key, end_thread);
  return key;
}
const pthread_key_t end_key = make_end_key();

template <class Result>
Result run_thread(void* given) noexcept {
  auto* const memory = static_cast<Begin<Result>*>(given);
  const Begin<Result> begin = *memory;
  delete memory;
  is_internal = true;
  ::pthread_setspecific(end_key, &end_key);
  is_internal = begin.is_internal;
  become(begin.thread);
  if (self != nullptr) clear_own_stack();
  return begin.function(begin.argument);
}

// Calls create(function, argument) of the C library for a thread that is to run function(argument).
template <class Result, class Create>
int begin_thread(Result (*function)(void*), void* argument, Create create) noexcept {
  Thread* const thread = current_thread();
  const bool is_own = is_internal || (thread != nullptr && thread->in_library != 0);
  auto* const begin = new Begin<Result>{function, argument, nullptr, is_own};
  if (thread != nullptr && !is_own) {
    begin->thread = make_thread(thread->clock);
    thread->advance();
  }
  return create(run_thread<Result>, begin);
}

template <class Function>
Function* real(Function*& kept, const char* name) noexcept {
  if (kept == nullptr) kept = reinterpret_cast<Function*>(next_definition(name));
  return kept;
}
#define SHMEMX_REAL(NAME)                        \
  real(                                          \
      []() -> decltype(&::NAME)& {               \
        static decltype(&::NAME) kept = nullptr; \
        return kept;                             \
      }(),                                       \
      #NAME)

std::uint64_t word_of(const volatile void* object) noexcept { return reinterpret_cast<std::uintptr_t>(object); }

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the C library's

#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]

SHMEMX_EXPORT int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*function)(void*),
                                 void* argument) {
  return begin_thread(function, argument, [&](void* (*run)(void*), void* begin) {
    return SHMEMX_REAL(pthread_create)(id, attributes, run, begin);
  });
}
SHMEMX_EXPORT int thrd_create(thrd_t* id, thrd_start_t function, void* argument) {
  return begin_thread(function, argument,
                      [&](thrd_start_t run, void* begin) { return SHMEMX_REAL(thrd_create)(id, run, begin); });
}

// Calls the C library's routine and, if it returns 0, takes over what the word knows.
#define SHMEMX_ACQUIRING(NAME, WORD, PARAMETERS, ...) \
  SHMEMX_EXPORT int NAME PARAMETERS {                 \
    const int error = SHMEMX_REAL(NAME)(__VA_ARGS__); \
    if (error == 0) acquire_word(WORD);               \
    return error;                                     \
  }
// Gives what this thread knows to the object's word, and calls the C library's routine.
#define SHMEMX_RELEASING(NAME, OBJECT, PARAMETERS) \
  SHMEMX_EXPORT int NAME PARAMETERS {              \
    release_word(word_of(OBJECT));                 \
    return SHMEMX_REAL(NAME)(OBJECT);              \
  }
// A wait during which the mutex is free.
#define SHMEMX_WAITING(NAME, PARAMETERS, ...)         \
  SHMEMX_EXPORT int NAME PARAMETERS {                 \
    release_word(word_of(mutex));                     \
    const int error = SHMEMX_REAL(NAME)(__VA_ARGS__); \
    acquire_word(word_of(mutex));                     \
    return error;                                     \
  }
static_assert(thrd_success == 0);

SHMEMX_ACQUIRING(pthread_join, id ^ kEndOfThread, (pthread_t id, void** result), id, result)
SHMEMX_ACQUIRING(pthread_tryjoin_np, id ^ kEndOfThread, (pthread_t id, void** result) noexcept, id, result)
SHMEMX_ACQUIRING(pthread_timedjoin_np, id ^ kEndOfThread, (pthread_t id, void** result, const timespec* until), id,
                 result, until)
SHMEMX_ACQUIRING(pthread_clockjoin_np, id ^ kEndOfThread,
                 (pthread_t id, void** result, clockid_t clock, const timespec* until), id, result, clock, until)
SHMEMX_ACQUIRING(thrd_join, id ^ kEndOfThread, (thrd_t id, int* result), id, result)

// ---- Mutexes ----
SHMEMX_ACQUIRING(pthread_mutex_lock, word_of(mutex), (pthread_mutex_t * mutex) noexcept, mutex)
SHMEMX_ACQUIRING(pthread_mutex_trylock, word_of(mutex), (pthread_mutex_t * mutex) noexcept, mutex)
SHMEMX_ACQUIRING(pthread_mutex_timedlock, word_of(mutex), (pthread_mutex_t * mutex, const timespec* until) noexcept,
                 mutex, until)
SHMEMX_ACQUIRING(pthread_mutex_clocklock, word_of(mutex),
                 (pthread_mutex_t * mutex, clockid_t clock, const timespec* until) noexcept, mutex, clock, until)
SHMEMX_RELEASING(pthread_mutex_unlock, mutex, (pthread_mutex_t * mutex) noexcept)
SHMEMX_ACQUIRING(pthread_spin_lock, word_of(lock), (pthread_spinlock_t * lock) noexcept, lock)
SHMEMX_ACQUIRING(pthread_spin_trylock, word_of(lock), (pthread_spinlock_t * lock) noexcept, lock)
SHMEMX_RELEASING(pthread_spin_unlock, lock, (pthread_spinlock_t * lock) noexcept)
SHMEMX_ACQUIRING(mtx_lock, word_of(mutex), (mtx_t * mutex), mutex)
SHMEMX_ACQUIRING(mtx_trylock, word_of(mutex), (mtx_t * mutex), mutex)
SHMEMX_ACQUIRING(mtx_timedlock, word_of(mutex), (mtx_t * mutex, const timespec* until), mutex, until)
SHMEMX_RELEASING(mtx_unlock, mutex, (mtx_t * mutex))

// ---- Condition variables: the mutex is released and taken again, which orders what the condition tells ----
SHMEMX_WAITING(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex), condition, mutex)
SHMEMX_WAITING(pthread_cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until),
               condition, mutex, until)
SHMEMX_WAITING(pthread_cond_clockwait,
               (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until), condition,
               mutex, clock, until)
SHMEMX_WAITING(cnd_wait, (cnd_t * condition, mtx_t* mutex), condition, mutex)
SHMEMX_WAITING(cnd_timedwait, (cnd_t * condition, mtx_t* mutex, const timespec* until), condition, mutex, until)

// ---- Locks of readers and writers ----
namespace {
// The locks that this thread holds as a writer.
struct Written {
  static constexpr std::size_t kMost = 64;
  const void* locks[kMost];
  std::size_t n;
  bool has_more;  // than there is room for: then all count as written

  void add(const void* lock) noexcept {
    if (n == kMost) {
      has_more = true;
    } else {
      locks[n++] = lock;
    }
  }
  bool take(const void* lock) noexcept {
    for (std::size_t i = n; i != 0; --i) {
      if (locks[i - 1] != lock) continue;
      locks[i - 1] = locks[--n];
      return true;
    }
    return has_more;
  }
};
thread_local Written written{};

// What readers release goes to writers only.
std::uint64_t readers_of(const void* lock) noexcept { return word_of(lock) | 1; }
void begin_to_write(const void* lock) noexcept {
  acquire_word(word_of(lock));
  acquire_word(readers_of(lock));
  written.add(lock);
}
}  // namespace
#define SHMEMX_WRITING(NAME, PARAMETERS, ...)         \
  SHMEMX_EXPORT int NAME PARAMETERS noexcept {        \
    const int error = SHMEMX_REAL(NAME)(__VA_ARGS__); \
    if (error == 0) begin_to_write(lock);             \
    return error;                                     \
  }
SHMEMX_ACQUIRING(pthread_rwlock_rdlock, word_of(lock), (pthread_rwlock_t * lock) noexcept, lock)
SHMEMX_ACQUIRING(pthread_rwlock_tryrdlock, word_of(lock), (pthread_rwlock_t * lock) noexcept, lock)
SHMEMX_WRITING(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), lock)
SHMEMX_WRITING(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), lock)
SHMEMX_ACQUIRING(pthread_rwlock_timedrdlock, word_of(lock), (pthread_rwlock_t * lock, const timespec* until) noexcept,
                 lock, until)
SHMEMX_ACQUIRING(pthread_rwlock_clockrdlock, word_of(lock),
                 (pthread_rwlock_t * lock, clockid_t clock, const timespec* until) noexcept, lock, clock, until)
SHMEMX_WRITING(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until), lock, until)
SHMEMX_WRITING(pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const timespec* until), lock,
               clock, until)
SHMEMX_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  release_word(written.take(lock) ? word_of(lock) : readers_of(lock));
  return SHMEMX_REAL(pthread_rwlock_unlock)(lock);
}

// ---- Barriers, once, semaphores. A thread may come to a barrier again before others have left it, and is ahead of
// those: so rounds have two words in turn. ----
namespace {
struct Rounds {
  const void* barrier;
  unsigned count;      // of threads
  unsigned n_arrived;  // in all rounds, modulo two of them
};
constexpr std::size_t kMostBarriers = 256;  // of others, the rounds are not told apart
Rounds barriers[kMostBarriers];
SpinLock barriers_lock;

Rounds* rounds_of(const void* barrier) noexcept {
  for (Rounds& rounds : barriers) {
    if (rounds.barrier == barrier) return &rounds;
  }
  return nullptr;
}
void note_barrier(const void* barrier, unsigned count) noexcept {
  const std::lock_guard guard(barriers_lock);
  Rounds* const known = rounds_of(barrier);
  Rounds* const rounds = known != nullptr ? known : rounds_of(nullptr);
  if (rounds != nullptr) *rounds = {count == 0 ? nullptr : barrier, count, 0};
}
std::uint64_t word_of_round(const void* barrier) noexcept {
  const std::lock_guard guard(barriers_lock);
  Rounds* const rounds = rounds_of(barrier);
  if (rounds == nullptr) return word_of(barrier);
  const bool is_odd = rounds->n_arrived >= rounds->count;
  rounds->n_arrived = (rounds->n_arrived + 1) % (2 * rounds->count);
  return word_of(barrier) | (is_odd ? 1 : 0);
}
}  // namespace
SHMEMX_EXPORT int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                       unsigned count) noexcept {
  const int error = SHMEMX_REAL(pthread_barrier_init)(barrier, attributes, count);
  if (error == 0) note_barrier(barrier, count);
  return error;
}
SHMEMX_EXPORT int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  note_barrier(barrier, 0);
  return SHMEMX_REAL(pthread_barrier_destroy)(barrier);
}
SHMEMX_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  const std::uint64_t round = word_of_round(barrier);
  release_word(round);
  const int result = SHMEMX_REAL(pthread_barrier_wait)(barrier);
  if (result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD) acquire_word(round);
  return result;
}

namespace {
thread_local void (*once_function)() = nullptr;
thread_local pthread_once_t* once_control = nullptr;
void run_once() {
  pthread_once_t* const control = once_control;
  once_function();
  release_word(word_of(control));
}
}  // namespace
SHMEMX_EXPORT int pthread_once(pthread_once_t* control, void (*function)()) {
  once_function = function;
  once_control = control;
  const int error = SHMEMX_REAL(pthread_once)(control, run_once);
  acquire_word(word_of(control));
  return error;
}
SHMEMX_EXPORT void call_once(once_flag* control, void (*function)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(control), function);
}

SHMEMX_RELEASING(sem_post, semaphore, (sem_t * semaphore) noexcept)
SHMEMX_ACQUIRING(sem_wait, word_of(semaphore), (sem_t * semaphore), semaphore)
SHMEMX_ACQUIRING(sem_timedwait, word_of(semaphore), (sem_t * semaphore, const timespec* until), semaphore, until)
SHMEMX_ACQUIRING(sem_clockwait, word_of(semaphore), (sem_t * semaphore, clockid_t clock, const timespec* until),
                 semaphore, clock, until)
SHMEMX_ACQUIRING(sem_trywait, word_of(semaphore), (sem_t * semaphore) noexcept, semaphore)

// ---- Statics that are initialised at their first use. A program in C loads no C++ library that has the routines. The
// first byte is set when the static is there, the second while a thread makes it. ----
namespace {
constexpr int kDone = 0;
constexpr int kBusy = 1;
}  // namespace
SHMEMX_EXPORT int __cxa_guard_acquire(std::uint8_t* guard) {
  for (;;) {
    if (std::atomic_ref(guard[kDone]).load(std::memory_order_acquire) != 0) break;
    if (std::atomic_ref(guard[kBusy]).exchange(1, std::memory_order_acquire) == 0) {
      if (std::atomic_ref(guard[kDone]).load(std::memory_order_acquire) == 0) return 1;
      std::atomic_ref(guard[kBusy]).store(0, std::memory_order_release);
      break;
    }
    ::sched_yield();
  }
  acquire_word(word_of(guard));
  return 0;
}
SHMEMX_EXPORT void __cxa_guard_release(std::uint8_t* guard) {
  release_word(word_of(guard));
  std::atomic_ref(guard[kDone]).store(1, std::memory_order_release);
  std::atomic_ref(guard[kBusy]).store(0, std::memory_order_release);
}
SHMEMX_EXPORT void __cxa_guard_abort(std::uint8_t* guard) {
  std::atomic_ref(guard[kBusy]).store(0, std::memory_order_release);
}
