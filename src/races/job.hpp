// What the PEs of a job share: shadow of symmetric memory, clocks of words, the tree of calls, slots, collectives, and
// the list of reports. It lies in one file that PE 0 makes and all map.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "races/call_tree.hpp"
#include "races/history.hpp"
#include "races/shadow.hpp"
#include "races/sync_table.hpp"

namespace shmemx::races {

inline constexpr int kMostPes = 128;

// Whose epochs a slot counts: those of a thread of a PE; of its deliveries to another PE on a context; of its
// nonblocking operations that fetch from there, which a fence does not order; or of those that complete by requests.
enum class Component : std::uint32_t { thread, deliveries, fetches, none, requests };
struct SlotOwner {
  Component component = Component::thread;
  std::int32_t pe = 0;
  std::uint32_t thread = 0;  // its number in the PE; 0: the first
  std::int32_t target = -1;
};

// The PEs of a collective that have come, and what they have released.
struct Meeting {
  std::uint64_t key;
  std::uint32_t size;
  std::uint32_t left;
  std::uint64_t bytes;  // that all together contribute
  std::atomic<std::uint8_t> has_entered[kMostPes];
};

struct JobHeader {
  std::atomic<std::uint32_t> n_slots;
  SpinLock slots_lock;
  SpinLock meetings_lock;
  SpinLock reports_lock;
  std::uint32_t n_reports;
  std::atomic<std::uint32_t> has_no_barrier;      // of other processes, in some PE: see CellLocks
  std::atomic<std::uintptr_t> statics[kMostPes];  // where the executable's static data begin, by PE
  SlotOwner owners[kMostSlots];
  std::uint64_t reports[1024];
};

// One kind of symmetric memory of a PE.
enum class Window : std::uint8_t { heap, statics };
struct Symmetric {
  int pe;
  Window window;
  std::uint64_t offset;
  std::uint64_t key() const noexcept {
    return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(pe) << 52 | static_cast<std::uint64_t>(window) << 51 |
           offset;
  }
  // Puts have a clock of their own: waits see them, atomics are not atomic with them.
  std::uint64_t key_of_puts() const noexcept { return key() | std::uint64_t{1} << 62; }
};

// The symmetric memory of this PE, and where that of others is mapped here.
struct SymmetricMemory {
  std::uintptr_t heap = 0;
  std::uint64_t heap_bytes = 0;
  std::uintptr_t statics = 0;
  std::uint64_t statics_bytes = 0;
  bool is_mapped = true;  // that of all PEs
  std::uintptr_t peer_heaps[kMostPes] = {};
  std::uintptr_t peer_statics[kMostPes] = {};
};

// Shadow of all PEs' symmetric memory, one behind the other.
struct SharedShadow {
  std::byte* begin = nullptr;
  std::uint64_t pe_bytes = 0;
  std::uintptr_t mine = 0;
};

class Job {
 public:
  // Collective, after the library has started. Returns false if the PEs cannot share memory.
  bool open() noexcept;
  bool is_open() const noexcept { return is_open_; }
  // What is shared stays mapped, as other threads may still use it.
  void close() noexcept { is_open_ = false; }
  // Is the memory of all PEs mapped here? Then operations need no progress of others.
  bool is_mapped() const noexcept { return memory_.is_mapped; }
  int my_pe() const noexcept { return my_pe_; }
  int n_pes() const noexcept { return n_pes_; }
  std::uint32_t clock_capacity() const noexcept { return capacity_; }
  std::uint32_t n_slots() const noexcept { return header_->n_slots.load(std::memory_order_relaxed); }
  // Returns kNoSlot if there are too many.
  Slot new_slot(const SlotOwner& owner) noexcept;
  const SlotOwner& owner_of(Slot slot) const noexcept { return header_->owners[slot]; }

  // What an address of this process means: also of other PEs' memory, as shmem_ptr returns it. False: private memory.
  bool locate(std::uintptr_t address, Symmetric& found) const noexcept;
  Cell* cell(const Symmetric& place) const noexcept;
  // The opposite. Returns false for private memory.
  bool locate_cell(const Cell* cell, Symmetric& found) const noexcept;
  bool is_of_other_pe(const Cell* cell) const noexcept {
    const auto from_mine = reinterpret_cast<std::uintptr_t>(cell) - cells_.mine;
    return from_mine >= cells_.pe_bytes &&
           reinterpret_cast<std::uintptr_t>(cell) - reinterpret_cast<std::uintptr_t>(cells_.begin) <
               static_cast<std::uint64_t>(n_pes_) * cells_.pe_bytes;
  }
  // In this process; of memory that is not mapped, no address.
  const void* address(const Symmetric& place) const noexcept {
    const std::uintptr_t begin =
        place.window == Window::heap ? memory_.peer_heaps[place.pe] : memory_.peer_statics[place.pe];
    return reinterpret_cast<const void*>(begin + place.offset);
  }
  const void* own_address(const Symmetric& place) const noexcept {
    return reinterpret_cast<const void*>((place.window == Window::heap ? memory_.heap : memory_.statics) +
                                         place.offset);
  }
  SyncTable& words() noexcept { return words_; }
  // Of a word of words(); null if it has none.
  History* history_of(const SyncWord& word) const noexcept {
    const std::uint32_t index = words_.index_of(word);
    if (index >= SyncTable::kOwnWords) return nullptr;
    return reinterpret_cast<History*>(histories_ + index * History::bytes(capacity_));
  }
  CallTree& calls() noexcept { return calls_; }
  JobHeader& header() noexcept { return *header_; }

  // A PE comes to a collective, releases its clock, and later leaves, with what the others have released. `members` and
  // `member` count in the team.
  struct Visit {
    std::uint64_t key;
    std::uint32_t members;
    std::uint32_t member;
  };
  void enter(const Visit& visit, const Clock& clock, std::uint64_t bytes) noexcept;
  // Joins the clocks of the members first..last into `clock`. Returns the bytes of all.
  struct Members {
    std::uint32_t first;
    std::uint32_t last;
  };
  std::uint64_t leave(const Visit& visit, const Members& from, Clock& clock) noexcept;

 private:
  JobHeader* header_ = nullptr;
  std::byte* meetings_ = nullptr;
  SyncTable words_;
  std::byte* histories_ = nullptr;
  CallTree calls_;
  bool is_open_ = false;
  int my_pe_ = 0;
  int n_pes_ = 0;
  std::uint32_t capacity_ = 0;
  SymmetricMemory memory_;
  SharedShadow cells_;

  void find_memory() noexcept;
  std::uint64_t statics_shadow() const noexcept;
  Meeting* meeting(const Visit& visit, bool is_new) noexcept;
};
extern Job job;

}  // namespace shmemx::races
