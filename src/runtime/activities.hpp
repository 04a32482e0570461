// What the PEs of the job do, as a table that people read.
#pragma once

#include <string>
#include <vector>

#include "windows/arena.hpp"

namespace shmemx::runtime {

// Returns its lines. Asks PEs of other machines, which takes up to a second if some do not answer. In jobs of many PEs
// these are the PEs of this arena alone, and the last line says so.
std::vector<std::string> table_of_job(windows::Arena& arena);

}  // namespace shmemx::runtime
