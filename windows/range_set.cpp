#include "windows/range_set.hpp"

#include <iterator>

namespace shmemx::windows {

bool RangeSet::add(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return true;
  const std::uint64_t end = address + bytes;
  if (end < address) return false;
  const std::lock_guard lock(mutex_);
  const auto next = ends_.lower_bound(address);
  if (next != ends_.end() && next->first < end) return false;
  if (next != ends_.begin() && std::prev(next)->second > address) return false;
  ends_.emplace_hint(next, address, end);
  return true;
}

bool RangeSet::remove(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  return ends_.erase(address) != 0;
}

void RangeSet::clear() {
  const std::lock_guard lock(mutex_);
  ends_.clear();
}

bool RangeSet::has(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t end = address + bytes;
  if (end < address) return false;
  const std::lock_guard lock(mutex_);
  auto range = ends_.upper_bound(address);
  if (range == ends_.begin()) return false;
  --range;
  for (std::uint64_t reached = address; range != ends_.end() && range->first <= reached; ++range) {
    if (range->second <= reached) return false;  // ends before the address
    reached = range->second;
    if (reached >= end) return true;
  }
  return false;
}

std::size_t RangeSet::size() const {
  const std::lock_guard lock(mutex_);
  return ends_.size();
}

}  // namespace shmemx::windows
