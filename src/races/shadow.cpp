#include "races/shadow.hpp"

#include <algorithm>
#include <iterator>

#include "races/cell_lock.hpp"

namespace shmemx::races {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;  // the cell's lock orders it

void write(Cell::Entry& entry, const Access& access) noexcept {
  const std::uint64_t lock = entry.who.load(kRelaxed) & kLocked;
  entry.who.store(pack(access) | lock, kRelaxed);
  entry.where.store(pack(access.where), kRelaxed);
}

// For each kind a set of kinds, as bits.
struct KindSets {
  std::uint16_t with[kKinds];
};
// Those that it conflicts with.
constexpr KindSets conflicts = [] {
  KindSets table{};
  for (int a = 0; a < kKinds; ++a) {
    for (int b = 0; b < kKinds; ++b) {
      if (conflict(static_cast<Kind>(a), static_cast<Kind>(b)))
        table.with[a] = static_cast<std::uint16_t>(table.with[a] | 1 << b);
    }
  }
  return table;
}();
unsigned conflicts_of(Kind kind) noexcept { return conflicts.with[static_cast<int>(kind)]; }

// Those that it may stand for when they are ordered before it: it has to conflict with all that they conflict with.
constexpr KindSets replaced = [] {
  KindSets table{};
  for (int a = 0; a < kKinds; ++a) {
    for (int b = 0; b < kKinds; ++b) {
      if ((conflicts.with[b] & ~conflicts.with[a]) == 0)
        table.with[a] = static_cast<std::uint16_t>(table.with[a] | 1 << b);
    }
  }
  return table;
}();
bool replaces(const Access& later, std::uint8_t earlier_bytes, Kind earlier) noexcept {
  return (earlier_bytes & ~later.bytes) == 0 &&
         (replaced.with[static_cast<int>(later.kind)] >> static_cast<int>(earlier) & 1) != 0;
}

// Of accesses that nothing orders. Atomics of different sizes are not atomic with each other.
bool races(const Access& a, const Access& b) noexcept {
  if ((a.bytes & b.bytes) == 0) return false;
  if ((conflicts_of(a.kind) >> static_cast<int>(b.kind) & 1) != 0) return true;
  return a.bytes != b.bytes && a.kind != Kind::wait && b.kind != Kind::wait && (is_store(a.kind) || is_store(b.kind)) &&
         (a.kind == Kind::atomic_update || b.kind == Kind::atomic_update);
}

// How readily an entry is given up: one that the access stands for, a free one, and if there is no room loads first, of
// which there are several then.
constexpr int kReplaced = 10;
constexpr int kFree = 9;
constexpr int kUncoveredLoad = 2;  // stores have less
int preference_for(const Access& earlier, bool is_covered) noexcept {
  return (is_store(earlier.kind) ? 0 : kUncoveredLoad) + (is_covered ? 1 : 0);
}

}  // namespace

Access unpack(std::uint64_t who, std::uint64_t where) noexcept {
  Access access;
  access.stamp = {slot_of(who), static_cast<Epoch>(who)};
  access.bytes = bytes_of(who);
  access.kind = kind_of(who);
  access.is_joined = (who & kJoined) != 0;
  access.where = {static_cast<std::uint32_t>(where), static_cast<std::uint32_t>(where >> 32)};
  return access;
}

namespace {

// Are the two the same but for their bytes, so that one entry may stand for both?
bool is_same_but_bytes(const Cell::Entry& entry, std::uint64_t who, const Access& access) noexcept {
  return ((who ^ pack(access)) & ~kBytesField) == 0 && entry.where.load(kRelaxed) == pack(access.where);
}

bool may_stand_for(std::uint64_t later, std::uint64_t earlier) noexcept {
  return (earlier & ~later & kBytesField) == 0 && (replaced.with[later >> 52 & 15] >> (earlier >> 52 & 15) & 1) != 0;
}

// The entries of a cell that is locked, of one thread: one that the access takes the place of, or a free one, and its
// bytes with those of entries that are the same. Those that it stands for, too, are emptied. Returns null if there is
// no room.
Cell::Entry* place_for(Cell& cell, std::uint64_t& mine, std::uint64_t where) noexcept {
  Cell::Entry* chosen = nullptr;
  Cell::Entry* free = nullptr;
  std::uint64_t bytes = 0;
  for (Cell::Entry& entry : cell.entries) {
    const std::uint64_t who = entry.who.load(kRelaxed) & ~kLocked;
    if (who == 0) {
      if (free == nullptr) free = &entry;
      continue;
    }
    if (((who ^ mine) & ~kBytesField) == 0 && entry.where.load(kRelaxed) == where) {
      bytes |= who & kBytesField;
    } else if (!may_stand_for(mine, who)) {
      continue;
    }
    if (chosen == nullptr) {
      chosen = &entry;
    } else {
      entry.who.store(0, kRelaxed);  // never the first one, which has the lock
    }
  }
  mine |= bytes;
  return chosen != nullptr ? chosen : free;
}

// Where a cell has no room, accesses of one slot, kind and place are joined, and count as the earliest of them: a race
// of a later one may then be missed.
bool may_join(const Cell::Entry& entry, std::uint64_t who, const Access& access) noexcept {
  return ((who ^ pack(access)) & (kSlotField | kKindField)) == 0 && entry.where.load(kRelaxed) == pack(access.where);
}
void join(Cell::Entry& entry, const Access& access) noexcept {
  Access all = unpack(entry.who.load(kRelaxed) & ~kLocked, entry.where.load(kRelaxed));
  all.stamp.epoch = std::min(all.stamp.epoch, access.stamp.epoch);
  all.bytes |= access.bytes;
  all.is_joined = true;
  write(entry, all);
}

bool is_of_slot(std::uint64_t who, std::uint64_t mine) noexcept { return who == 0 || ((who ^ mine) & kSlotField) == 0; }

bool record_among_others(Cell& cell, const Access& access, const Knowledge& knowledge, Access& earlier) noexcept {
  Cell::Entry* chosen = nullptr;
  Cell::Entry* kin = nullptr;
  int best = -1;
  bool is_race = false;
  Access all = access;
  for (Cell::Entry& entry : cell.entries) {
    const std::uint64_t who = entry.who.load(kRelaxed) & ~kLocked;
    if (who == 0) {
      if (best < kFree) chosen = &entry, best = kFree;
      continue;
    }
    const Access other = unpack(who, entry.where.load(kRelaxed));
    const bool is_covered = knowledge.covers(other);
    if (!is_covered && races(other, access)) {
      if (!is_race) earlier = other;
      is_race = true;
    }
    if (may_join(entry, who, access)) kin = &entry;
    int preference = preference_for(other, is_covered);
    const bool is_same = is_same_but_bytes(entry, who, access);
    if (is_same) all.bytes |= other.bytes;
    if (is_same || (is_covered && replaces(access, other.bytes, other.kind))) {
      if (best >= kReplaced) {  // one has been found already, and is enough
        entry.who.store(entry.who.load(kRelaxed) & kLocked, kRelaxed);
        continue;
      }
      preference = kReplaced;
    }
    // Among equals, one or the other, so that no access is hidden in each run.
    if (preference > best || (preference == best && ((access.stamp.epoch ^ access.where.pc) & 1) != 0))
      chosen = &entry, best = preference;
  }
  if (kin != nullptr && best <= kUncoveredLoad) {
    join(*kin, access);
  } else {
    write(*chosen, all);
  }
  return is_race;
}

// Records an access of a thread, in its present epoch, to a cell that only this thread has used, so that nothing races.
// Returns false if it is not so, or if there is no room.
[[gnu::always_inline]] inline bool record_alone(Cell& cell, std::uint64_t who, std::uint64_t where) noexcept {
  for (const Cell::Entry& entry : cell.entries) {
    if (!is_of_slot(entry.who.load(kRelaxed) & ~kLocked, who)) return false;
  }
  const std::uint64_t lock = cell.entries[0].who.load(kRelaxed) & kLocked;
  Cell::Entry* const place = place_for(cell, who, where);
  if (place == nullptr) return false;
  place->who.store(place == cell.entries ? who | lock : who, kRelaxed);
  place->where.store(where, kRelaxed);
  return true;
}

}  // namespace

bool record(Cell& cell, const Access& access, const Knowledge& knowledge, Access& earlier) noexcept {
  const CellGuard guard(cell);
  // What has the slot of a thread and is not ahead of it is ordered before its accesses.
  const bool is_of_thread = knowledge.clock->knows_prefix(access.stamp.slot, access.stamp.epoch);
  return !(is_of_thread && record_alone(cell, pack(access), pack(access.where))) &&
         record_among_others(cell, access, knowledge, earlier);
}

bool find_race(Cell& cell, const Access& access, const Knowledge& knowledge, Access& earlier) noexcept {
  const auto is_empty = [](const Cell::Entry& entry) { return entry.who.load(kRelaxed) == 0; };
  if (std::all_of(std::begin(cell.entries), std::end(cell.entries), is_empty)) return false;
  const CellGuard guard(cell);
  for (const Cell::Entry& entry : cell.entries) {
    const std::uint64_t who = entry.who.load(kRelaxed) & ~kLocked;
    if (who == 0) continue;
    earlier = unpack(who, entry.where.load(kRelaxed));
    if (!knowledge.covers(earlier) && races(earlier, access)) return true;
  }
  return false;
}

Seen note_seen(Cell& cell, std::uint8_t bytes, const Knowledge& knowledge, const Stamp& now) noexcept {
  Seen seen;
  Stamp* next = seen.puts;
  const CellGuard guard(cell);
  for (Cell::Entry& entry : cell.entries) {
    const std::uint64_t who = entry.who.load(kRelaxed) & ~kLocked;
    Access put = unpack(who, entry.where.load(kRelaxed));
    if (who == 0 || put.kind != Kind::put || (put.bytes & bytes) == 0 || knowledge.covers(put)) continue;
    *next++ = put.stamp;
    if ((put.bytes & ~bytes) == 0) {
      put.stamp = now;
      put.is_joined = false;
    } else {
      put.bytes &= static_cast<std::uint8_t>(~bytes);
    }
    write(entry, put);
  }
  return seen;
}

}  // namespace shmemx::races
