// Memory of MPI_Alloc_mem that the other processes of the node can map.
#pragma once

#include <cstddef>

namespace shmemx::interpose {

// Returns true if the whole range, which is not empty, is such memory.
bool is_shared_memory(const void* base, std::size_t bytes);

}  // namespace shmemx::interpose
