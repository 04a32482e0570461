#include "pe_binding.hpp"

#include <algorithm>

#include "base/affinity.hpp"

namespace shmemx::launcher {
namespace {

const char* bind_name(Bind bind) { return bind == Bind::core ? "core" : bind == Bind::socket ? "socket" : "numa"; }

// Returns ", as other jobs have bound 2 cores".
std::string tell_taken(int cores) {
  if (cores == 0) return {};
  return ", as other jobs have bound " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
}

}  // namespace

PeBinding::PeBinding(Bind bind, int n_pes) : bind_(bind), n_pes_(n_pes) {
  if (bind_ == Bind::none) return;
  groups_ = claim_groups(cpu_groups(bind_, affinity_cpus(), "/sys"), static_cast<std::size_t>(n_pes_), "/sys", claims_);
}

bool PeBinding::get(int pe, cpu_set_t* cpus) const {
  if (groups_.empty()) return false;
  CPU_ZERO(cpus);
  for (int cpu : group_of(pe)) {
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(cpu), cpus);
  }
  return CPU_COUNT(cpus) > 0;
}

void PeBinding::announce(const JobSpec& spec, Output& output) const {
  int cpus = usable_cpus();
  std::size_t bound_cpus = 0;
  for (const std::vector<int>& group : groups_) bound_cpus += group.size();
  if (bound_cpus > 0) cpus = std::min(cpus, static_cast<int>(bound_cpus));
  if (n_pes_ > cpus && !spec.quiet) {
    output.say("info: " + std::to_string(n_pes_) + " PEs share " + std::to_string(cpus) +
               (cpus == 1 ? " usable core" : " usable cores") + (bound_cpus > 0 ? tell_taken(claims_.refused()) : "") +
               "; waiting PEs yield to others (-q leaves this line out)");
  }
  if (bind_ != Bind::none && groups_.empty() && !spec.quiet) {
    output.say("info: the PEs are not bound: other jobs have bound all cores that this one may use, cpu " +
               format_cpu_list(affinity_cpus()) + " (-q leaves this line out)");
  }
  if (!spec.report_binding && !spec.verbose) return;
  if (groups_.empty()) {
    if (spec.report_binding)
      output.say(std::string("info: pe ") + (n_pes_ > 1 ? "0.." : "") + std::to_string(n_pes_ - 1) +
                 " may run on cpu " + format_cpu_list(affinity_cpus()));
    return;
  }
  for (int pe = 0; pe < n_pes_; ++pe) {
    output.say("info: pe " + std::to_string(pe) + " is bound to " + bind_name(bind_) + " with cpu " +
               format_cpu_list(group_of(pe)));
  }
}

}  // namespace shmemx::launcher
