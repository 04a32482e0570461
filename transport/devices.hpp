// The RDMA devices of this machine, as sysfs lists them, and the order in which networks are tried where
// SHMEMX_TRANSPORT is auto.
#pragma once

#include <string>
#include <vector>

namespace shmemx::transport {

struct Device {
  std::string name;    // "efa_0", "mlx5_1", "cxi0"
  std::string driver;  // of the kernel: "efa", "mlx5_core"; empty if sysfs does not say
};

// Returns those of InfiniBand's class, EFA among them, and of Slingshot's, sorted by name. `root` stands for "/".
std::vector<Device> rdma_devices(const std::string& root = "");

struct AutomaticOrder {
  std::vector<std::string> names;  // of transports, the first choice first; tcp is the last
  std::string why;                 // one clause
};
// Without a device tcp alone: it is the fastest, and the plug-ins need not be loaded.
AutomaticOrder automatic_order(const std::vector<Device>& devices);

}  // namespace shmemx::transport
