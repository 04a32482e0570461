// Chooses the transports and devices of UCX that a worker is opened with. These are no more than the job needs: each
// tcp device listens on an address of its own, and anybody may connect there.
#pragma once

#include <algorithm>
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
};

// Returns true if some device reads and writes the memory of other machines without their CPU.
inline bool has_native_rma(const std::vector<Resource>& resources) {
  return std::any_of(resources.begin(), resources.end(), [](const Resource& resource) {
    return resource.transport.starts_with("rc") || resource.transport.starts_with("dc") ||
           resource.transport == "ugni_rdma";
  });
}

// Leaves tcp out if there is native RMA. Otherwise, if all PEs are on one machine, keeps the loopback device only; if
// they are not, keeps the devices with private addresses only, `internal`, so that nobody outside can connect.
inline Choice narrowed(const std::vector<Resource>& resources, bool one_machine,
                       const std::vector<std::string>& internal = {}) {
  if (has_native_rma(resources)) return {"^sm,self,tcp", {}};
  constexpr std::string_view kLoopback = "lo";
  const auto has = [&](std::string_view device) {
    return std::any_of(resources.begin(), resources.end(),
                       [&](const Resource& resource) { return resource.device == device; });
  };
  if (one_machine && has(kLoopback)) return {{}, std::string(kLoopback)};
  std::string devices;
  for (const std::string& device : internal) {
    if (has(device)) devices += (devices.empty() ? "" : ",") + device;
  }
  return {{}, devices};
}

}  // namespace shmemx::ucx
