// Plug-ins: transports that need a library which may be absent. Each is a shared object, "libshmemx_<name>.so", loaded
// only if it is named. If it or its libraries are absent, the caller gets an error of one clause and nothing else
// happens.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "transport/transport.hpp"

namespace shmemx::transport {

// Returns the names of all plug-ins, the best first, installed or not.
std::vector<std::string> known_plugins();

// Loads the plug-in, once, and opens its transport. The error's text is a clause for Candidate::why_not.
Result<TransportPtr> open_plugin(const std::string& name, const Setup& setup);

// Returns the paths at which `name` is searched: beside this library, in its folder "shmemx", in the folder of
// installation, beside the program. The loader's own search comes last.
std::vector<std::string> plugin_paths(const std::string& name);

}  // namespace shmemx::transport
