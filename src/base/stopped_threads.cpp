#include "base/stopped_threads.hpp"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/clock.hpp"
#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"
#include "base/threads.hpp"

namespace shmemx {
namespace {

constexpr std::uint64_t kPatienceNs = 100'000'000;
constexpr std::uint64_t kPatienceCpuNs = 20'000'000;
constexpr std::uint64_t kLongPatienceNs = 10'000'000'000;  // for a thread that has no core
constexpr std::size_t kMostThreads = std::size_t{1} << 15;
constexpr std::size_t kSignalBytes = 8;  // of the kernel's sets of signals

// Each word is written by one thread and read by another.
template <class T>
T load(const T& word) noexcept {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}
template <class T>
void store(T& word, T value) noexcept {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

// Time, and how much CPU time a thread has had by then.
struct Moment {
  std::uint64_t wall_ns;
  std::uint64_t cpu_ns;
};

struct Slot {
  pid_t thread;
  std::uint32_t answered;  // in which round; 0: not yet
  Moment signalled;
};

// In private memory of its own, all 0 at first: globals of the library may belong to what is moved.
struct Handshake {
  std::uint32_t round;  // odd: the threads wait
  std::uint32_t is_last;
  std::size_t count;
  Slot slots[kMostThreads];
};
constinit Handshake* handshake = nullptr;

// Answers, and waits while `word` is `round`. Writes nothing else, no stack either: that may lie in what is moved.
[[gnu::noinline]] void answer_and_wait(std::uint32_t* answered, std::uint32_t* word, std::uint32_t round) noexcept {
#if defined(__x86_64__)
  long result;
  register long none __asm__("r10") = 0;
  __asm__ volatile(
      "movl %[round], (%[answered])\n"
      "1: movl $202, %%eax\n"  // futex(word, FUTEX_WAIT_PRIVATE, round, null)
      "syscall\n"
      "cmpl %[round], (%[word])\n"
      "je 1b\n"
      : "=&a"(result)
      : [answered] "r"(answered), [word] "D"(word), "S"(128L), [round] "d"(round), "r"(none)
      : "rcx", "r11", "memory", "cc");
#elif defined(__aarch64__)
  register long call __asm__("x8") = 98;
  register long operation __asm__("x1") = 128;
  register long seen __asm__("x2") = static_cast<long>(round);
  register long none __asm__("x3") = 0;
  __asm__ volatile(
      "stlr w2, [%[answered]]\n"
      "1: mov x0, %[word]\n"
      "svc #0\n"
      "ldar w9, [%[word]]\n"
      "cmp w9, w2\n"
      "b.eq 1b\n"
      :
      : [answered] "r"(answered), [word] "r"(word), "r"(call), "r"(operation), "r"(seen), "r"(none)
      : "x0", "x9", "memory", "cc");
#else
  store(*answered, round);  // stopped
  while (load(*word) == round) {
  }  // released
#endif
}

std::uint64_t real_time_signals() noexcept {
  std::uint64_t all = 0;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) all |= std::uint64_t{1} << (signal - 1);
  return all;
}

// A thread of a library, which has left only this signal unblocked, blocks all from now on.
void block_all(int signal, void* context) noexcept {
  sigset_t& mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  std::uint64_t blocked = 0;
  std::memcpy(&blocked, &mask, sizeof blocked);
  blocked |= std::uint64_t{1} << (signal - 1);
  if ((blocked & real_time_signals()) == real_time_signals()) std::memcpy(&mask, &blocked, sizeof blocked);
}

// A signal that arrives after its round is over has no slot that waits for it.
void stop_here(int signal, siginfo_t* info, void* context) noexcept {
  const int cause = errno;
  Handshake* const shared = load(handshake);
  const std::uint32_t round = load(shared->round);
  const auto number = static_cast<std::size_t>(info->si_value.sival_int);
  Slot* const slot = number < kMostThreads ? &shared->slots[number] : nullptr;
  if (round % 2 != 0 && info->si_code == SI_QUEUE && slot != nullptr && load(slot->thread) == ::gettid()) {
    if (load(shared->is_last) != 0) block_all(signal, context);
    answer_and_wait(&slot->answered, &shared->round, round);
  }
  errno = cause;
}

void pause_shortly() noexcept {
  const timespec pause{0, 100'000};
  ::nanosleep(&pause, nullptr);
}

unsigned long change_mask(unsigned long mask) noexcept {
  unsigned long before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, kSignalBytes);
  return before;
}

bool blocks_all(const ThreadState& state) noexcept {
  return (state.blocked_signals & real_time_signals()) == real_time_signals();
}

// The sanitizer's own thread, which blocks all signals and sleeps, writes no memory of the program. A thread that has
// been stopped before also blocks all while it leaves the sanitizer's handler, but does not sleep.
bool is_foreign_to_program([[maybe_unused]] const ThreadState& state) noexcept {
#if defined(__SANITIZE_THREAD__)
  return blocks_all(state) && state.state == 'S';
#else
  return false;
#endif
}

// Returns the last real-time signal with the default disposition that is not among these; 0 if there is none.
int last_free_signal(std::uint64_t blocked) noexcept {
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal) {
    struct sigaction action {};
    const bool is_free = (blocked >> (signal - 1) & 1) == 0;
    if (is_free && ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) return signal;
  }
  return 0;
}

// Returns a signal that no thread blocks; 0 if there is none. A thread that blocks all of them at the moment is looked
// at again later.
int choose_signal(unsigned long own_mask) noexcept {
  std::uint64_t blocked = own_mask;
  ThreadReader reader;
  for (pid_t thread = 0; reader.next(thread);) {
    if (thread == ::gettid()) continue;
    const ThreadState state = state_of_thread(thread);
    if (!blocks_all(state)) blocked |= state.blocked_signals;
  }
  return last_free_signal(blocked);
}

// Keeps the old disposition as the kernel has it: the C library would restore it with other flags.
bool install(int signal, std::span<std::byte> before) noexcept {
  if (::syscall(SYS_rt_sigaction, signal, nullptr, before.data(), kSignalBytes) != 0) return false;
  struct sigaction action {};
  action.sa_sigaction = stop_here;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  return ::sigaction(signal, &action, nullptr) == 0;
}

bool has_slot(pid_t thread) noexcept {
  return std::any_of(handshake->slots, handshake->slots + handshake->count,
                     [thread](const Slot& slot) { return slot.thread == thread; });
}

bool is_alone() noexcept {
  if (runs_under_emulator()) return true;
  ThreadReader reader;
  for (pid_t thread = 0; reader.next(thread);) {
    if (thread != ::gettid()) return false;
  }
  return true;
}

// 0 CPU time if the kernel does not tell.
Moment moment_of(pid_t thread) noexcept {
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6U);  // of the thread's CPU time
  timespec cpu{};
  if (::clock_gettime(clock, &cpu) != 0) cpu = {};
  return {now_ns(), static_cast<std::uint64_t>(cpu.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(cpu.tv_nsec)};
}

// Returns whether a thread in this state may still take the signal, which it could have taken since then. One that only
// lacks a core is not given up soon.
bool may_take(pid_t thread, const ThreadState& state, int signal, const Moment& since) noexcept {
  const Moment now = moment_of(thread);
  const std::uint64_t waited_ns = now.wall_ns - since.wall_ns;
  const bool has_run = now.cpu_ns - since.cpu_ns > kPatienceCpuNs;
  const bool lacks_a_core =
      state.blocks(signal) ? state.state == 'R' && !has_run : state.state == 'R' || state.state == 'S';
  return waited_ns < (lacks_a_core ? kLongPatienceNs : kPatienceNs);
}

// A thread that blocks the signal may be in a short section of the C library; it gets the signal only when it accepts
// it, since it may wait for signals that it blocks. Returns false if it goes on blocking.
bool send(pid_t thread, int signal) noexcept {
  const Moment begin = moment_of(thread);
  for (ThreadState state = state_of_thread(thread); state.blocks(signal); state = state_of_thread(thread)) {
    if (is_foreign_to_program(state)) return true;
    if (!may_take(thread, state, signal, begin)) return false;
    pause_shortly();
  }
  Slot& slot = handshake->slots[handshake->count];
  store(slot.answered, 0U);
  slot.signalled = moment_of(thread);
  store(slot.thread, thread);
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = static_cast<int>(handshake->count++);
  return ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread, signal, &info) == 0 || errno == ESRCH;
}

bool has_answered(const Slot& slot, std::uint32_t round) noexcept {
  return load(slot.answered) == round ||  // stopped
         state_of_thread(slot.thread).has_ended();
}

}  // namespace

int free_stop_signal() noexcept {
  std::uint64_t own_mask = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &own_mask, kSignalBytes);
  return last_free_signal(own_mask);
}

// A thread that begins to wait for the signal after it has been chosen needs another one.
StoppedThreads::StoppedThreads(Stop stop) noexcept : mask_before_(change_mask(~0UL)) {
  if (is_alone()) return;
  void* const memory = handshake != nullptr ? handshake
                                            : map_on_touch(nullptr, sizeof(Handshake), PROT_READ | PROT_WRITE,
                                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  unstopped_ = ::gettid();  // if nobody can be signalled
  if (memory == MAP_FAILED) return;
  store(handshake, static_cast<Handshake*>(memory));
  store(handshake->is_last, stop == Stop::last ? 1U : 0U);
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts && unstopped_ != 0; ++attempt) {
    if (attempt > 0 && blocks_all(state_of_thread(unstopped_))) return;
    stop_all();
  }
}

void StoppedThreads::stop_all() noexcept {
  const int signal = choose_signal(mask_before_);
  if (signal == 0 || !install(signal, action_before_)) return;
  signal_ = signal;
  handshake->count = 0;
  store(handshake->round, handshake->round + 1);
  unstopped_ = 0;
  while (signal_new_threads()) {
    if (const pid_t silent = await_answers()) unstopped_ = silent;
    if (unstopped_ != 0) break;
  }
  if (unstopped_ != 0) release();
}

StoppedThreads::~StoppedThreads() {
  release();
  change_mask(mask_before_);
}

// Returns false if there were none.
bool StoppedThreads::signal_new_threads() noexcept {
  const std::size_t before = handshake->count;
  ThreadReader reader;
  for (pid_t thread = 0; reader.next(thread);) {
    if (thread == ::gettid() || has_slot(thread) || state_of_thread(thread).has_ended()) continue;
    if (handshake->count == kMostThreads || !send(thread, signal_)) unstopped_ = thread;
  }
  return handshake->count != before;
}

// Returns a thread that does not answer, 0 if all have.
pid_t StoppedThreads::await_answers() noexcept {
  const std::uint32_t round = handshake->round;
  for (std::size_t i = 0; i < handshake->count; ++i) {
    const Slot& slot = handshake->slots[i];
    while (!has_answered(slot, round)) {
      if (!may_take(slot.thread, state_of_thread(slot.thread), signal_, slot.signalled)) return slot.thread;
      pause_shortly();
    }
  }
  return 0;
}

// A signal that a thread has not taken is discarded: with the default disposition it would end the process.
void StoppedThreads::release() noexcept {
  if (signal_ == 0) return;
  store(handshake->round, handshake->round + 1);  // released
  ::syscall(SYS_futex, &handshake->round, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(signal_, &ignore, nullptr);
  ::syscall(SYS_rt_sigaction, signal_, action_before_, nullptr, kSignalBytes);
  signal_ = 0;
}

}  // namespace shmemx
