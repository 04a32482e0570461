// What the PEs of the job do, for a table that people read.
#pragma once

#include <vector>

#include "bootstrap/status.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// Asks PEs of other machines, which takes up to a second if some do not answer. In jobs of many PEs it returns those of
// this arena alone.
std::vector<bootstrap::PeActivity> activities_of_job(windows::Arena& arena);

}  // namespace shmemx::runtime
