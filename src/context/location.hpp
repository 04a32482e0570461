// Where an object of a PE is: the one translation between this PE's addresses and the windows of the symmetric heap and
// the static data. A message names memory by window and offset; a mapped peer has it at an address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "context/context.hpp"
#include "context/route.hpp"
#include "windows/exposure.hpp"
#include "windows/static_holes.hpp"

namespace shmemx::context {

struct WindowOffset {
  windows::WindowName window;
  std::uint64_t offset;
};

// Memory of a PE as a message names it.
struct Place {
  std::int32_t pe;  // of the world
  windows::WindowName window;
  std::uint64_t offset;
};

// Finds the window of this PE that holds `bytes` at `address`. Returns false if they lie neither in the symmetric heap
// nor in the static data.
inline bool find_window(const Context& context, std::uintptr_t address, std::uint64_t bytes,
                        WindowOffset& found) noexcept {
  const std::uint64_t heap_offset = address - context.heap_base;
  const std::uint64_t static_offset = address - context.static_base;
  if (range_fits(heap_offset, bytes, context.window_bytes)) {
    found = {windows::kHeapWindow, heap_offset};
    return true;
  }
  found = {windows::kStaticWindow, static_offset};
  return range_fits(static_offset, bytes, context.static_bytes) && !windows::touches_static_hole(static_offset, bytes);
}

// Names the object of `pe` whose copy on this PE is at `own_copy`. The address is symmetric: resolve() has checked it.
inline Place place_of(const Context& context, const void* own_copy, int pe) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(own_copy);
  const std::int32_t world = world_pe(context, pe);
  const std::uint64_t static_offset = address - context.static_base;
  if (static_offset < context.static_bytes) return {world, windows::kStaticWindow, static_offset};
  return {world, windows::kHeapWindow, address - context.heap_base};
}

// Returns the address at which this process maps that place of `pe`. `pe` is mapped, the place is in one of its two
// windows.
inline std::byte* mapped_address(const Context& context, const WindowOffset& at, int pe) noexcept {
  std::byte* const near = at.window == windows::kStaticWindow ? context.near_statics : context.near_heap;
  return near + block_distance(context, pe) + at.offset;
}

// Where an operation on a symmetric object goes.
struct Location {
  std::byte* address;  // mapped; null: a message or a network has to go to `place`
  Doorbell* doorbell;  // of the owner, where the object is mapped
  Place place;

  bool is_mapped() const noexcept { return doorbell != nullptr; }
};

// Returns the location of the copy that `pe` has of a symmetric object. Ends the job if the address is not symmetric,
// the range leaves its window or the PE is out of range. For cold code: the hot half is resolve(), which fits two
// registers.
inline Location locate(const Context& context, Site site, const void* symmetric, std::uint64_t bytes, int pe) noexcept {
  const Target target = resolve(context, site, symmetric, bytes, pe);
  if (!is_remote(target)) return {target.address, target.doorbell, {}};
  return {nullptr, nullptr, place_of(context, target.address, pe)};
}

}  // namespace shmemx::context
