// Transports that need a library which may be absent: each is a plug-in, "libshmemx_<name>.so", loaded when it is asked
// for. A plug-in that is not there, or whose own libraries are not, is an error with one clause and nothing else.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "transport/transport.hpp"

namespace shmemx::transport {

// Names of the plug-ins that exist, the best first; whether they are installed shows when they are opened.
std::vector<std::string> known_plugins();

// Loads the plug-in once and opens its transport. The error's text is a clause for Candidate::why_not.
Result<TransportPtr> open_plugin(const std::string& name, const Setup& setup);

// Where `name` is looked for, in this order: beside this library, in its folder "shmemx", where it gets installed,
// beside the program. Full paths. After these comes the loader's own search.
std::vector<std::string> plugin_paths(const std::string& name);

}  // namespace shmemx::transport
