// Do the node's PEs outnumber the CPU time they may use?
#pragma once

#include "windows/arena.hpp"

namespace shmemx::runtime {

// The same answer on every PE of the node of `me`: computed from the records of all of them.
bool pes_outnumber_cores(const windows::Arena& arena, int me) noexcept;

}  // namespace shmemx::runtime
