// Makes the node channel known to the layers, in every job; and opens it where the PEs need it to reach each other.
#pragma once

#include "am/layout.hpp"
#include "runtime/start.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// The channel region's layout, from this PE's variables.
am::Layout channel_layout(const config::Config& config, std::size_t n_pes) noexcept;

// Where PE 0 sleeps, and how far it is to the next one's doorbell.
struct Doorbells {
  std::byte* doorbell0;
  std::ptrdiff_t step;
  Doorbell& at(int pe) const noexcept { return *reinterpret_cast<Doorbell*>(doorbell0 + pe * step); }
};
Doorbells doorbells_of(const windows::Arena& arena, const StartParameters& parameters) noexcept;

// At each init, before anybody can send: handlers, windows. On the queue path messages flow from here on.
void open_messages(const windows::Arena& arena, StartParameters& parameters, int thread_level) noexcept;

// At the last finalize. flush: what this PE has sent has been handled. close: behind the barrier, nobody needs an
// answer of this PE any more.
void flush_messages(const char* routine) noexcept;
void close_messages() noexcept;

}  // namespace shmemx::runtime
