// The command line of oshrun.
#pragma once

#include <string>
#include <vector>

#include "hosts.hpp"

namespace shmemx::launcher {

enum class Bind { none, core, socket, numa };

// Who runs jobs over several hosts.
enum class Launcher { any, hydra, srun, mpirun };

// One part of the command line between ':'.
struct AppSpec {
  int n_pes = 0;                         // 0: not given
  std::vector<std::string> command;      // program and its arguments
  std::vector<std::string> environment;  // "VAR=value"
  std::string directory;                 // empty: where oshrun runs
};

struct JobSpec {
  std::vector<AppSpec> apps;
  Bind bind = Bind::none;
  bool report_binding = false;
  bool tag_output = false;
  bool verbose = false;
  bool quiet = false;       // neither more PEs than cores nor the like are told
  double timeout_s = 0;     // 0: none
  std::vector<Host> hosts;  // empty: this one
  int n_host_pes = 0;       // on each host that says no number, 0: not given
  Launcher launcher = Launcher::any;

  int total_pes() const;
};

struct ParsedOptions {
  JobSpec job;
  bool finished = false;  // --help, --version, or an error: the text is printed, oshrun ends with `status`
  int status = 0;
};

ParsedOptions parse_options(const std::vector<std::string>& arguments);

}  // namespace shmemx::launcher
