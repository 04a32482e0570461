// Which function a call instruction leads to, for diagnostics. Cold code only.
#pragma once

namespace shmemx::runtime {

// Returns the function that was called by the instruction in front of this return address, directly or through the
// tables of the dynamic linker; null where the instruction does not tell.
const void* called_function(const void* return_address) noexcept;

}  // namespace shmemx::runtime
