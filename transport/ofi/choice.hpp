// Chooses provider and interface: orders the offers of libfabric and tries them until one passes its test.
#pragma once

#include <string>

#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/library.hpp"

namespace shmemx::ofi {

struct Choice {
  Fabric fabric;
  std::string passed_over;  // offers that failed: "net on eth0: fi_enable: ..."; empty if the first one passed
};

// FI_PROVIDER in the environment restricts the offers; all that remain are tried then.
Result<Choice> choose_fabric(const Library& library);

// Returns a provider's place in the order of preference: hardware, then plain networks; negative if it is unfit.
int provider_preference(const char* provider, bool chosen_by_user) noexcept;

}  // namespace shmemx::ofi
