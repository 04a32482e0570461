// What else is called at the begin and the end of the calls that spans see.
#pragma once

#include "stats/kinds.hpp"

namespace shmemx::stats {

// Set by check; null: nobody. A call that begins ends in the same thread.
struct CallHooks {
  void (*begin)(const Call& call) noexcept = nullptr;
  void (*end)(const Call& call) noexcept = nullptr;
};
inline constinit CallHooks call_hooks;

}  // namespace shmemx::stats
