// Windows of this PE: made, described, freed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "windows/description.hpp"
#include "windows/exposure.hpp"

namespace shmemx::public_windows {

// What routines return; the numbers are those of the public header.
using Code = int;

struct Owned {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  windows::WindowName name{};
  windows::Kind kind = windows::Kind::private_memory;
  std::uint64_t place = 0;
  bool releases_memory = false;         // when it is freed
  windows::RangeSet* ranges = nullptr;  // of a set, under the endpoint's lock
};

Code allocate_window(std::size_t bytes, void** address, std::uint64_t& handle) noexcept;
Code expose_window(void* address, std::size_t bytes, std::uint64_t& handle) noexcept;
// A window that is a set of ranges; ranges of one. add: the memory exists; remove: a range begins there.
Code expose_ranges(std::uint64_t& handle) noexcept;
Code add_range(std::uint64_t handle, void* address, std::size_t bytes) noexcept;
Code remove_range(const char* routine, std::uint64_t handle, void* address) noexcept;
Code describe_window(std::uint64_t handle, windows::Description& description) noexcept;
Code free_window(const char* routine, std::uint64_t handle) noexcept;

// Null when the handle is not that of a live window of this PE.
const Owned* find_owned(std::uint64_t handle) noexcept;

}  // namespace shmemx::public_windows
