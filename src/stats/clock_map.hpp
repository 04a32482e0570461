// From the clock of a machine to that of PE 0's machine: two comparisons of them, and a straight line in between.
#pragma once

#include <algorithm>
#include <cstdint>

namespace shmemx::stats {

__extension__ using Wide = __int128;  // products of two times

struct ClockReading {
  std::uint64_t at_ns;     // of this machine's clock; 0: they have not been compared
  std::int64_t offset_ns;  // what to add to it to get the clock of PE 0's machine
  std::uint64_t error_ns;  // at most so much more or less
};

// Lies in the file of a node. Both are zero on the node of PE 0; the second one is zero where the job has not ended in
// order.
struct ClockMap {
  ClockReading first;
  ClockReading last;

  int comparisons() const noexcept { return (first.at_ns != 0 ? 1 : 0) + (last.at_ns != 0 ? 1 : 0); }
  bool has_drift() const noexcept { return first.at_ns != 0 && last.at_ns > first.at_ns; }
  std::int64_t drift_ns() const noexcept { return has_drift() ? last.offset_ns - first.offset_ns : 0; }
  std::uint64_t error_ns() const noexcept { return std::max(first.error_ns, last.error_ns); }

  // Never decreases in `own_ns`, so that spans which lie within each other still do.
  std::int64_t reference_ns(std::uint64_t own_ns) const noexcept {
    std::int64_t offset_ns = first.offset_ns;
    if (has_drift()) {
      const auto passed = static_cast<Wide>(own_ns) - static_cast<Wide>(first.at_ns);
      const auto whole = static_cast<Wide>(last.at_ns - first.at_ns);
      const Wide product = passed * drift_ns();
      offset_ns += static_cast<std::int64_t>(product / whole - (product % whole < 0 ? 1 : 0));
    }
    return static_cast<std::int64_t>(own_ns) + offset_ns;
  }
};

}  // namespace shmemx::stats
