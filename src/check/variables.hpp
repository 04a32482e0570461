// Static variables of the executable, which have no red zones: where they end is known from its symbol table.
#pragma once

#include <cstdint>

namespace shmemx::check {

// Ends the job if the bytes begin in a variable and go past its end. What is in none that is known is fine.
void check_variable(const char* routine, const char* argument, const void* address, std::uint64_t bytes) noexcept;
// Ends the job if an operation would write to a constant of the executable.
void check_writable(const char* routine, const char* argument, const void* address) noexcept;

}  // namespace shmemx::check
