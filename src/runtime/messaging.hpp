// Makes the node channel known to the layers, in every job; and opens it where the PEs need it to reach each other.
#pragma once

#include "nemesis/layout.hpp"
#include "runtime/start.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// The layout of a node's channel region, from this PE's variables.
nemesis::Layout channel_layout(const StartParameters& parameters) noexcept;

// Returns the doorbells that the PEs of this node sleep on.
Doorbells doorbells_of(const windows::Arena& arena, const StartParameters& parameters) noexcept;

// At each init, before anybody can send: handlers, windows. On the queue path messages flow from here on.
void open_messages(const windows::Arena& arena, StartParameters& parameters, int thread_level) noexcept;

// At the last finalize. flush: what this PE has sent has been handled. close: behind the barrier, nobody needs an
// answer of this PE any more.
void flush_messages(const char* routine) noexcept;
void close_messages() noexcept;

}  // namespace shmemx::runtime
