// Which launcher do the environment variables speak of, and how many processes do they say it started?
#pragma once

#include <string>

namespace shmemx::bootstrap {

struct LauncherSeen {
  const char* launcher = nullptr;  // nullptr: no launcher said that it started more than one process
  std::string evidence;            // "OMPI_COMM_WORLD_SIZE=4"
  long n_pes = 0;                  // 0 where the variables do not tell
  bool is_slurm_step = false;
};

// `get` looks a variable up as getenv does; a parameter so that tests can bring their own environment.
LauncherSeen find_launcher(const char* (*get)(const char* variable));

// Says in one line that this process is a job of one PE although the shell around it has an allocation for several
// tasks; empty if there is none. For processes that no launcher was found for.
std::string describe_allocation(const char* (*get)(const char* variable));

}  // namespace shmemx::bootstrap
