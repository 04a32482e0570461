// MPI_Alloc_mem: memory that the other processes of the node can map, so that a window over it is reached as fast as
// one that MPI allocates.
#include <shmemx.h>

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/hints.hpp"
#include "interpose/job.hpp"

namespace interpose = shmemx::interpose;
using interpose::below;

namespace {

constexpr std::size_t kAligned = 64;  // all memory of shmemx

// What has been allocated here. Never destroyed: memory may be freed while the process ends.
struct Memory {
  std::mutex mutex;
  std::unordered_map<void*, shmemx_window_t> windows;
};
Memory& memory() {
  static Memory& all = *new Memory;
  return all;
}

bool allocate(MPI_Aint size, MPI_Info info, void*& base) {
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  if (!interpose::is_serving() || !interpose::shares_allocated_memory() || size <= 0 || interpose::Hints::alignment_of(info) > kAligned) return false;
  if (shmemx_window_allocate(static_cast<std::size_t>(size), &base, &window) != SHMEMX_SUCCESS) return false;
  const std::lock_guard guard(memory().mutex);
  memory().windows.emplace(base, window);
  return true;
}

// Returns the window of memory that has been allocated here, and forgets it.
bool take(void* base, shmemx_window_t& window) {
  const std::lock_guard guard(memory().mutex);
  const auto found = memory().windows.find(base);
  if (found == memory().windows.end()) return false;
  window = found->second;
  memory().windows.erase(found);
  return true;
}

}  // namespace

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
