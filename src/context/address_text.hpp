// Text for diagnostics about addresses that are not symmetric. Cold.
#pragma once

#include <cstdint>
#include <string>

namespace shmemx::context {

struct AddressText {
  std::string what;    // completes "argument 'dest' is 0x..., which is not a symmetric address: it is ..."
  std::string remedy;  // completes "...; ..."
};

// Finds out what lies at an address outside the symmetric memory: a variable on the stack, a global of a shared library
// or of the executable, memory of malloc. `globals_are_symmetric`: those of the executable.
// Returns " ('x', 32 bytes)" for an address in the program's variable x, " (8 bytes into 'x', 32 bytes)" for one inside
// it; empty where no variable is known.
std::string variable_text(std::uintptr_t address);

// The last allocation that has failed, which explains a null pointer.
void note_refused_allocation(const char* routine, std::size_t bytes, std::uint64_t left);

AddressText describe_address(std::uintptr_t address, bool globals_are_symmetric);

// Describes an address between the first and the last byte of the static data, in a part that is private.
AddressText describe_hole(std::uintptr_t address);

// Said by runtime: why globals of the executable are not symmetric in this job.
void set_private_globals_reason(std::string reason);

}  // namespace shmemx::context
