// Jobs over several hosts: oshrun hands over to a launcher that is installed.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "options.hpp"

namespace shmemx::launcher {

// Does the job need somebody else than oshrun itself? `hosts` are those of `spec`, looked up.
bool needs_other_launcher(const JobSpec& spec, const std::vector<HostFound>& hosts);

// What to run in oshrun's place.
struct ForeignCommand {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // "VAR=value", on top of oshrun's own
};
// `launcher` is not Launcher::any; `program` its path.
Result<ForeignCommand> translate(const JobSpec& spec, Launcher launcher, const std::string& program);

// Becomes the launcher. Returns only if that fails, with what to say; also if the launcher would start processes over
// ssh on a host that neither a name service nor the configuration of ssh knows.
Error hand_over(const JobSpec& spec, const std::vector<HostFound>& hosts);

}  // namespace shmemx::launcher
