// Opens transports by the names in SHMEMX_TRANSPORT. "tcp" and "ethernet" are part of the library; "ucx" and "ofi" are
// plug-ins.
#pragma once

#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace shmemx::transport {

// Returns the names of all transports.
std::vector<std::string> known_transports();

// A named transport: open, or the reason why not.
struct Candidate {
  std::string name;
  TransportPtr transport;  // null if it cannot be used here
  std::string why_not;     // one clause, "libucp.so.0 is not installed"
};

// Opens the transports of `names`, in their order. An unknown name is an error. A transport that cannot be used here
// becomes a candidate without a transport.
Result<std::vector<Candidate>> open_transports(const std::vector<std::string>& names, const Setup& setup);

// For a child that has just been forked: closes its copies of the descriptors of all networks, but for those that the
// libraries of plug-ins have opened. Async-signal-safe.
void close_descriptors_in_child() noexcept;

// The object that a plug-in exports under the name kPluginEntry.
struct PluginEntry {
  std::uint32_t version;  // kPluginVersion
  Result<TransportPtr> (*open)(const Setup& setup);
};
inline constexpr std::uint32_t kPluginVersion = 8;
inline constexpr char kPluginEntry[] = "shmemx_transport_plugin";

}  // namespace shmemx::transport
