// Finds out from environment variables which launcher started this process, and how many processes it started.
#pragma once

#include <string>

namespace shmemx::bootstrap {

struct LauncherSeen {
  const char* launcher = nullptr;  // null: no variable says that a launcher started more than one process
  std::string evidence;            // "OMPI_COMM_WORLD_SIZE=4"
  long n_pes = 0;                  // 0 if the variables do not tell
  bool is_slurm_step = false;
};

// `get` looks a variable up, like getenv; tests pass their own environment.
LauncherSeen find_launcher(const char* (*get)(const char* variable));

// Returns a line that says that this process is a job of one PE although the shell around it has an allocation for
// several tasks; empty if it has none. To be called if no launcher was found.
std::string describe_allocation(const char* (*get)(const char* variable));

}  // namespace shmemx::bootstrap
