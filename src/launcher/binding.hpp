// Chooses the CPUs that a PE is bound to.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "options.hpp"

namespace shmemx::launcher {

// Returns the cores, sockets or NUMA nodes among `allowed`, each as its CPU numbers, in the order of their first CPU.
// `root` differs from "/sys" in tests only. CPUs that the kernel does not describe form one group.
std::vector<std::vector<int>> cpu_groups(Bind bind, const std::vector<int>& allowed, const std::string& root);

// The cores that this process reserves for its job, so that no two jobs are bound to one core. A claim is a socket
// bound to an abstract name: at most one process of the network namespace has it, and the kernel releases it when the
// process ends.
class CoreClaims {
 public:
  explicit CoreClaims(std::string prefix = "shmemx/core/") : prefix_(std::move(prefix)) {}

  // Claims the core that contains `cpu`. Returns false if another process has claimed it. On a system that refuses
  // such sockets every claim succeeds.
  bool claim(int cpu, const std::string& root);
  int refused() const;  // number of cores that other processes had claimed

 private:
  struct Core {
    bool ours = false;
    UniqueFd socket;
  };
  std::string prefix_;
  std::map<int, Core> cores_;  // by lowest CPU number
};

// Claims cores of the first groups, up to `n_groups` of them, and returns these groups without the CPUs of cores that
// other jobs have. Returns an empty list if no core is free.
std::vector<std::vector<int>> claim_groups(const std::vector<std::vector<int>>& groups, std::size_t n_groups,
                                           const std::string& root, CoreClaims& claims);

}  // namespace shmemx::launcher
