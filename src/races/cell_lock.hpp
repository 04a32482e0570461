// Locks of cells. Most cells are used by one thread only, the first one of the PE whose memory they describe. That one
// takes no lock until another thread, or another PE, comes to a granule of memory, and then all lock cells there.
//
// The owner writes the granule into its word of `busy`, and then looks at the granule's flag; another one sets the
// flag, makes all threads pass a memory barrier (membarrier), and waits until the owner is not busy there. Edges: share
// flag.store + membarrier -> flag.load   the owner locks, or the other one sees it busy
//         finish   busy.store(0) -> busy.load             what the owner has written, before the other one looks
//         lock     CAS of the first entry and its store   what the last holder has written
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "races/shadow.hpp"

namespace shmemx::races {

class CellLocks {
 public:
  static constexpr unsigned kGranuleBits = 17;  // of cells: those of 16 KiB

  // Cells of all PEs, one PE behind the other; each has whole granules.
  struct Layout {
    const std::byte* begin;
    std::uint64_t pe_bytes;
    std::uint32_t n_pes;
    std::uint32_t me;
    std::byte* shared;  // memory of bytes(), zero at first, which all PEs map
  };
  static std::size_t bytes(std::uint64_t pe_bytes, std::uint32_t n_pes) noexcept;
  // Returns false if the system has no barrier for other processes. All PEs then have to call share_all().
  bool open(const Layout& layout) noexcept;
  void share_all() noexcept { are_all_shared_ = 1; }
  // This process has several threads from now on.
  void share_private() noexcept;
  // The caller is the first thread of this PE, and locks no cell at present.
  static void become_owner(bool is_owner) noexcept { is_owner_ = is_owner; }

  // May the caller use the cell without its lock, until leave()?
  bool enter(const Cell& cell) noexcept {
    if (!is_owner_) return false;
    const std::uint64_t granule = granule_of(cell);
    const bool is_mine = granule - my_first_ < pe_granules_;
    if (!is_mine && granule < all_granules_) return false;
    my_busy_->store(granule, std::memory_order_relaxed);  // share orders it
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const auto& flag = is_mine ? flags_[granule] : is_private_shared_;
    if ((flag.load(std::memory_order_acquire) | are_all_shared_) == kOwned) [[likely]]  // share
      return true;
    leave();
    return false;
  }
  void leave() noexcept { my_busy_->store(kNowhere, std::memory_order_release); }  // finish
  // The cell is going to be locked.
  void share(const Cell& cell) noexcept {
    const std::uint64_t granule = granule_of(cell);
    if (granule < all_granules_ && flags_[granule].load(std::memory_order_acquire) != kShared && are_all_shared_ == 0)
      share_granule(granule);
  }

 private:
  // Values of flags. An owner takes locks unless it is kOwned; others wait for kShared.
  static constexpr std::uint8_t kOwned = 0;
  static constexpr std::uint8_t kClosing = 1;
  static constexpr std::uint8_t kShared = 2;
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  static constexpr std::uint64_t kLine = 64;

  std::uintptr_t begin_ = 0;
  std::uint64_t my_first_ = 0;
  std::uint64_t pe_granules_ = 0;
  std::uint64_t all_granules_ = 0;
  std::atomic<std::uint8_t>* flags_ = nullptr;
  std::byte* busy_ = nullptr;  // a line for each PE
  std::atomic<std::uint64_t>* my_busy_ = nullptr;
  std::uint8_t are_all_shared_ = 0;
  std::atomic<std::uint8_t> is_private_shared_{0};

  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool is_owner_;

  std::uint64_t granule_of(const Cell& cell) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(&cell) - begin_) >> kGranuleBits;
  }
  void share_granule(std::uint64_t granule) noexcept;
};
extern constinit CellLocks cell_locks;

// Holds a cell.
class CellGuard {
 public:
  explicit CellGuard(Cell& cell) noexcept : word_(cell.entries[0].who), is_entered_(cell_locks.enter(cell)) {
    if (!is_entered_) lock(cell);
  }
  // Only the holder writes the word.
  ~CellGuard() {
    if (is_entered_) {
      cell_locks.leave();
    } else {
      word_.store(word_.load(std::memory_order_relaxed) & ~kLocked, std::memory_order_release);  // lock
    }
  }
  CellGuard(const CellGuard&) = delete;
  CellGuard& operator=(const CellGuard&) = delete;

 private:
  std::atomic<std::uint64_t>& word_;
  bool is_entered_;

  void lock(Cell& cell) noexcept;
};

}  // namespace shmemx::races
