// Memory of another process through the kernel: process_vm_readv and process_vm_writev, one copy, no help of the owner.
// Whether it is allowed is found out by reading a word that only the right process has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "access/shape.hpp"

namespace shmemx::access {

// Writes where this PE's word lies into its directory.
void publish_probe() noexcept;

// The process number of `pe`, where its memory can be read that way; 0 where it cannot. Asked once for each PE. Silent.
int reachable_pid(int pe) noexcept;

enum class CmaResult { done, refused, fault };

// Moves the pairs of `walk`; `base` is the window's in the owner's address space. refused: nothing was moved.
CmaResult cma_put(int pid, std::uint64_t base, PairWalk walk) noexcept;
CmaResult cma_get(int pid, std::uint64_t base, PairWalk walk) noexcept;

}  // namespace shmemx::access
