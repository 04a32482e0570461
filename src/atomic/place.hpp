// Where something lies in the memory of a PE that is not mapped: as a message says it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "context/route.hpp"
#include "windows/exposure.hpp"

namespace shmemx::atomic {

struct RemotePlace {
  std::int32_t pe;  // world
  windows::WindowName window;
  std::uint64_t offset;
};

// `own_copy`: the address of this PE's copy of the symmetric object, as context::resolve() gives it for peers that are
// not mapped. `pe` counts in the context's team.
inline RemotePlace place_of(const context::Context& context, const void* own_copy, int pe) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(own_copy);
  const std::int32_t world = context::world_pe(context, pe);
  const std::uint64_t static_offset = address - context.static_base;
  if (static_offset < context.static_bytes) return {world, windows::kStaticWindow, static_offset};
  return {world, windows::kHeapWindow, address - context.heap_base};
}

}  // namespace shmemx::atomic
