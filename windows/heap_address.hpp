// One address for the heap on all PEs of a job. The standard does not ask for it, but programs rely on it: they send
// addresses of symmetric objects in messages, and broadcast arrays of pointers. Nothing in the library does.
//
// The address space is divided into zones. Each PE tells in its record which zones it does not use at all; the heap
// goes into zones that no PE uses. All compute its address from the same records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "windows/geometry.hpp"

namespace shmemx::windows {

inline constexpr int kZones = 64;
inline constexpr std::uint64_t kZoneBytes = std::uint64_t{2} << 40;  // together what a process on x86-64 may address

// Returns a bit for each zone of which this process has mapped nothing. None where the memory of programs has to lie in
// certain places, as under ThreadSanitizer, or if the kernel does not tell.
std::uint64_t free_zones() noexcept;

// Returns the address at which the heap of every PE of a job can lie, with the blocks of its node around it; 0 if these
// zones have no room for that.
std::uintptr_t common_heap_address(std::uint64_t zones, const Geometry& geometry) noexcept;

}  // namespace shmemx::windows
