// Chooses the transports and devices of UCX that a worker is opened with. These are no more than the job needs: each
// tcp device listens on an address of its own, and anybody may connect there.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace shmemx::ucx {

// One network resource of this machine, such as "tcp/eth0".
struct Resource {
  std::string transport;
  std::string device;
};

// Values of UCX_TLS and UCX_NET_DEVICES; an empty one leaves the default.
struct Choice {
  std::string transports;
  std::string devices;
  std::string refusal;  // why UCX is not used, unless the user names devices; otherwise empty
};

// Interfaces of this machine.
struct Interfaces {
  std::vector<std::string> internal;  // with private addresses
  std::vector<std::string> routed;    // of a default route
};

// Returns true if some device reads and writes the memory of other machines without their CPU.
inline bool has_native_rma(const std::vector<Resource>& resources) {
  return std::any_of(resources.begin(), resources.end(), [](const Resource& resource) {
    return resource.transport.starts_with("rc") || resource.transport.starts_with("dc") ||
           resource.transport == "ugni_rdma";
  });
}

// Returns the interfaces of default routes, from the contents of /proc/net/route and /proc/net/ipv6_route.
inline std::vector<std::string> default_route_devices(const std::string& v4, const std::string& v6) {
  constexpr unsigned long kReject = 0x200;
  std::vector<std::string> found;
  const auto add = [&found](const std::string& device) {
    if (device != "lo" && std::find(found.begin(), found.end(), device) == found.end()) found.push_back(device);
  };
  std::string device, target, prefix, skipped, flags, mask, line;
  for (std::istringstream lines(v4); std::getline(lines, line);) {
    std::istringstream(line) >> device >> target >> skipped >> skipped >> skipped >> skipped >> skipped >> mask;
    if (target == "00000000" && mask == "00000000") add(device);
  }
  for (std::istringstream lines(v6); std::getline(lines, line);) {
    std::istringstream(line) >> target >> prefix >> skipped >> skipped >> skipped >> skipped >> skipped >> skipped >>
        flags >> device;
    if (prefix == "00" && target == std::string(32, '0') && (std::strtoul(flags.c_str(), nullptr, 16) & kReject) == 0)
      add(device);
  }
  return found;
}

// Leaves tcp out if there is native RMA. Otherwise, if all PEs are on one machine, keeps the loopback device only. If
// they are not, keeps the devices with private addresses, so that nobody outside can connect; without any, those of the
// default route, or the only one. UCX never listens on all networks of a machine unless the user says so.
inline Choice narrowed(const std::vector<Resource>& resources, bool one_machine, const Interfaces& interfaces = {}) {
  if (has_native_rma(resources)) return {"^sm,self,tcp", {}, {}};
  constexpr std::string_view kLoopback = "lo";
  const auto has = [&](std::string_view device) {
    return std::any_of(resources.begin(), resources.end(),
                       [&](const Resource& resource) { return resource.device == device; });
  };
  if (one_machine && has(kLoopback)) return {{}, std::string(kLoopback), {}};
  std::vector<std::string> others;
  for (const Resource& resource : resources) {
    const bool is_known = std::find(others.begin(), others.end(), resource.device) != others.end();
    if (resource.transport == "tcp" && resource.device != kLoopback && !is_known) others.push_back(resource.device);
  }
  const auto listed = [&has](const std::vector<std::string>& names, const char* separator) {
    std::string devices;
    for (const std::string& device : names) {
      if (has(device)) devices += (devices.empty() ? "" : separator) + device;
    }
    return devices;
  };
  std::string devices = listed(interfaces.internal, ",");
  if (devices.empty()) devices = listed(interfaces.routed, ",");
  if (devices.empty() && others.size() > 1)
    return {{},
            {},
            "UCX would listen on all networks of this machine (" + listed(others, ", ") +
                "), of which none has private addresses or a default route; name one in UCX_NET_DEVICES"};
  return {{}, devices.empty() ? listed(others, ",") : devices, {}};
}

// Returns the names by which releases of UCX know a variable in ucp_config_modify(). UCX 1.13 knows those of tcp, which
// no other transport has, by the part behind "TCP_" only, and says nothing of the whole name but a warning.
inline std::vector<std::string_view> names_of(std::string_view variable) {
  constexpr std::string_view kTcp = "TCP_";
  if (!variable.starts_with(kTcp)) return {variable};
  return {variable, variable.substr(kTcp.size())};
}

}  // namespace shmemx::ucx
