// The doorbell: where the threads of a PE that sleep are woken.
//
// A PE that sleeps registers in its own Doorbell, which lies in shared memory. A PE that completes something for
// another one (a put, an atomic, a signal, a flag, a message) looks at `sleepers` of the target's doorbell and wakes it
// if it is set: one load of a line that is almost never written.
//
// Edges:  asleep  sleeper: sleepers.store(1), then reads the condition and polls; waker: stores the data, then reads
//                 sleepers.
//                 Both sides would need a full fence to exclude that each misses the other. The waker has none, on
//                 purpose: its store leaves the store buffer within nanoseconds, the sleeper reads the condition again
//                 a system call later. What is still missed costs one sleep step, which is bounded
//                 (progress::SleepSteps::max_ns).
//         wake    waker: wake_seq.fetch_add -> sleeper: futex compares wake_seq: no wake before the sleep is lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/pe.hpp"

namespace shmemx {

struct alignas(kCacheLine) Doorbell {
  std::atomic<std::uint32_t> sleepers;   // non-zero: a thread sleeps on wake_seq
  std::atomic<std::uint32_t> wake_seq;   // the futex word
  std::atomic<std::uint32_t> cpu;        // where the PE last waited for long, plus one; 0: not known. A hint
  std::atomic<std::uint32_t> attending;  // threads of the PE that poll for messages all the time. A hint
  // Non-zero: a thread sleeps on the networks instead, and is woken through the socket of this name
  // (progress/wake_socket.hpp).
  std::atomic<std::uint64_t> wake_socket;
  std::atomic<std::uint32_t> unreachable;  // non-zero: some PE of the node cannot send to that socket. A hint
  std::uint8_t padding[36];
};
static_assert(sizeof(Doorbell) == kCacheLine);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// The doorbells that the PEs of a node sleep on, at a constant distance from each other.
struct Doorbells {
  std::byte* first = nullptr;  // of the PE with node index 0
  std::ptrdiff_t step = 0;     // in bytes
  NodePes pes;
  Doorbell& at(int pe) const noexcept {
    return *reinterpret_cast<Doorbell*>(first + pes.index_of(Pe{pe}).value * step);
  }
};

// Written by runtime at init.
struct DoorbellHooks {
  Doorbell* own = nullptr;  // of this PE; null before init
  // Wakes a thread that sleeps on the networks in place of that doorbell: of this process, or of a PE whose
  // `wake_socket` is not 0. Null: none ever does.
  void (*wake_network_sleeper)(Doorbell& doorbell) = nullptr;
};
inline constinit DoorbellHooks doorbell_hooks;
inline Doorbell* own_doorbell() noexcept { return doorbell_hooks.own; }

[[gnu::noinline, gnu::cold]] void wake_sleepers(Doorbell& doorbell) noexcept;

// Reads `sleepers` after everything stored before (compiler order only, see edge asleep). As one comparison with
// memory: a std::atomic load costs an instruction more, and this stands at the end of every put.
[[gnu::always_inline]] inline bool has_sleepers(const Doorbell& doorbell) noexcept {
#if defined(__x86_64__)
  asm goto("cmpl $0, %0\n\tjne %l1" : : "m"(doorbell.sleepers) : "cc", "memory" : asleep);
  return false;
asleep:
  return true;
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);            // compiler order
  return doorbell.sleepers.load(std::memory_order_relaxed) != 0;  // asleep
#endif
}

// Wakes the sleepers of a PE. To be called after the data have been stored.
[[gnu::always_inline]] inline void wake(Doorbell& doorbell) noexcept {
  if (has_sleepers(doorbell)) [[unlikely]]
    wake_sleepers(doorbell);
}

// Wakes the other threads of this PE, after a message has changed what they may wait for.
inline void wake_own_sleepers() noexcept {
  if (Doorbell* const doorbell = own_doorbell()) wake(*doorbell);
}

}  // namespace shmemx
