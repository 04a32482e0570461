// The target: executes messages on the windows of this PE. Nothing that arrives is trusted: lengths, arithmetic, name,
// range and alignment are checked before memory is touched. Pure: no endpoint, so that tests and fuzzers can call it.
//
// A request with a ticket that names a public window is refused by a reply. Any other violation is named in `wrong`,
// for the handler to end the job; then nothing has changed.
#pragma once

#include <span>

#include "onesided/wire.hpp"

namespace shmemx::onesided {

// What a message without a reply results in: null, or what is wrong with it.
const char* perform_put(Bytes payload) noexcept;
const char* perform_put_strided(Bytes payload) noexcept;
const char* perform_signal(Bytes payload) noexcept;
const char* perform_put_signal(Bytes payload) noexcept;
const char* perform_atomic(Bytes payload) noexcept;

// What a request results in.
struct Executed {
  const char* wrong = nullptr;
  bool is_replied = false;
  ReplyHeader reply{};
  Bytes data{};              // of the reply; in the window or in `scratch`
  bool has_changed = false;  // an atomic has written its word
};
// What a reply may hold: `scratch` for what is computed, at least 8 bytes, `longest` for what lies in the window.
struct Room {
  std::span<std::byte> scratch;
  std::uint64_t longest;
};
Executed execute_put(Bytes payload, Room room) noexcept;
Executed execute_put_runs(Bytes payload, Room room) noexcept;
Executed execute_get(Bytes payload, Room room) noexcept;
Executed execute_get_strided(Bytes payload, Room room) noexcept;
Executed execute_atomic(Bytes payload, Room room) noexcept;
Executed execute_accumulate(Bytes payload, Room room) noexcept;
Executed execute_accumulate_strided(Bytes payload, Room room) noexcept;
// Only finds the window: null `wrong` and no reply if it has a byte at the request's offset.
Executed find_key_request(Bytes payload, KeyRequest& request, windows::ExposedRange& window) noexcept;

// The header of a message whose long data arrive separately. Returns the place for them; null if the message is to be
// executed, or refused, as a whole.
std::byte* find_put(Bytes header, std::size_t bytes) noexcept;
std::byte* find_put_signal(Bytes header, std::size_t bytes) noexcept;
std::byte* find_put_replied(Bytes header, std::size_t bytes) noexcept;
// When the data are there: the signal; the reply.
const char* perform_signal_of(Bytes header) noexcept;
Executed reply_to_placed(Bytes header) noexcept;

// The window that a message names; each begins with it. The payload is at least as long.
// The begin of messages that put or get contiguous bytes: the header of a put.
inline PutHeader place_of(Bytes payload) noexcept {
  PutHeader place;
  std::memcpy(&place, payload.data(), sizeof place);
  return place;
}
inline windows::WindowName window_of(Bytes payload) noexcept {
  windows::WindowName name;
  std::memcpy(&name, payload.data(), sizeof name);
  return name;
}

}  // namespace shmemx::onesided
