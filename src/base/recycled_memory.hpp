// Memory for the length of one call, such as the messages of a collective. Long pieces are kept for the next call: the
// C library may give such memory back to the kernel each time, and then each page of it costs a fault in the next call.
// Any thread may take and return memory.
#pragma once

#include <cstddef>
#include <memory>

namespace shmemx {

inline constexpr std::size_t kLeastRecycledBytes = std::size_t{32} << 10;
inline constexpr std::size_t kMostRecycledBytes = std::size_t{4} << 20;  // kept at any time, by a process
inline constexpr std::size_t kMostRecycledPieces = 16;

// Takes null, too.
struct ReturnMemory {
  void operator()(std::byte* memory) const noexcept;
};
using RecycledMemory = std::unique_ptr<std::byte[], ReturnMemory>;

// Returns at least `bytes`, at the begin of a cache line, with any contents. Ends the job if there is no memory.
RecycledMemory take_memory(std::size_t bytes) noexcept;

// Returns how much is kept now.
std::size_t recycled_bytes() noexcept;

}  // namespace shmemx
