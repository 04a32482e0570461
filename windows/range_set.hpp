// The memory of a window whose owner adds and removes ranges: which addresses belong to it. Under the endpoint's lock,
// as the handlers that look it up; each call takes time that grows with the logarithm of the number of ranges.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "base/machine.hpp"

namespace shmemx::windows {

class RangeSet {
 public:
  // Adding and removing a range makes no system call: its first look-up finds out whether its pages are mapped.
  using IsMapped = bool (*)(std::uint64_t address, std::uint64_t bytes) noexcept;
  explicit RangeSet(IsMapped check = is_mapped) noexcept : is_mapped_(check) {}

  // Adds [address, address + bytes). Returns false if it overlaps another range. 0 bytes add nothing.
  [[nodiscard]] bool add(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t end = address + bytes;
    if (bytes == 0) return true;
    if (end < address || ((newest_.end != 0 || !ranges_.empty() || !leaving_.empty()) && !has_room(address, end)))
      return false;
    newest_ = {address, end};
    return true;
  }
  // Removes the range that begins there. Returns its length, 0 if there is none. While it is in use it is leaving: not
  // found any more, but nothing can be added there.
  [[nodiscard]] std::uint64_t remove(std::uint64_t address) {
    if (newest_.end == 0 || newest_.begin != address) return remove_older(address);
    return std::exchange(newest_.end, 0) - address;
  }
  // Notes when a range was removed, in any unit. The last few are known.
  void note_removed(std::uint64_t address, std::uint64_t bytes, std::uint64_t when) noexcept {
    removed_[next_removed_++ % kRemoved] = {address, address + bytes, when};
  }
  // Returns when a range that held any of these bytes was last removed; 0 if none is known.
  std::uint64_t removed_at(std::uint64_t address, std::uint64_t bytes) const noexcept;
  bool is_leaving(std::uint64_t address) const { return !leaving_.empty() && leaving_.count(address) != 0; }
  // Removes all ranges, and forgets which were removed.
  void clear();
  // Count users of the ranges that hold any of [address, address + bytes): of those in the set at begin_use(), and for
  // end_use() of the same.
  void begin_use(std::uint64_t address, std::uint64_t bytes);
  void end_use(std::uint64_t address, std::uint64_t bytes);
  // Returns whether ranges that follow each other without a gap, and are mapped, hold all of the bytes at the address.
  bool has(std::uint64_t address, std::uint64_t bytes);
  // Returns the length of the mapped range that holds a byte, 0 if there is none.
  std::uint64_t range_around(std::uint64_t address, std::uint64_t& begin);
  std::size_t size();

 private:
  struct Range {
    std::uint64_t end;
    std::uint32_t users;
    bool is_mapped;  // false: it was not when it was looked at, or has not been looked at
  };
  using Ranges = std::map<std::uint64_t, Range>;  // by begin
  static bool has_overlap(const Ranges& ranges, std::uint64_t address, std::uint64_t end);
  template <class Visit>
  static void for_each(Ranges& ranges, std::uint64_t address, std::uint64_t end, Visit visit);
  void leave(Ranges::iterator range);
  bool has_pages(Ranges::value_type& range);
  void store_newest();
  bool has_room(std::uint64_t address, std::uint64_t end);
  std::uint64_t remove_older(std::uint64_t address);

  IsMapped is_mapped_;
  Ranges ranges_;
  Ranges leaving_;
  // The range that was added last, until anything else is done than to remove it again.
  struct Newest {
    std::uint64_t begin;
    std::uint64_t end;  // 0: there is none
  };
  Newest newest_{0, 0};
  struct Removed {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t when;
  };
  static constexpr std::size_t kRemoved = 16;
  std::array<Removed, kRemoved> removed_{};
  std::size_t next_removed_ = 0;
};

}  // namespace shmemx::windows
