// Reads scattered memory of another process together with the gaps in it, and takes the pieces out of the copy. The
// kernel needs a third of a microsecond for each range of process_vm_readv, as long as for copying a page.
#pragma once

#include <sys/types.h>

#include "rma/shape.hpp"

namespace shmemx::rma {

// Copies all pairs of ranges, of which the first ones lie in process `pid` and the second ones here. The gaps between
// them have to be readable, so they are parts of one window. Returns 0 or -errno; then some may have been copied.
int covered_read(pid_t pid, PairWalk pairs) noexcept;

}  // namespace shmemx::rma
