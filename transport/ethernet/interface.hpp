// The network interface that carries the frames.
#pragma once

#include <string>
#include <vector>

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

// Returns the interfaces called `names`, with commas between them; of several, some may be down. If that is empty:
//  - the first Ethernet interface with a link that is no bridge: those of devices precede virtual ones, and those with
//    an address those without; a job on one machine uses loopback
//  - if that has an address, the others of the same kind with an address whose MTU is not smaller, as they belong to
//    further networks between the hosts.
Result<std::vector<Interface>> choose_interfaces(const std::string& names, bool one_machine);

}  // namespace shmemx::ethernet
