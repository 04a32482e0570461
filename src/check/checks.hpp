// Which checks are on. Set by runtime at init, before the first context is made; alike on all PEs.
#pragma once

#include "config/checks.hpp"

namespace shmemx::check {

using config::Checks;

inline constinit Checks enabled{};
inline bool is_on() noexcept { return enabled.any(); }

// Do operations pass their cold halves, which check them?
inline bool watches_operations() noexcept {
  return enabled.has(Checks::heap) || enabled.has(Checks::overlap) || enabled.has(Checks::pending);
}

}  // namespace shmemx::check
