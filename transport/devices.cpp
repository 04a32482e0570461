#include "transport/devices.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "transport/plugin.hpp"

namespace shmemx::transport {
namespace {

// Returns the name of the driver that a device's link leads to.
std::string driver_of(const std::string& device) {
  char target[PATH_MAX];
  const ssize_t bytes = ::readlink((device + "/device/driver").c_str(), target, sizeof target);
  if (bytes <= 0) return {};
  const std::string_view path(target, static_cast<std::size_t>(bytes));
  return std::string(path.substr(path.rfind('/') + 1));
}

void add_class(const std::string& folder, std::vector<Device>& devices) {
  DIR* const directory = ::opendir(folder.c_str());
  if (directory == nullptr) return;
  while (const dirent* const entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.starts_with('.')) continue;
    devices.push_back({name, driver_of(folder + '/' + name)});
  }
  ::closedir(directory);
}

bool is_of(const Device& device, std::string_view family) {
  return device.name.starts_with(family) || device.driver.starts_with(family);
}

}  // namespace

std::vector<Device> rdma_devices(const std::string& root) {
  std::vector<Device> devices;
  for (const char* name : {"infiniband", "cxi", "cxi_user"}) add_class(root + "/sys/class/" + name, devices);
  std::sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) { return a.name < b.name; });
  return devices;
}

// UCX drives no device of efa or cxi by its own operations, and libfabric's verbs provider those of mlx5 by messages of
// a layer on top. A machine with both kinds has its fast network on the former; the other one leads to storage.
AutomaticOrder automatic_order(const std::vector<Device>& devices) {
  struct Preference {
    std::string_view family;
    const char* network;
  };
  constexpr Preference kPreferences[] = {{"efa", "ofi"}, {"cxi", "ofi"}, {"mlx5", "ucx"}};
  if (devices.empty()) return {{"tcp"}, "no RDMA device is there"};
  AutomaticOrder order{known_plugins(), "device " + devices.front().name};
  for (const Preference& preference : kPreferences) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const Device& candidate) { return is_of(candidate, preference.family); });
    if (device == devices.end()) continue;
    std::stable_partition(order.names.begin(), order.names.end(),
                          [&](const std::string& name) { return name == preference.network; });
    order.why = "device " + device->name;
    break;
  }
  order.names.emplace_back("tcp");
  return order;
}

}  // namespace shmemx::transport
