// Options that users of other launchers type: which option of oshrun means the same, and which have no meaning here.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace shmemx::launcher {

using Words = std::vector<std::string>;

// The options of one part of the command line.
struct PartOptions {
  Words own;                        // in oshrun's spelling
  Words job_environment;            // "VAR=value" for all parts
  std::vector<OtherOption> others;  // the rest
  std::string wrong;                // what is wrong; empty if nothing is
};

// Takes the options off a part. Everything from the first word that is neither an option nor a value belongs to the
// program and goes to `command`.
PartOptions take_options(const Words& part, Words& command);

// Returns the words of those options that are this launcher's own.
Words passed_on(const JobSpec& spec, Launcher launcher);

// Reports options that have no effect if `launcher` runs the job; `any` stands for oshrun itself. Returns an error for
// the first one that the job cannot do without.
Status report_others(const JobSpec& spec, Launcher launcher);

}  // namespace shmemx::launcher
