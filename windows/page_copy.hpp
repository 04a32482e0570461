// Reading pages of static data in place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::windows {

// Volatile reads and system calls instead of memcmp and memcpy: sanitizers keep guard zones between globals.
[[gnu::no_sanitize("address", "thread", "undefined")]] inline bool page_is_zero(const std::byte* page,
                                                                                std::size_t bytes) {
  const auto* words = reinterpret_cast<const volatile std::uint64_t*>(page);
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) any |= words[i];
  return any == 0;
}

[[gnu::no_sanitize("address", "thread", "undefined")]] inline void copy_page(std::byte* to, const std::byte* page,
                                                                             std::size_t bytes) {
  const auto* words = reinterpret_cast<const volatile std::uint64_t*>(page);
  auto* const copy = reinterpret_cast<volatile std::uint64_t*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) copy[i] = words[i];
}

}  // namespace shmemx::windows
