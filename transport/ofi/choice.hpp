// Which provider and which interface: what libfabric offers, put in order and tried until one passes its test.
#pragma once

#include <string>

#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/library.hpp"

namespace shmemx::ofi {

struct Choice {
  Fabric fabric;
  std::string passed_over;  // "net on eth0: fi_enable: ..."; empty where the first one was right
};

// FI_PROVIDER of the environment restricts what libfabric offers; all it leaves is tried then.
Result<Choice> choose_fabric(const Library& library);

// How well a provider serves, the best first; negative: not at all. Hardware, then plain networks.
int provider_rank(const char* provider, bool chosen_by_user) noexcept;

}  // namespace shmemx::ofi
