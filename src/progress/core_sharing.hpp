// What this process knows of others that run on its cores. The scheduler does not tell; how long a yield took does.
//
// A yield that returns after some microseconds has let a process run that gave the core back by itself, such as another
// PE that waits: yielding is cheap. One that takes as long as a time slice has let a program run that computes. There
// each yield costs a whole slice of that program, while a thread that sleeps and is woken runs at once.
#pragma once

#include <atomic>
#include <cstdint>

namespace shmemx::progress {

// A yield that takes longer has let another process run.
inline constexpr std::uint64_t kSwitchNs = 3'000;

// How long a PE that waits keeps a core at most, before all others that wait there had their turn: what takes longer
// computes. Shorter than a time slice.
inline constexpr std::uint64_t kDefaultTurnNs = 500'000;

// Hints that any thread of the process may change, so relaxed: a lost update costs one more yield. `cpu` is the one
// that the calling thread runs on.
class CoreSharing {
 public:
  // Set at init, where many PEs share a core.
  void set_turn_ns(std::uint64_t ns) noexcept { turn_ns_.store(ns, std::memory_order_relaxed); }

  // Records that a thread was off its core from `now_ns - away_ns` to `now_ns`: it yielded, or was preempted.
  void note_switch(std::uint64_t away_ns, std::uint64_t now_ns, unsigned cpu) noexcept;
  // For a thread that polls without giving its core away: notes that it was preempted, if the time since its last look
  // tells so. Sets `last_ns` to `now_ns`.
  bool note_preemption(std::uint64_t& last_ns, std::uint64_t now_ns, unsigned cpu) noexcept;

  // Records that several yields in a row let nobody run on a core that goes round: those who need it belong to other
  // groups of the scheduler. The waits that sleep then show nothing of them any more, so this is remembered for longer.
  void note_vain_yields(std::uint64_t now_ns) noexcept;
  // How many idle yields in a row are in vain there. Fewer after several such waits, unless yields let others run, too.
  int idle_yields_in_vain() const noexcept;

  // Returns true if another process ran on a core of this one within the last milliseconds.
  bool is_shared(std::uint64_t now_ns) const noexcept {
    return now_ns < shared_until_ns_.load(std::memory_order_relaxed);
  }
  // Returns true if others took a core of this one in quick succession lately: PEs that wait hand it round. A progress
  // thread, which looks at intervals, does not.
  bool goes_round(std::uint64_t now_ns) const noexcept {
    return now_ns < round_until_ns_.load(std::memory_order_relaxed) ||
           now_ns < vain_until_ns_.load(std::memory_order_relaxed);
  }
  // Returns true if a program that computes is expected to run on that CPU.
  bool is_busy(std::uint64_t now_ns, unsigned cpu) const noexcept;

  // Forgets everything but the turn; for tests.
  void forget() noexcept;

 private:
  // By CPU: the scheduler moves threads away from programs that compute, and towards them.
  struct Busy {
    std::atomic<std::uint64_t> until_ns{0};
    std::atomic<std::uint64_t> memory_ns{0};
  };
  static constexpr unsigned kBusyEntries = 16;  // CPUs whose numbers are equal modulo this share one

  static bool is_busy(const Busy& busy, std::uint64_t now_ns) noexcept {
    return now_ns < busy.until_ns.load(std::memory_order_relaxed);
  }
  static void note_slice(Busy& busy, std::uint64_t now_ns) noexcept;

  std::atomic<std::uint64_t> shared_until_ns_{0};
  std::atomic<std::uint64_t> round_until_ns_{0};
  std::atomic<std::uint64_t> vain_until_ns_{0};
  std::atomic<std::uint64_t> vain_memory_ns_{0};
  std::atomic<int> vain_{0};  // waits whose yields were in vain, less those that let others run
  std::atomic<std::uint64_t> turn_ns_{kDefaultTurnNs};
  Busy busy_[kBusyEntries];
};

// Returns the CPU that this thread runs on, 0 if that is unknown.
unsigned this_cpu() noexcept;

}  // namespace shmemx::progress
