// Jobs over several hosts: oshrun replaces itself by an installed launcher.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "options.hpp"

namespace shmemx::launcher {

// Returns true if the job needs another launcher. `hosts` are the hosts of `spec` with the results of their look-up.
bool needs_other_launcher(const JobSpec& spec, const std::vector<HostFound>& hosts);

// The command that replaces oshrun.
struct ForeignCommand {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // "VAR=value", added to oshrun's own
};
// Translates the job into a command of `launcher`, which is not Launcher::any. `program` is the launcher's path.
Result<ForeignCommand> translate(const JobSpec& spec, Launcher launcher, const std::string& program);

// Replaces this process by the launcher. Returns only on failure, with the reason. Fails also if the launcher would
// start processes over ssh on a host that neither a name service nor the ssh configuration knows.
Error hand_over(const JobSpec& spec, const std::vector<HostFound>& hosts);

}  // namespace shmemx::launcher
