// MPI_Alloc_mem: memory that the other processes of the node can map, so that a window over it is reached as fast as
// one that MPI allocates.
#include <shmemx.h>

#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/hints.hpp"
#include "interpose/job.hpp"
#include "interpose/shared_memory.hpp"

namespace interpose = shmemx::interpose;
using interpose::below;

namespace {

constexpr std::size_t kAligned = 64;  // all memory of shmemx

struct Block {
  std::size_t bytes;
  shmemx_window_t window;
};

// What has been allocated here, by address. Never destroyed: memory may be freed while the process ends.
struct Memory {
  std::mutex mutex;
  std::map<std::uintptr_t, Block> blocks;
};
std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
Memory& memory() {
  static Memory& all = *new Memory;
  return all;
}

bool allocate(MPI_Aint size, MPI_Info info, void*& base) {
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  if (!interpose::is_serving() || !interpose::shares_allocated_memory() || size <= 0 || interpose::Hints::alignment_of(info) > kAligned) return false;
  const auto bytes = static_cast<std::size_t>(size);
  if (shmemx_window_allocate(bytes, &base, &window) != SHMEMX_SUCCESS) return false;
  const std::lock_guard guard(memory().mutex);
  memory().blocks.emplace(number_of(base), Block{bytes, window});
  return true;
}

// Returns the window of memory that has been allocated here, and forgets it.
bool take(void* base, shmemx_window_t& window) {
  const std::lock_guard guard(memory().mutex);
  const auto found = memory().blocks.find(number_of(base));
  if (found == memory().blocks.end()) return false;
  window = found->second.window;
  memory().blocks.erase(found);
  return true;
}

}  // namespace

bool interpose::is_shared_memory(const void* base, std::size_t bytes) {
  const std::lock_guard guard(memory().mutex);
  const auto behind = memory().blocks.upper_bound(number_of(base));
  if (behind == memory().blocks.begin()) return false;
  const auto& [begin, block] = *std::prev(behind);
  const std::size_t offset = number_of(base) - begin;
  return offset <= block.bytes && bytes <= block.bytes - offset;
}

SHMEMX_ENTRY int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* result) {
  void* base = nullptr;
  if (result == nullptr || !allocate(size, info, base)) return below().Alloc_mem(size, info, result);
  std::memcpy(result, &base, sizeof base);
  return MPI_SUCCESS;
}
SHMEMX_BOTH_NAMES(Alloc_mem, 3)

SHMEMX_ENTRY int PMPI_Free_mem(void* base) {
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  if (!take(base, window)) return below().Free_mem(base);
  if (interpose::is_serving()) shmemx_window_free(window);  // else it ends with the process
  return MPI_SUCCESS;
}
SHMEMX_BOTH_NAMES(Free_mem, 1)
