// Jobs over several hosts: oshrun runs an installed launcher.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "options.hpp"

namespace shmemx::launcher {

// Returns true if the job needs another launcher. `hosts` are the hosts of `spec` with the results of their look-up.
bool needs_other_launcher(const JobSpec& spec, const std::vector<HostFound>& hosts);

// The command of that launcher.
struct ForeignCommand {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // "VAR=value", added to oshrun's own
};
// Translates the job into a command of `launcher`, which is not Launcher::any. `program` is the launcher's path.
Result<ForeignCommand> translate(const JobSpec& spec, Launcher launcher, const std::string& program);

// Runs the job by the launcher and returns its exit status. Fails also if the launcher would start processes over ssh
// on a host that neither a name service nor the ssh configuration knows.
Result<int> hand_over(const JobSpec& spec, const std::vector<HostFound>& hosts);

}  // namespace shmemx::launcher
