// The network interface that carries the frames.
#pragma once

#include <string>

#include "base/result.hpp"
#include "transport/ethernet/frame.hpp"

namespace shmemx::ethernet {

struct Interface {
  std::string name;
  int index = 0;
  MacAddress mac{};
  std::size_t mtu = 0;  // of its frames, without the Ethernet header
  bool is_loopback = false;
};

// Returns the interface called `name`, or, if that is empty, the first Ethernet interface with a link that is no
// bridge: those of devices precede virtual ones, and those with an address those without. A job on one machine uses
// loopback.
Result<Interface> choose_interface(const std::string& name, bool one_machine);

}  // namespace shmemx::ethernet
