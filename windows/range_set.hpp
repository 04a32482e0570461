// The memory of a window whose owner adds and removes ranges: which addresses belong to it. Any thread; each call takes
// a mutex, and time that grows with the logarithm of the number of ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace shmemx::windows {

class RangeSet {
 public:
  // Adds [address, address + bytes). Returns false if it overlaps another range. 0 bytes add nothing.
  [[nodiscard]] bool add(std::uint64_t address, std::uint64_t bytes);
  // Removes the range that begins there. Returns false if there is none.
  [[nodiscard]] bool remove(std::uint64_t address);
  void clear();
  // Returns whether ranges that follow each other without a gap hold all of [address, address + bytes).
  bool has(std::uint64_t address, std::uint64_t bytes) const;
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> ends_;  // by begin
};

}  // namespace shmemx::windows
