// From a name in SHMEMX_TRANSPORT to an open transport. "tcp" is part of the library; "ucx" and "ofi" are plug-ins that
// are looked for beside the library and loaded with dlopen; "loopback" reaches this PE only.
#pragma once

#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace shmemx::transport {

// Those that open_transports() tries without names, in its order.
std::vector<std::string> known_transports();

// One that was asked for: open, or why not.
struct Candidate {
  std::string name;
  TransportPtr transport;  // null when it cannot be used here
  std::string why_not;     // one clause, "libucp.so.0 is not installed"
};

// `names`: in the order of preference, as SHMEMX_TRANSPORT gives them; empty: all that are known, the best first. An
// unknown name is an error; one that cannot be used here is a candidate without a transport.
Result<std::vector<Candidate>> open_transports(const std::vector<std::string>& names, const Setup& setup);

// What a plug-in exports, under the name kPluginEntry.
struct PluginEntry {
  std::uint32_t version;  // kPluginVersion
  Result<TransportPtr> (*open)(const Setup& setup);
};
inline constexpr std::uint32_t kPluginVersion = 3;
inline constexpr char kPluginEntry[] = "shmemx_transport_plugin";

}  // namespace shmemx::transport
