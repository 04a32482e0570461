// Two-sided messages of this process: the engine on the node channel, and the waiting. What api/ calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "channel/channel.hpp"
#include "message/engine.hpp"

namespace shmemx::message {

// What a diagnostic calls the routine, and whom it concerns. Receives may have kAny in both numbers.
struct Call {
  const char* routine;
  int pe;
  int tag;
};

// By runtime: after the channel has been set up, before the first message can come.
struct Start {
  channel::Parts parts;
  int me = 0;
  int n_pes = 0;
  std::size_t unexpected_max = 0;  // bytes
  LmtChoice lmt = LmtChoice::automatic;
  bool crowded = false;
};
void open(const Start& start) noexcept;
// By runtime, when no message can come any more: what is open is forgotten.
void close() noexcept;

// Blocking. Arguments have been checked.
void send_contiguous(const Call& call, const void* source, std::size_t bytes) noexcept;
void send(const Call& call, const Shape& source, bool synchronous) noexcept;
Result receive(const Call& call, const Shape& dest) noexcept;
void receive_contiguous(const Call& call, Place dest, Result& out) noexcept;
// Started; the list of a shape is copied.
RequestId start_send(const Call& call, const Shape& source, bool synchronous) noexcept;
RequestId start_receive(const Call& call, const Shape& dest) noexcept;

// True when a message fits; then `out` says which.
bool find_message(const Call& call, Result& out) noexcept;
void await_message(const Call& call, Result& out) noexcept;

// Requests by the number that users hold. False: not an open request.
bool is_open(RequestId id) noexcept;
bool wait(const char* routine, RequestId id, Result& out) noexcept;
enum class TestAnswer : std::uint8_t { unknown, open, complete };
TestAnswer test(RequestId id, Result& out) noexcept;
// Waits until one of them is complete, and says which. Names of no open request are left out; `count` when all are.
// `id_of(handles, i)` is the i-th name.
using NameOf = RequestId (*)(const void* handles, std::size_t i);
std::size_t wait_any(const char* routine, std::size_t count, NameOf id_of, const void* handles) noexcept;
// Receives only. `done`: if it was not matched before, it is complete now.
enum class CancelAnswer : std::uint8_t { unknown, a_send, done };
CancelAnswer cancel(RequestId id) noexcept;

}  // namespace shmemx::message
