// Reports of oshrun on a job: before its PEs run, and after they have ended.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/affinity.hpp"
#include "job.hpp"

namespace shmemx::launcher {

using bootstrap::PePhase;

namespace {

const char* bind_name(Bind bind) { return bind == Bind::core ? "core" : bind == Bind::socket ? "socket" : "numa"; }

// Returns ", as other jobs have bound 2 cores".
std::string tell_taken(int cores) {
  if (cores == 0) return {};
  return ", as other jobs have bound " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
}

}  // namespace

void Job::announce() {
  const int n_pes = static_cast<int>(processes_.size());
  int cpus = usable_cpus();
  std::size_t bound_cpus = 0;
  for (const std::vector<int>& group : cpu_groups_) bound_cpus += group.size();
  if (bound_cpus > 0) cpus = std::min(cpus, static_cast<int>(bound_cpus));
  if (n_pes > cpus && !spec_.quiet) {
    say("info: " + std::to_string(n_pes) + " PEs share " + std::to_string(cpus) +
        (cpus == 1 ? " usable core" : " usable cores") + (bound_cpus > 0 ? tell_taken(claims_.refused()) : "") +
        "; waiting PEs yield to others (-q leaves this line out)");
  }
  if (spec_.bind != Bind::none && cpu_groups_.empty() && !spec_.quiet) {
    say("info: the PEs are not bound: other jobs have bound all cores that this one may use, cpu " +
        format_cpu_list(affinity_cpus()) + " (-q leaves this line out)");
  }
  if (!spec_.report_binding && !spec_.verbose) return;
  if (cpu_groups_.empty()) {
    if (spec_.report_binding)
      say(std::string("info: pe ") + (n_pes > 1 ? "0.." : "") + std::to_string(n_pes - 1) + " may run on cpu " +
          format_cpu_list(affinity_cpus()));
    return;
  }
  for (int pe = 0; pe < n_pes; ++pe) {
    say("info: pe " + std::to_string(pe) + " is bound to " + bind_name(spec_.bind) + " with cpu " +
        format_cpu_list(cpu_groups_[static_cast<std::size_t>(pe) % cpu_groups_.size()]));
  }
}

// Notes that no process joined the job: a program built with another library, or started by another launcher inside
// this job, runs as that many jobs of one PE.
void Job::note_absence() {
  const int n_pes = static_cast<int>(processes_.size());
  if (spec_.quiet || n_pes < 2 || status_ != 0 || fatal_signal_ != 0) return;
  for (int pe = 0; pe < n_pes; ++pe) {
    if (records_.phase(pe) != PePhase::none) return;
  }
  say("info: none of the " + std::to_string(n_pes) +
      " PEs joined the job by shmem_init; an OpenSHMEM program joins it if it is built with this library's oshcc and "
      "no "
      "other launcher starts it (-q leaves this line out)");
}

// Reports lost output. A reader that left is not reported: oshrun then ends as a program killed by SIGPIPE.
void Job::note_lost_output(const TaggedStream& stream) {
  const int error = stream.write_error();
  if (error == 0 || output_status_ != 0) return;
  output_status_ = error == EPIPE ? 128 + SIGPIPE : 1;
  if (error == EPIPE) return;
  say(std::string("cannot write to standard ") + (stream.dest() == STDOUT_FILENO ? "output" : "error") + ": " +
      std::strerror(error) + "; output of the PEs is lost");
}

}  // namespace shmemx::launcher
