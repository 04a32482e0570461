// What a crash inside a call of this library says of the program: an argument that leads to no memory.
#pragma once

#include <signal.h>

#include <string>

namespace shmemx::runtime {

// `frames`: the calls of the interrupted thread, from the innermost one on. `executable`: a path to it. Returns
// "shmem_putmem: argument 'source' leads to 0x10, where no memory is (null plus 16 bytes); called at main (ring.c:12)";
// empty if the signal is no fault, or of other code.
std::string fault_text(const siginfo_t& info, void* const* frames, int count, const std::string& executable);

}  // namespace shmemx::runtime
