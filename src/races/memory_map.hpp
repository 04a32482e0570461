// From an address to its cell: a table of chunks of 1 MiB, filled as they are touched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "races/shadow.hpp"

namespace shmemx::races {

// Zeroes, which take memory when they are touched. Ends the process if there is no room.
void* reserve(std::size_t bytes) noexcept;
// Makes them zeroes again.
void clear_private(std::byte* begin, std::size_t bytes) noexcept;

class MemoryMap {
 public:
  static constexpr unsigned kChunkBits = 20;

  void open() noexcept;
  // What is known so far of symmetric memory is wrong: the library starts or ends.
  void forget() noexcept;

  Cell* find(std::uintptr_t address) noexcept {
    const std::uintptr_t chunk = address >> kChunkBits;
    if (chunk >= kChunks) [[unlikely]]
      return nullptr;
    Cell* cells = chunks_[chunk];
    if (cells == nullptr) [[unlikely]]
      cells = add(chunk);
    return cells + (address % (std::uintptr_t{1} << kChunkBits)) / 8;
  }
  // Returns null for the first use of a chunk.
  Cell* find_known(std::uintptr_t address) const noexcept {
    const std::uintptr_t chunk = address >> kChunkBits;
    Cell* const cells = chunk < kChunks ? chunks_[chunk] : nullptr;
    return cells == nullptr ? nullptr : cells + (address % (std::uintptr_t{1} << kChunkBits)) / 8;
  }
  // Memory was given to the program anew: earlier accesses to it are none of this object.
  void clear(std::uintptr_t begin, std::size_t bytes) noexcept;

 private:
  static constexpr std::uintptr_t kChunks = std::uintptr_t{1} << (47 - kChunkBits);
  Cell** chunks_ = nullptr;  // the cells of each

  Cell* add(std::uintptr_t chunk) noexcept;
};
extern MemoryMap memory_map;

}  // namespace shmemx::races
