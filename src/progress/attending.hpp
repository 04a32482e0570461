// Threads of the program that poll for messages all the time. PEs of the node look at that before they choose between a
// message and a copy by the kernel.
#pragma once

#include "base/doorbell.hpp"

namespace shmemx::progress {

// Called every few polls by a thread that polls all the time, and at the end. Where PEs outnumber cores, and for some
// time after the thread has lost its core to another program, this shows nothing: a message would have to wait for it.
void attend() noexcept;
void end_attending() noexcept;

// Returns whether a thread of the PE polls: a message would be handled at once. A hint.
inline bool is_attended(const Doorbell& doorbell) noexcept {
  return doorbell.attending.load(std::memory_order_relaxed) != 0;  // a hint
}

}  // namespace shmemx::progress
