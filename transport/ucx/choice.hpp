// Which of UCX's transports and devices a worker is opened with: no more than the job needs, as each tcp device listens
// on an address of its own, where anybody who reaches it may connect.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace shmemx::ucx {

// "tcp/eth0": one way out of this machine.
struct Resource {
  std::string transport;
  std::string device;
};

// Values of UCX_TLS and UCX_NET_DEVICES; an empty one leaves the default.
struct Choice {
  std::string transports;
  std::string devices;
};

// Returns true if some device reads and writes memory of others by itself.
inline bool has_native_rma(const std::vector<Resource>& resources) {
  return std::any_of(resources.begin(), resources.end(), [](const Resource& resource) {
    return resource.transport.starts_with("rc") || resource.transport.starts_with("dc") ||
           resource.transport == "ugni_rdma";
  });
}

// Leaves tcp out where there is native RMA. Otherwise keeps to the loopback device where all PEs are on one machine.
inline Choice narrowed(const std::vector<Resource>& resources, bool one_machine) {
  if (has_native_rma(resources)) return {"^sm,self,tcp", {}};
  constexpr std::string_view kLoopback = "lo";
  const bool has_loopback = std::any_of(resources.begin(), resources.end(),
                                        [&](const Resource& resource) { return resource.device == kLoopback; });
  return one_machine && has_loopback ? Choice{{}, std::string(kLoopback)} : Choice{};
}

}  // namespace shmemx::ucx
