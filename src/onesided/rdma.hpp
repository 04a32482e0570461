// Long blocks by a network's own put and get, where it has them: the target's CPU does nothing. Everything else goes by
// messages, and so does what the target has not opened to the network.
//
// A network keeps no order between these transfers and messages, so it is made here: a transfer to a PE waits for the
// messages that were sent there before the last fence; a fence waits for the puts of its context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "config/kinds.hpp"
#include "context/context.hpp"
#include "context/location.hpp"
#include "transport/transport.hpp"

namespace shmemx::onesided {

// From here on a block is long enough to wait for its completion, and for a key.
inline constexpr std::size_t kRdmaBytes = transport::kLongBytes;

// Would a PE reach others so over a network that can do this?
constexpr bool uses_rdma(const transport::Capabilities& can, config::NetRma choice) noexcept {
  return choice != config::NetRma::off && (can.rma || (choice == config::NetRma::on && can.keys));
}

// By runtime, at init, and when the windows are hidden: all that was opened to networks is closed.
void open_rdma(config::NetRma choice, std::span<transport::Transport* const> networks) noexcept;
void close_rdma() noexcept;

// May a block of so many bytes go to or come from `pe` that way?
bool has_rdma(int pe) noexcept;
inline bool goes_by_rdma(int pe, std::size_t bytes) noexcept { return bytes >= kRdmaBytes && has_rdma(pe); }

enum class Direction : std::uint8_t { put, get };

struct Transfer {
  const char* routine;
  Direction direction;
  context::Place place;
  std::byte* local;
  std::size_t bytes;

  void skip(std::size_t done) noexcept {
    place.offset += done;
    local += done;
    bytes -= done;
  }
};

// The begin of a transfer that is dealt with as one.
struct Part {
  std::size_t bytes;
  bool is_started;  // false: the network does not reach it
};
// Starts the first part; counted in `open` until it is complete at the target or here. Wants goes_by_rdma().
Part start_rdma(const Transfer& transfer, transport::Completion& open) noexcept;
// Until all that is counted there is complete. `pe`: to or from whom.
void await_rdma(const char* routine, int pe, const transport::Completion& open) noexcept;

// What the quiet of a context waits for.
transport::Completion& rdma_puts_of(const context::Context& context) noexcept;
transport::Completion& rdma_gets_of(const context::Context& context) noexcept;

// Fence: the context's puts are complete.
void flush_rdma_puts(const char* routine, const context::Context& context) noexcept;
// Quiet: the context's transfers are complete; those of all contexts.
void flush_rdma(const char* routine, const context::Context& context) noexcept;
void flush_rdma_all(const char* routine) noexcept;

// Of the asked PE; by set_handlers().
void set_key_handler() noexcept;

}  // namespace shmemx::onesided
