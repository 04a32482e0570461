// Finds out by inspection and experiment what this machine allows an OpenSHMEM job.
#pragma once

#include <nlohmann/json.hpp>

namespace shmemx::launcher {

// Returns the sections in print order; each is an object of names and values.
nlohmann::ordered_json describe_machine();

// Returns packages, cores, caches and NUMA nodes as hwloc reports them; without hwloc, the affinity mask.
nlohmann::ordered_json describe_topology();

}  // namespace shmemx::launcher
