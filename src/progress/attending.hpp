// Threads of the program that poll for messages all the time. PEs of the node look at that before they choose between a
// message and a copy by the kernel.
#pragma once

#include "base/doorbell.hpp"

namespace shmemx::progress {

// Of one thread: it polls from the one to the other. Where PEs outnumber cores nobody is told, since a thread that polls
// may have no core.
void begin_attending() noexcept;
void end_attending() noexcept;

// Returns whether a thread of the PE polls: a message would be handled at once. A hint.
inline bool is_attended(const Doorbell& doorbell) noexcept {
  return doorbell.attending.load(std::memory_order_relaxed) != 0;  // a hint
}

}  // namespace shmemx::progress
