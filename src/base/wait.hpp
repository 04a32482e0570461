// The one waiting policy: spin, then yield, then sleep. Every wait of the library goes through wait_for().
//
// Where a program that computes shares the core (core_sharing.hpp), a waiter spins for the time of a wake-up and then
// sleeps: a yield there costs a time slice of that program, and a thread that is woken runs at once. A loop of the
// program's that asks for a value again and again, instead of waiting for it, is treated as a wait (asked_in_vain()).
//
// A PE that sleeps registers in its own Doorbell, which lies in shared memory. Whoever completes something that
// the PE may wait for (a put, an atomic, a signal, a collective's flag) looks at `sleepers` of the target's doorbell
// and wakes it when it is set: one load of a line that is almost never written. A message is such a thing as well: the
// waiter handles messages between its looks at the condition, and once more after it has marked itself asleep.
//
// Edges:  doze   sleeper: sleepers.store(1), then reads the condition and polls; waker: stores the data, then reads
//                sleepers.
//                Both sides would need a full fence to exclude that each misses the other. The waker has none, on
//                purpose: its store leaves the store buffer within nanoseconds, the sleeper reads the condition again a
//                system call later. What is still missed costs one sleep step, which is bounded (sleep_max_ns).
//         wake   waker: wake_seq.fetch_add -> sleeper: futex compares wake_seq: no wake before the sleep is lost.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"

namespace shmemx {

struct alignas(kCacheLine) Doorbell {
  std::atomic<std::uint32_t> sleepers;  // non-zero: somebody sleeps on wake_seq
  std::atomic<std::uint32_t> wake_seq;  // the futex word
  std::atomic<std::uint32_t> cpu;       // where the PE last waited for long, plus one; 0: not known. A hint
  std::uint8_t padding[52];
};
static_assert(sizeof(Doorbell) == kCacheLine);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

enum class WaitMode : std::uint8_t { automatic, spin, block };

enum class NetworkSleep : std::uint8_t { refused, timed_out, woken };

struct WaitPolicy {
  std::uint32_t bare_polls = 200;  // polls without pause: the answer is on its way; 1 where `poll` makes it come
  std::uint32_t pause_polls = 80;  // polls with pause after that; 0 when PEs outnumber cores
  std::uint64_t poll_ns = 0;  // not 0: polls for so long instead, since a poll of a network takes longer than a pause
  std::uint64_t yield_ns = 200'000;        // then sched_yield between polls for this long
  std::uint64_t sleep_max_ns = 1'000'000;  // then sleep in doubling steps up to this
  WaitMode mode = WaitMode::automatic;
  bool crowded = false;                             // PEs outnumber the cores they may use
  Doorbell* own_doorbell = nullptr;                 // null before init
  void (*on_sleep)(const char* routine) = nullptr;  // called before each sleep step: what we wait in, is a peer gone
  void (*on_wake)() = nullptr;                      // called once after a wait that slept
  // Called when another process seems to run on the core of a waiter, and PEs do not outnumber cores: moves the waiter
  // away if that is a PE. Null: PEs stay where they are.
  void (*part_from_pes)() = nullptr;
  // Called before each sleep, after the thread has been counted in threads_asleep: until it wakes, another thread must
  // look for messages. Null where senders wake the sleeper themselves.
  void (*leave_polling)() = nullptr;
  // Sleeps for at most `ns` on the networks, unless `wake_seq` of the own doorbell is no longer `seen`. Returns whether
  // something has come or the wait has been interrupted; `refused`: sleep on the doorbell instead. Null where node
  // peers, which can only ring at the doorbell, may complete a wait.
  NetworkSleep (*sleep_on_networks)(std::uint32_t seen, std::uint64_t ns) = nullptr;
  // Handles messages that have come in, true when there were some: what is waited for may depend on it. Null where no
  // messages can come. It never waits.
  bool (*poll)() = nullptr;
};
inline constinit WaitPolicy wait_policy_storage;
// Threads of this process inside a long wait, counted where messages may come: they handle them, unless they sleep.
inline constinit std::atomic<std::uint32_t> threads_waiting{0};
inline constinit std::atomic<std::uint32_t> threads_asleep{0};
inline WaitPolicy& wait_policy() noexcept { return wait_policy_storage; }

// `poll` and `bare_polls` change when a thread sends the first message, while others may wait: read and written whole,
// in no order.
inline bool (*message_poll() noexcept)() { return std::atomic_ref(wait_policy().poll).load(std::memory_order_relaxed); }
inline std::uint32_t bare_polls() noexcept {
  return std::atomic_ref(wait_policy().bare_polls).load(std::memory_order_relaxed);
}

inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");                   // some tens of cycles, as a pause; yield is none on most
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// A question that finds what it asks for may belong to a loop as well, one that goes on while it does.
[[gnu::noinline, gnu::cold]] void test_succeeded_slow() noexcept;
inline void test_succeeded() noexcept {
  if (wait_policy().crowded || message_poll() != nullptr) [[unlikely]]
    test_succeeded_slow();
}

using PollFunction = bool (*)(void*);
[[gnu::noinline, gnu::cold]] void wait_slow(PollFunction done, void* state, const char* routine) noexcept;

// Counts questions that got the same answer as the one before. After some in a row, with nothing but questions in
// between, the program waits: then this gives the core to others before it returns. `what` is the address that was read
// (null: any), `answer` what was read. A program that works between its questions never loses the core here.
[[gnu::noinline, gnu::cold]] void asked_in_vain(const void* what, std::uint64_t answer) noexcept;

// To be called when a test has failed: handles messages, which may bring what is tested.
[[gnu::noinline, gnu::cold]] void test_failed_slow() noexcept;
inline void test_failed() noexcept {
  if (wait_policy().crowded || message_poll() != nullptr) [[unlikely]]
    test_failed_slow();
}

// Returns when done() has returned true. `routine` names the API routine for diagnostics.
template <class Done>
inline void wait_for(const char* routine, Done done) noexcept {
  for (std::uint32_t polls = bare_polls(); polls != 0; --polls) {
    if (done()) return;
  }
  wait_slow([](void* state) { return (*static_cast<Done*>(state))(); }, &done, routine);
}

[[gnu::noinline, gnu::cold]] void wake_sleepers(Doorbell& doorbell) noexcept;
// Set by the channel: wakes a thread of this process that sleeps on the networks.
using WakeFunction = void (*)();
inline constinit WakeFunction wake_network_sleeper = nullptr;

// Reads `sleepers` after everything stored before (compiler order only, see edge doze). As one comparison with memory:
// a std::atomic load costs an instruction more, and this stands at the end of every put.
[[gnu::always_inline]] inline bool has_sleepers(const Doorbell& doorbell) noexcept {
#if defined(__x86_64__)
  asm goto("cmpl $0, %0\n\tjne %l1" : : "m"(doorbell.sleepers) : "cc", "memory" : asleep);
  return false;
asleep:
  return true;
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);  // compiler order
  return doorbell.sleepers.load(std::memory_order_relaxed) != 0;  // doze
#endif
}

// To be called after the data have been stored.
[[gnu::always_inline]] inline void wake(Doorbell& doorbell) noexcept {
  if (has_sleepers(doorbell)) [[unlikely]]
    wake_sleepers(doorbell);
}

}  // namespace shmemx
