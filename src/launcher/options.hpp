// Parses the command line of oshrun.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "hosts.hpp"

namespace shmemx::launcher {

enum class Bind { none, core, socket, numa };

// The launchers that can run a job over several hosts.
enum class Launcher { any, hydra, srun, mpirun };

// What an option of another launcher changes in a job that this launcher does not run.
enum class Effect {
  as_asked,         // nothing: the job runs so anyway
  none,             // nothing, which is reported
  none_over_hosts,  // the same in a job over several hosts; on one it runs so anyway
  refused           // without it the job would be another one
};

// An option of another launcher.
struct OtherOption {
  Launcher whose = Launcher::any;
  std::vector<std::string> words;
  Effect effect = Effect::none;
  std::string instead;  // what to do where it is refused
};

// One part of the command line, separated from the others by ':'.
struct AppSpec {
  int n_pes = 0;                         // 0: not given
  std::vector<std::string> command;      // program and its arguments
  std::vector<std::string> environment;  // "VAR=value"
  std::string directory;                 // empty: oshrun's own
};

// Looking at PEs.
struct Inspection {
  int status_of = 0;         // not a job: the process of an oshrun, whose PEs are shown
  std::vector<int> gdb_pes;  // that run under gdb

  bool is_debugged(int pe) const { return std::find(gdb_pes.begin(), gdb_pes.end(), pe) != gdb_pes.end(); }
  // The PE that reads oshrun's standard input: the one whose debugger does, else PE 0.
  int reader() const { return gdb_pes.size() == 1 ? gdb_pes.front() : 0; }
};

struct JobSpec {
  std::vector<AppSpec> apps;
  Bind bind = Bind::none;
  bool report_binding = false;
  bool tag_output = false;
  bool verbose = false;
  bool quiet = false;    // no notes, such as that PEs outnumber cores
  double timeout_s = 0;  // 0: none
  Inspection inspection;
  std::vector<Host> hosts;  // empty: this host
  int n_host_pes = 0;       // for hosts without a number of their own; 0: not given
  Launcher launcher = Launcher::any;
  std::vector<OtherOption> others;

  int total_pes() const;
};

struct ParsedOptions {
  JobSpec job;
  bool finished = false;  // --help, --version or an error: print the text and end with `status`
  int status = 0;
};

ParsedOptions parse_options(const std::vector<std::string>& arguments);

}  // namespace shmemx::launcher
