// Which CPUs each PE of a job is bound to, on cores that are claimed for the job.
#pragma once

#include <sched.h>

#include <vector>

#include "binding.hpp"
#include "options.hpp"
#include "output.hpp"

namespace shmemx::launcher {

class PeBinding {
 public:
  PeBinding(Bind bind, int n_pes);
  // Sets the CPUs of a PE. Returns false if it is not bound.
  bool get(int pe, cpu_set_t* cpus) const;
  // Prints what users have asked to know, and what they had better know.
  void announce(const JobSpec& spec, Output& output) const;

 private:
  const std::vector<int>& group_of(int pe) const { return groups_[static_cast<std::size_t>(pe) % groups_.size()]; }

  Bind bind_;
  int n_pes_;
  CoreClaims claims_;
  std::vector<std::vector<int>> groups_;  // of the claimed cores; empty if PEs are not bound
};

}  // namespace shmemx::launcher
