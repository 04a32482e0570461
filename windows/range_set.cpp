#include "windows/range_set.hpp"

#include <iterator>

namespace shmemx::windows {

bool RangeSet::has_overlap(const Ranges& ranges, std::uint64_t address, std::uint64_t end) {
  const auto next = ranges.lower_bound(address);
  if (next != ranges.end() && next->first < end) return true;
  return next != ranges.begin() && std::prev(next)->second.end > address;
}

// Visits the ranges that hold any of [address, end). visit(range) may remove it.
template <class Visit>
void RangeSet::for_each(Ranges& ranges, std::uint64_t address, std::uint64_t end, Visit visit) {
  auto range = ranges.upper_bound(address);
  if (range != ranges.begin() && std::prev(range)->second.end > address) --range;
  while (range != ranges.end() && range->first < end) visit(range++);
}

void RangeSet::store_newest() {
  if (newest_.end == 0) return;
  ranges_.emplace(newest_.begin, Range{newest_.end, 0, false});
  newest_.end = 0;
}

bool RangeSet::has_pages(Ranges::value_type& range) {
  if (!range.second.is_mapped) range.second.is_mapped = is_mapped_(range.first, range.second.end - range.first);
  return range.second.is_mapped;
}

bool RangeSet::has_room(std::uint64_t address, std::uint64_t end) {
  store_newest();
  return !has_overlap(ranges_, address, end) && !has_overlap(leaving_, address, end);
}

// Takes a range out of the set.
void RangeSet::leave(Ranges::iterator range) {
  if (range->second.users != 0) {
    leaving_.insert(ranges_.extract(range));
  } else {
    ranges_.erase(range);
  }
}

std::uint64_t RangeSet::remove_older(std::uint64_t address) {
  const auto range = ranges_.find(address);
  if (range == ranges_.end()) return 0;
  const std::uint64_t bytes = range->second.end - address;
  leave(range);
  return bytes;
}

std::uint64_t RangeSet::range_around(std::uint64_t address, std::uint64_t& begin) {
  store_newest();
  const auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin() || std::prev(next)->second.end <= address || !has_pages(*std::prev(next))) return 0;
  begin = std::prev(next)->first;
  return std::prev(next)->second.end - begin;
}

void RangeSet::clear() {
  store_newest();
  while (!ranges_.empty()) leave(ranges_.begin());
  removed_ = {};  // the next set here has removed nothing
}

void RangeSet::begin_use(std::uint64_t address, std::uint64_t bytes) {
  store_newest();
  for_each(ranges_, address, address + bytes, [](Ranges::iterator range) { ++range->second.users; });
}

// A range that leaves was in the set when the use began: it has users, and nothing has been added in its place.
void RangeSet::end_use(std::uint64_t address, std::uint64_t bytes) {
  for_each(ranges_, address, address + bytes, [](Ranges::iterator range) { --range->second.users; });
  for_each(leaving_, address, address + bytes, [this](Ranges::iterator range) {
    if (--range->second.users == 0) leaving_.erase(range);
  });
}

bool RangeSet::has(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  if (end < address) return false;
  store_newest();
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return false;
  --range;
  for (std::uint64_t reached = address; range != ranges_.end() && range->first <= reached; ++range) {
    if (range->second.end <= reached || !has_pages(*range)) return false;  // ends before the address
    reached = range->second.end;
    if (reached >= end) return true;
  }
  return false;
}

std::uint64_t RangeSet::removed_at(std::uint64_t address, std::uint64_t bytes) const noexcept {
  std::uint64_t last = 0;
  for (const Removed& range : removed_)
    if (range.begin < address + bytes && address < range.end && range.when > last) last = range.when;
  return last;
}

std::size_t RangeSet::size() {
  store_newest();
  return ranges_.size();
}

}  // namespace shmemx::windows
