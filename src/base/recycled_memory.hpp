// Memory for a short time, such as that of messages of a collective, or of those that wait for their receive. Long
// pieces are kept for the next time: the C library may give such memory back to the kernel each time, and then each
// page of it costs a fault when it is used again. Any thread may take and return memory.
#pragma once

#include <cstddef>
#include <memory>

namespace shmemx {

inline constexpr std::size_t kLeastRecycledBytes = std::size_t{16} << 10;
inline constexpr std::size_t kMostRecycledBytes = std::size_t{4} << 20;  // kept at any time, by a process
inline constexpr std::size_t kMostRecycledPieces = 64;

// Takes null, too.
struct ReturnMemory {
  void operator()(std::byte* memory) const noexcept;
};
using RecycledMemory = std::unique_ptr<std::byte[], ReturnMemory>;

// Returns at least `bytes`, at the begin of a cache line, with any contents. Ends the job if there is no memory.
RecycledMemory take_memory(std::size_t bytes) noexcept;
// Is take_memory() that returns null if there is no memory.
RecycledMemory try_take_memory(std::size_t bytes) noexcept;

// Returns how much is kept now.
std::size_t recycled_bytes() noexcept;

}  // namespace shmemx
