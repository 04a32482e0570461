// Which CPUs a PE is bound to.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace shmemx::launcher {

// The cores, sockets or NUMA nodes among `allowed`, each as its CPU numbers; in the order of their first CPU. `root` is
// "/sys" but in tests. What the kernel does not tell counts as one group.
std::vector<std::vector<int>> cpu_groups(Bind bind, const std::vector<int>& allowed, const std::string& root);

}  // namespace shmemx::launcher
