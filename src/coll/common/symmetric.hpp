// Symmetric objects in collectives: where each member of a group has its copy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "context/route.hpp"

namespace shmemx::coll {

// The copies of a symmetric object on all PEs of a group: the copy of PE 0 and the step to the next PE's copy. If some
// member's memory is not mapped the step is 0 and every copy is this PE's own one: mapped_copy() then finds the copies
// of mapped members, context::place_of() those that only messages reach.
struct Symmetric {
  std::byte* pe0 = nullptr;
  std::int64_t step = 0;
  std::byte* at(int pe) const noexcept { return pe0 + static_cast<std::int64_t>(pe) * step; }
};

// A symmetric object as all PEs name it; 0: none.
using SymmetricName = std::uint64_t;
SymmetricName name_of_symmetric(const void* address) noexcept;
// The address of this PE's copy.
std::uintptr_t address_of(SymmetricName name) noexcept;
bool is_in_heap(SymmetricName name) noexcept;

// Returns where `pe`, whose memory is mapped, has its copy of a symmetric object that has been checked.
inline std::byte* mapped_copy(const context::Context& route, const std::byte* own_copy, int pe) noexcept {
  return context::mapped_address(route, context::place_of(route, own_copy, pe), pe);
}

// Checks and translates an argument of a collective; a range of 0 bytes is always valid. `direct`: the memory of all
// members is mapped. A collective touches every member's copy, so it translates once, into base and step: the step is
// the same for all windows of symmetric memory.
inline Symmetric symmetric(const context::Context& route, context::Site site, const void* address, std::uint64_t bytes,
                           bool direct) noexcept {
  if (direct && context::all_mapped) [[likely]]
    return {context::resolve(route, site, address, bytes, 0).address, route.pe_step};
  std::byte* const own = context::resolve(route, site, address, bytes, route.my_pe).address;
  if (direct) return {mapped_copy(route, own, 0), route.pe_step};
  return {own, 0};
}

// Returns the route of a subset of the PEs of `world`, all PEs of the job.
context::Context route_of(const context::Context& world, team::PeSet set, int my_pe) noexcept;

}  // namespace shmemx::coll
