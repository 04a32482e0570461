// Shadow memory: for each 8 bytes of the program a cell with the last accesses to them.
//
// Cells of symmetric memory lie in a file that all PEs map, others in private memory. An untouched cell is zero. Any
// thread of any PE may record; the first word's highest bit is the cell's lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "races/clock.hpp"

namespace shmemx::races {

enum class Kind : std::uint8_t {
  load,
  store,
  atomic_load,
  atomic_update,
  put,           // a store of one word by a put, which a wait may see
  remote_store,  // a store of one word through shmem_ptr, which a wait may see
  wait,          // the load of a wait or test
  result,        // a collective stores to this PE's own dest
  contribution,  // a member stores to the dest of another one, which may not have come yet
  work,          // a collective is done with this PE's work array
};
inline constexpr int kKinds = 10;
constexpr bool is_store(Kind kind) noexcept {
  return kind != Kind::load && kind != Kind::atomic_load && kind != Kind::wait;
}

// May the two not be unordered?
constexpr bool conflict(Kind a, Kind b) noexcept {
  if (!is_store(a) && !is_store(b)) return false;
  const auto is_atomic = [](Kind kind) { return kind == Kind::atomic_load || kind == Kind::atomic_update; };
  const auto is_seen_by_waits = [&](Kind kind) {
    return is_atomic(kind) || kind == Kind::put || kind == Kind::remote_store;
  };
  if (a == Kind::wait) return !is_seen_by_waits(b);
  if (b == Kind::wait) return !is_seen_by_waits(a);
  const auto is_of_collective = [](Kind kind) { return kind == Kind::result || kind == Kind::contribution; };
  return !(is_atomic(a) && is_atomic(b)) && !(is_of_collective(a) && is_of_collective(b));
}

// Where an access stands: an address in the executable, or 0, and a node of the tree of calls.
struct Where {
  std::uint32_t pc = 0;
  std::uint32_t node = 0;
};

struct Stamp {
  Slot slot = kNoSlot;
  Epoch epoch = 0;
};

struct Access {
  Stamp stamp;
  Kind kind = Kind::load;
  std::uint8_t bytes = 0;  // a bit for each byte of the cell
  Where where;
  bool is_joined = false;  // stands for later ones of the slot, too
};

// What the thread that records knows, and up to where the deliveries in one slot are ordered before this one.
struct Knowledge {
  const Clock* clock;
  Stamp floor;

  bool covers(const Stamp& stamp) const noexcept {
    return clock->knows(stamp.slot, stamp.epoch) || (stamp.slot == floor.slot && stamp.epoch <= floor.epoch);
  }
  // Of one that is joined, a later one may be known by itself.
  bool covers(const Access& access) const noexcept {
    return covers(access.stamp) || (access.is_joined && clock->has_singles_of(access.stamp.slot));
  }
};

struct Cell {
  static constexpr int kEntries = 4;
  struct Entry {
    std::atomic<std::uint64_t> who;    // see pack()
    std::atomic<std::uint64_t> where;  // node, pc
  };
  Entry entries[kEntries];
};
static_assert(sizeof(Cell) == 64);

// epoch: bits 0..31, slot: 32..43, bytes: 44..51, kind: 52..55, is_joined: 56
inline constexpr std::uint64_t kJoined = std::uint64_t{1} << 56;
constexpr std::uint64_t pack(const Stamp& stamp, Kind kind, std::uint8_t bytes) noexcept {
  return stamp.epoch | std::uint64_t{stamp.slot} << 32 | std::uint64_t{bytes} << 44 |
         static_cast<std::uint64_t>(kind) << 52;
}
constexpr std::uint64_t pack(const Access& access) noexcept {
  return pack(access.stamp, access.kind, access.bytes) | (access.is_joined ? kJoined : 0);
}
constexpr Slot slot_of(std::uint64_t who) noexcept { return static_cast<Slot>(who >> 32 & 0xfff); }
constexpr std::uint8_t bytes_of(std::uint64_t who) noexcept { return static_cast<std::uint8_t>(who >> 44); }
constexpr Kind kind_of(std::uint64_t who) noexcept { return static_cast<Kind>(who >> 52 & 15); }
constexpr std::uint64_t pack(const Where& where) noexcept { return std::uint64_t{where.node} << 32 | where.pc; }
inline constexpr std::uint64_t kLocked = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kSlotField = std::uint64_t{0xfff} << 32;
inline constexpr std::uint64_t kBytesField = std::uint64_t{0xff} << 44;
inline constexpr std::uint64_t kKindField = std::uint64_t{15} << 52;
Access unpack(std::uint64_t who, std::uint64_t where) noexcept;

// Is the access there already, or, for a load, a store of the same epoch? `who` is packed.
inline bool is_recorded(const Cell& cell, std::uint64_t who) noexcept {
  constexpr std::uint64_t kStore = static_cast<std::uint64_t>(Kind::store) << 52;
  const std::uint64_t ignored = kLocked | kBytesField | ((who >> 52 & 15) == 0 ? kStore : 0);
  for (const Cell::Entry& entry : cell.entries) {
    const std::uint64_t other = entry.who.load(std::memory_order_relaxed);
    if (((other ^ who) & ~ignored) == 0 && (who & ~other & kBytesField) == 0) return true;
  }
  return false;
}

struct PackedAccess {
  std::uint64_t who;
  std::uint64_t where;
};

// Records an access. Returns true if an earlier one races with it, which is then in `earlier`.
bool record(Cell& cell, const Access& access, const Knowledge& knowledge, Access& earlier) noexcept;

// Records a load or store of the thread that owns the cell: see CellLocks. Returns false, and has changed nothing,
// unless the cell has a simple shape: entries of this thread only, of which one is for the same bytes, or free.
[[gnu::always_inline]] inline bool record_owned(Cell& cell, const PackedAccess& access) noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;  // the owner is alone
  const std::uint64_t who = access.who;
  // Is it a load or store of the same thread? Or, if it is a load, a load?
  constexpr std::uint64_t kStoreBit = std::uint64_t{1} << 52;
  const std::uint64_t differs = kLocked | kSlotField | (kKindField ^ (who & kStoreBit));
  const auto is_replaced = [&](std::uint64_t other) {
    return other == 0 || (((other ^ who) & differs) == 0 && (other & ~who & kBytesField) == 0);
  };
  if ((cell.entries[2].who.load(kRelaxed) | cell.entries[3].who.load(kRelaxed)) != 0) return false;
  const std::uint64_t first = cell.entries[0].who.load(kRelaxed);
  const std::uint64_t second = cell.entries[1].who.load(kRelaxed);
  if (!is_replaced(second)) return false;
  if (is_replaced(first)) {
    cell.entries[0].who.store(who, kRelaxed);
    cell.entries[0].where.store(access.where, kRelaxed);
    if (second != 0) cell.entries[1].who.store(0, kRelaxed);
    return true;
  }
  if (((first ^ who) & (kLocked | kSlotField)) != 0) return false;
  cell.entries[1].who.store(who, kRelaxed);
  cell.entries[1].where.store(access.where, kRelaxed);
  return true;
}

// Looks for an earlier access that races, without recording this one.
bool find_race(Cell& cell, const Access& access, const Knowledge& knowledge, Access& earlier) noexcept;

// A wait has seen what a put of many words has written to `bytes` of the cell. The rest of the put may still be under
// way, so that is known of these bytes alone: their store counts as one of the thread that waited, at `now`. Returns
// the puts.
struct Seen {
  Stamp puts[Cell::kEntries];
};
Seen note_seen(Cell& cell, std::uint8_t bytes, const Knowledge& knowledge, const Stamp& now) noexcept;

}  // namespace shmemx::races
