// The lines that a race is reported by.
#pragma once

#include <cstdint>

#include "races/thread.hpp"

namespace shmemx::races {

struct Race {
  Access later;
  Access earlier;
  std::uintptr_t address;  // only its place in the cell counts
  const Cell& cell;
};

// Prints the race unless the same two places have been reported already. Continues the program.
void report(Thread& thread, const Race& race) noexcept;

// How many this PE has found, and the summary line of it.
std::uint32_t n_reports() noexcept;
void print_summary() noexcept;

}  // namespace shmemx::races
