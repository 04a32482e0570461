// SHMEM_TRAP_ON_ABORT and SHMEMX_ATTACH_ON_ABORT: a PE that is about to end shows itself to a debugger.
#pragma once

#include "config/config.hpp"

namespace shmemx::runtime {

// By init, before the handlers of crashes are installed.
void stop_before_the_end(const config::Config& config) noexcept;

// Of a PE that dies of a signal: waits for a debugger if SHMEMX_ATTACH_ON_ABORT asks for it.
void wait_for_debugger_if_asked() noexcept;

}  // namespace shmemx::runtime
