// Whether the globals and statics of the executable are symmetric: they are on all PEs, or on none.
#pragma once

#include <string>

#include "windows/arena.hpp"

namespace shmemx::runtime {

struct StartParameters;

// Finds this PE's static data, or why they have to stay private. All threads that the library itself needs before they
// are moved are running.
void find_statics(StartParameters& parameters);

// Returns true if the static data of all PEs are symmetric, from the records of all PEs. Otherwise keeps the reason for
// diagnostics, and adds a warning to those of PE 0 unless the user has asked for it.
bool agree_on_statics(const windows::Arena& arena, StartParameters& parameters);

}  // namespace shmemx::runtime
