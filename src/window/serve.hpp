// The owner's side: executes what others ask for. Every field of a request is checked before memory is touched.
#pragma once

#include <span>

#include "am/channel.hpp"
#include "window/wire.hpp"

namespace shmemx::window {

// The answer to a request, if it wants one. `body` lies in the window (get) or in `scratch`.
struct Served {
  bool answered = false;
  Reply reply{};
  std::span<const std::byte> body;
};

// How much an answer may be: `scratch` for what is computed, at least 8 bytes, `longest` for what lies in a window.
struct Room {
  std::span<std::byte> scratch;
  std::uint64_t longest;
};

// Pure: no channel, so that tests and fuzzers call it. A request that no PE sends is answered as `bad` where it has a
// ticket, and else ignored.
Served serve(am::HandlerId id, std::span<const std::byte> payload, Room room) noexcept;

// A put whose data arrive by themselves: where they belong, null when the request is to go through serve(); and what it
// is answered once they lie there. The header is the request alone.
std::byte* find_placement(std::span<const std::byte> header, std::uint64_t bytes) noexcept;
Served serve_placed(std::span<const std::byte> header) noexcept;
// The window that a request names, which every request begins with. The payload is as long as a name.
windows::WindowName window_of(std::span<const std::byte> payload) noexcept;

// With the channel's lock held.
void set_serving_handlers() noexcept;

}  // namespace shmemx::window
