// Blocks of the symmetric heap, for reports: which one holds an offset, and where it was allocated. The same on all
// PEs.
#pragma once

#include <cstdint>

#include "races/shadow.hpp"

namespace shmemx::races {

struct HeapBlock {
  std::uint64_t begin;  // offset in the heap
  std::uint64_t bytes;
  Where allocated;
};
void add_block(const HeapBlock& block) noexcept;
void remove_block(std::uint64_t begin) noexcept;
// Returns false if there is none.
bool find_block(std::uint64_t offset, HeapBlock& found) noexcept;

}  // namespace shmemx::races
