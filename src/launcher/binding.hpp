// Which CPUs a PE is bound to.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "options.hpp"

namespace shmemx::launcher {

// The cores, sockets or NUMA nodes among `allowed`, each as its CPU numbers; in the order of their first CPU. `root` is
// "/sys" but in tests. What the kernel does not tell counts as one group.
std::vector<std::vector<int>> cpu_groups(Bind bind, const std::vector<int>& allowed, const std::string& root);

// Cores that this process keeps for its job, so that no two jobs are bound to one core. A claim is a bound socket with
// an abstract name: at most one process of the network name space has it, and the kernel drops it with the process.
class CoreClaims {
 public:
  explicit CoreClaims(std::string prefix = "shmemx/core/") : prefix_(std::move(prefix)) {}

  // Claims the core that `cpu` is a thread of. Returns false if another process has it. A system that refuses such
  // sockets has all cores free.
  bool claim(int cpu, const std::string& root);
  int refused() const;  // how many cores others were found to have

 private:
  struct Core {
    bool ours = false;
    UniqueFd socket;
  };
  std::string prefix_;
  std::map<int, Core> cores_;  // by lowest CPU number
};

// Claims cores of the first groups, up to `n_groups` of them, and returns those groups without the CPUs of cores that
// other jobs have. Empty when no core is free.
std::vector<std::vector<int>> claim_groups(const std::vector<std::vector<int>>& groups, std::size_t n_groups,
                                           const std::string& root, CoreClaims& claims);

}  // namespace shmemx::launcher
