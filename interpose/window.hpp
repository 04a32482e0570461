// A window of MPI that is taken over: its memory, the other processes as this one reaches them, and its epochs.
#pragma once

#include <mpi.h>
#include <shmemx.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "interpose/gather.hpp"
#include "interpose/handle_map.hpp"
#include "interpose/hints.hpp"

namespace shmemx::interpose {

// Whether a process can take a window over. The least one of all processes counts.
enum class Ability : std::int32_t { lacks_memory, none, full };

// What a process tells the others when a window is created. Plain bytes that travel.
struct Offer {
  shmemx_window_description_t data;
  shmemx_window_description_t control;
  std::uint64_t base;  // of the window's memory, in the address space of the process that has exposed it
  std::uint64_t bytes;
  std::uint64_t control_address;
  std::int64_t disp_unit;
  Ability ability;
  std::int32_t wants_array_locks;
  std::int32_t needs_messages;  // others cannot map the memory
};

enum class Lock : std::uint8_t { none, shared, exclusive, unchecked };

// Locks and unlocks of a minute would exhaust 32 bits.
using EpochNumber = std::uint64_t;

// A process of the window, as this one reaches it.
struct Target {
  Offer offer{};
  std::byte* mapped = nullptr;  // where that memory can be loaded and stored here; null: nowhere
  shmemx_window_t data = SHMEMX_WINDOW_INVALID;
  shmemx_window_t control = SHMEMX_WINDOW_INVALID;
  std::byte* control_mapped = nullptr;
  std::atomic<EpochNumber> open{0};  // equal to Epochs::number: the current epoch allows access
  std::atomic<bool> attached{false};
  Lock lock = Lock::none;
  std::atomic<bool> has_put{false};    // small data, since the last completion
  std::atomic<bool> has_other{false};  // any other operation by messages since then
  int pe = -1;
  std::unique_ptr<GatheredPuts> gathered;
};

enum class Access : std::uint8_t { none, fence, start, lock, lock_all };

struct Epochs {
  std::atomic<EpochNumber> number{1};  // of the access epoch; grows when one ends, and is never 0
  Access access = Access::none;
  bool lock_all_unchecked = false;
  std::atomic<bool> has_fenced{false};  // the epoch of the last fence has operations, so only a fence can end it
  std::mutex late_locks;                // held while a lock is taken that lock_all has left until now
  int locks = 0;                        // targets that are locked one by one
  std::vector<int> started;             // ranks of the access epoch of start
  bool is_exposed = false;              // between post and wait
  std::uint64_t awaited = 0;            // completions that end the exposure
  std::uint64_t barriers = 0;           // passed
  bool are_over = false;                // all processes have begun to free the window
};

// Whether waits of the MPI handle operations of others on the window: those of this process, or barriers, too, since
// all processes of the job have the window.
enum class Served : std::uint8_t { no, in_waits, in_barriers };

// This process's part.
struct Own {
  int rank = 0;
  void* base = nullptr;
  MPI_Aint bytes = 0;
  MPI_Aint disp_unit = 1;
  int disp_unit_attribute = 1;  // what the attribute of MPI is; MPI_UNDEFINED if an int does not hold it
  std::byte* control = nullptr;
  shmemx_window_t data = SHMEMX_WINDOW_INVALID;
  shmemx_window_t control_window = SHMEMX_WINDOW_INVALID;
  Served served = Served::no;
  std::vector<const void*> empty_pieces;  // of no bytes, that are attached to a dynamic window; under the mutex
};

// The ranks of attached targets that are reached by messages. Threads read while one, which holds the window's mutex,
// adds.
class MessagedTargets {
 public:
  // Before there are readers.
  void reserve(int size) { ranks_.reserve(static_cast<std::size_t>(size)); }
  void add(int rank) {
    ranks_.push_back(rank);
    count_.store(ranks_.size(), std::memory_order_release);  // attach
  }
  void clear() noexcept {
    ranks_.clear();
    count_.store(0, std::memory_order_relaxed);  // the window ends
  }
  std::span<const int> all() const noexcept {
    return {ranks_.data(), count_.load(std::memory_order_acquire)};  // attach
  }

 private:
  std::vector<int> ranks_;  // never moves, since there is room for all
  std::atomic<std::size_t> count_{0};
};

struct Window {
  MPI_Win handle = MPI_WIN_NULL;  // of an empty window of the MPI below
  MPI_Group group = MPI_GROUP_NULL;
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int size = 0;
  std::unique_ptr<Target[]> targets;
  std::unique_ptr<Hints> hints;
  bool is_on_node = false;       // all processes are of this node
  bool has_array_locks = false;  // integers, too, are updated under locks: one for many elements
  Own own;
  Epochs epochs;
  std::mutex mutex;  // attaching, and the state of epochs
  MessagedTargets messaged;
};

// Returns whether a lock of this process lets it flush the target.
inline bool is_locked(const Window& window, const Target& target) noexcept {
  return window.epochs.access == Access::lock_all || target.lock != Lock::none;
}

// All windows that are taken over.
inline constinit LastingMap<MPI_Win, Window> windows;

// Returns null for a window that is left to the MPI below.
inline Window* find_window(MPI_Win win) noexcept { return windows.map.find(win); }
// Is find_window() in a few instructions for the window that was used last. May return null for any other.
inline Window* find_recent_window(MPI_Win win) noexcept { return windows.map.find_recent(win); }

// Attaches the memory of a target, unless that is done. Returns an error class of MPI.
int attach_slow(Window& window, Target& target);
[[gnu::always_inline]] inline int attach(Window& window, Target& target) {
  return target.attached.load(std::memory_order_acquire) ? MPI_SUCCESS : attach_slow(window, target);  // attach
}

}  // namespace shmemx::interpose
