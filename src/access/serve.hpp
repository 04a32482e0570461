// The owner's side: executes what others ask for. Every field of a request is checked before memory is touched.
#pragma once

#include <span>

#include "access/wire.hpp"
#include "channel/channel.hpp"

namespace shmemx::access {

// The answer to a request, if it wants one. `body` lies in the window (get) or in `scratch`.
struct Served {
  bool answered = false;
  Reply reply{};
  std::span<const std::byte> body;
};

// Pure: no channel, so that tests and fuzzers call it. `scratch` is as large as any payload. A request that no PE sends
// is answered as `bad` where it has a ticket, and else ignored.
Served serve(channel::HandlerId id, std::span<const std::byte> payload, std::span<std::byte> scratch) noexcept;

// With the channel's lock held.
void set_serving_handlers() noexcept;

}  // namespace shmemx::access
