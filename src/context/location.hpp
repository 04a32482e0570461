// Where an object of a PE is: its place, by window and offset, as a message names it; and its address, where the memory
// of the PE is mapped. The one translation between this PE's addresses and the windows of the symmetric heap and the
// static data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/doorbell.hpp"
#include "context/context.hpp"
#include "windows/exposure.hpp"
#include "windows/static_holes.hpp"

namespace shmemx::context {

// Memory of a PE as a message names it.
struct Place {
  std::int32_t pe;  // of the world
  windows::WindowName window;
  std::uint64_t offset;
};

// Where an operation on a symmetric object goes.
struct Location {
  std::byte* address;  // mapped; null: a message or a network has to go to `place`
  Doorbell* doorbell;  // where the owner sleeps; null like the address
  Place place;         // known where the address is null; resolve() leaves it out where the heap is near

  bool is_mapped() const noexcept { return doorbell != nullptr; }
};

// The place of `pe` among the near PEs; n_near or more if it is none of them. Hot halves count from there, and hand
// this number to the cold ones: so they need not keep `pe`, and a job of several nodes costs no instruction more.
inline std::uint32_t near_index(const Context& context, int pe) noexcept {
  return static_cast<std::uint32_t>(pe) - context.first_near;
}
inline int pe_at(const Context& context, std::uint32_t near) noexcept {
  return static_cast<int>(near + context.first_near);
}
inline std::byte* near_heap(const Context& context, std::uint32_t index) noexcept {
  return context.near_heap + static_cast<std::int64_t>(index) * context.pe_step;
}
// How far in bytes the block of `pe`, which is mapped, lies behind that of the first near PE.
inline std::int64_t block_distance(const Context& context, int pe) noexcept {
  const std::uint32_t near = near_index(context, pe);
  if (near < context.n_near) [[likely]]
    return static_cast<std::int64_t>(near) * context.pe_step;
  const int first = world_pe(context, static_cast<int>(context.first_near));
  return (node_index(world_pe(context, pe)).value - node_index(first).value) * places.block_step;
}
// The heap of a PE whose memory is mapped.
inline std::byte* peer_heap(const Context& context, int pe) noexcept {
  return context.near_heap + block_distance(context, pe);
}

// Returns whether `bytes` at `offset` lie in a window of `window_bytes`. An offset at its end does not, even with 0
// bytes.
constexpr bool range_fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t window_bytes) noexcept {
  return offset < window_bytes && bytes <= window_bytes - offset;
}

// Names the object of `pe` whose copy on this PE is the `bytes` at `address`. Nothing if they lie neither in the
// symmetric heap nor in the static data.
inline std::optional<Place> find_place(const Context& context, std::uintptr_t address, std::uint64_t bytes,
                                       int pe) noexcept {
  const std::uint64_t heap_offset = address - context.heap_base;
  if (range_fits(heap_offset, bytes, context.window_bytes))
    return Place{world_pe(context, pe), windows::kHeapWindow, heap_offset};
  const std::uint64_t static_offset = address - context.static_base;
  if (!range_fits(static_offset, bytes, context.static_bytes) || windows::touches_static_hole(static_offset, bytes))
    return std::nullopt;
  return Place{world_pe(context, pe), windows::kStaticWindow, static_offset};
}

// As find_place(), of an address that has been checked.
inline Place place_of(const Context& context, const void* own_copy, int pe) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(own_copy);
  const std::int32_t world = world_pe(context, pe);
  const std::uint64_t static_offset = address - context.static_base;
  if (static_offset < context.static_bytes) return {world, windows::kStaticWindow, static_offset};
  return {world, windows::kHeapWindow, address - context.heap_base};
}

// Returns the address at which this process maps that place of `pe`, a PE of the context that is mapped. The place is
// in one of its two windows.
inline std::byte* mapped_address(const Context& context, const Place& place, int pe) noexcept {
  std::byte* const near = place.window == windows::kStaticWindow ? context.near_statics : context.near_heap;
  return near + block_distance(context, pe) + place.offset;
}

}  // namespace shmemx::context
