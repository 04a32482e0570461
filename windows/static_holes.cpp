#include "windows/static_holes.hpp"

#include <algorithm>
#include <utility>

namespace shmemx::windows {
namespace {

// Never destroyed: threads may look up addresses while the process exits.
std::vector<StaticHole>& static_holes() {
  static auto* const instance = new std::vector<StaticHole>;
  return *instance;
}

// Returns the first hole that does not end before the offset; the end of the list if there is none.
auto next_hole(std::uint64_t offset) noexcept {
  const auto& holes = static_holes();
  return std::upper_bound(holes.begin(), holes.end(), offset,
                          [](std::uint64_t value, const StaticHole& hole) { return value < hole.end; });
}

}  // namespace

constinit bool has_static_holes = false;

void set_static_holes(std::vector<StaticHole> holes) {
  has_static_holes = !holes.empty();
  static_holes() = std::move(holes);
}

bool is_in_static_hole(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const auto hole = next_hole(offset);
  return hole != static_holes().end() && hole->begin < offset + std::max<std::uint64_t>(bytes, 1);
}

std::uint64_t static_bytes_from(std::uint64_t offset, std::uint64_t window_bytes) noexcept {
  const auto hole = next_hole(offset);
  return (hole == static_holes().end() ? window_bytes : hole->begin) - offset;
}

}  // namespace shmemx::windows
