// What this machine allows an OpenSHMEM job: found out by looking and trying, not assumed.
#pragma once

#include <nlohmann/json.hpp>

namespace shmemx::launcher {

// Sections in the order in which they are printed; each is an object of names and values.
nlohmann::ordered_json describe_machine();

// Packages, cores, caches and NUMA nodes by hwloc; without hwloc what affinity tells.
nlohmann::ordered_json describe_topology();

}  // namespace shmemx::launcher
