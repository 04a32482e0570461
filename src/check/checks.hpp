// Which checks are on. Set by runtime at init, before the first context is made; alike on all PEs.
#pragma once

#include <cstdint>

#include "config/checks.hpp"

namespace shmemx::check {

using config::Checks;

inline constinit Checks enabled{};
// The one thread that may call the library at this thread level, as pthread_self() gives it; 0: any may. Set by
// runtime.
inline constinit std::uintptr_t only_thread = 0;
inline constinit const char* thread_level_name = "";
// Ends the job if another thread calls.
void check_thread(const char* routine) noexcept;
inline bool is_on() noexcept { return enabled.any(); }

// Do operations pass their cold halves, which check them?
inline bool watches_operations() noexcept {
  return enabled.has(Checks::heap) || enabled.has(Checks::overlap) || enabled.has(Checks::pending);
}

}  // namespace shmemx::check
