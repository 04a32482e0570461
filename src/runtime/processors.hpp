// Do the node's PEs outnumber the CPU time they may use?
#pragma once

#include "windows/arena.hpp"

namespace shmemx::runtime {

// The same answer on every PE: computed from the records of all.
bool pes_outnumber_cores(const windows::Arena& arena) noexcept;

}  // namespace shmemx::runtime
