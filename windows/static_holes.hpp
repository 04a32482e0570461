// The parts of the window of static data that belong to none of its ranges: what lies there is private. Offsets are the
// same on all PEs, since the layout of the static data is (StaticData::digest).
#pragma once

#include <cstdint>
#include <vector>

namespace shmemx::windows {

struct StaticHole {
  std::uint64_t begin;  // offsets in the window
  std::uint64_t end;
};

// Called at init, before any address is looked up. In ascending order.
void set_static_holes(std::vector<StaticHole> holes);

extern constinit bool has_static_holes;
bool is_in_static_hole(std::uint64_t offset, std::uint64_t bytes) noexcept;

// Returns true if any of `bytes` at `offset`, which lie in the window, or the offset itself is in a hole.
inline bool touches_static_hole(std::uint64_t offset, std::uint64_t bytes) noexcept {
  return has_static_holes && is_in_static_hole(offset, bytes);
}

// Returns how many bytes follow an offset outside of holes before the next hole, or the end of the window.
std::uint64_t static_bytes_from(std::uint64_t offset, std::uint64_t window_bytes) noexcept;

}  // namespace shmemx::windows
