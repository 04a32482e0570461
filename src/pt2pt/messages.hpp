// Two-sided messages of this PE, as api/ calls them: the engine on the endpoint, and waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "am/endpoint.hpp"
#include "base/bulk_copy.hpp"
#include "base/immortal.hpp"
#include "progress/policy.hpp"
#include "pt2pt/engine.hpp"

namespace shmemx::pt2pt {

// The arguments of a call that diagnostics name. `pe` and `tag` of a receive may be kAny.
struct Call {
  const char* routine;
  int pe;
  int tag;
};

// Runtime calls open() after the endpoint has been set up, before the first message can arrive.
struct Start {
  nemesis::Parts parts;
  int me = 0;
  int n_pes = 0;
  std::size_t unexpected_max = 0;  // bytes
  LmtChoice lmt = LmtChoice::automatic;
  bool receive_bypass = true;
  bool crowded = false;
};
void open(const Start& start) noexcept;
// Forgets open requests. Runtime calls it when no message can arrive any more.
void close() noexcept;

extern constinit Immortal<Engine> own_engine;

using nemesis::Taken;

// Receives straight from the sender's fastbox into the user's memory. Requires Engine::is_bare(). Takes nothing if the
// next message there does not fit.
[[gnu::always_inline]] inline Taken take_from_box(am::Endpoint& endpoint, Key key, Place dest, Result& out) noexcept {
  return endpoint.take_next(
      key.source, am::kMessageEager, [&](am::Bytes payload) __attribute__((always_inline)) {
        EagerHeader header;  // there is room for one, whatever the message's length
        std::memcpy(&header, payload.data(), sizeof header);
        const std::size_t bytes = header.bytes;
        if (bytes + sizeof header != payload.size() || header.tag < 0) return false;
        if (header.tag != key.tag) [[unlikely]] {
          if (key.tag != kAny) return false;
        }
        const std::size_t taken = bytes <= dest.bytes ? bytes : dest.bytes;
        copy_payload(dest.at, payload.subspan(sizeof header, taken));
        out = {key.source, header.tag, taken, bytes > dest.bytes, false};
        return true;
      });
}

// The shortest paths. Return false, without an effect, if they do not apply.
[[gnu::always_inline]] inline bool send_at_once(int pe, int tag, const void* source, std::size_t bytes) noexcept {
  if (!progress::is_open()) [[unlikely]]
    return false;
  const am::Locked endpoint;
  if (!own_engine.object.is_clear(pe, 0)) [[unlikely]]  // what fits the box is one message
    return false;
  const EagerHeader header{tag, static_cast<std::uint32_t>(bytes)};
  return endpoint->try_send_in_box(
      {pe, am::kMessageEager, am::bytes_of(header), {static_cast<const std::byte*>(source), bytes}});
}
// Requires that the key names a source.
[[gnu::always_inline]] inline bool receive_at_once(Key key, Place dest, Result& out) noexcept {
  if (!progress::is_open()) [[unlikely]]
    return false;
  const am::Locked endpoint;
  return own_engine.object.is_bare() && take_from_box(*endpoint, key, dest, out) == Taken::yes;
}

// Send and receive a word for callers that keep nothing in memory: they call nothing. Return the doorbell that the
// caller wakes; null, without an effect, if they do not apply.
inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
inline constexpr std::size_t kWordMessageBytes = sizeof(EagerHeader) + kWordBytes;

[[gnu::always_inline]] inline Doorbell* send_word_at_once(int pe, int tag, const void* source) noexcept {
  if (!progress::is_open()) [[unlikely]]
    return nullptr;
  const am::LockedAtOnce lock;
  if (!lock || !own_engine.object.is_clear(pe, 0)) [[unlikely]]
    return nullptr;
  return am::Locked::held().send_at_once(
      pe, am::kMessageEager, kWordMessageBytes, [=](std::byte * to) __attribute__((always_inline)) {
        new (to) EagerHeader{tag, kWordBytes};
        std::memcpy(to + sizeof(EagerHeader), source, kWordBytes);
      });
}
// Requires that the key names a source. The room at `dest` is a word's. Stores the message's tag.
[[gnu::always_inline]] inline Doorbell* receive_word_at_once(Key key, void* dest, std::int32_t& tag) noexcept {
  if (!progress::is_open()) [[unlikely]]
    return nullptr;
  const am::LockedAtOnce lock;
  if (!lock || !own_engine.object.is_bare()) [[unlikely]]
    return nullptr;
  return am::Locked::held().take_at_once(
      key.source, am::kMessageEager, kWordMessageBytes, [&](const std::byte* payload) __attribute__((always_inline)) {
        EagerHeader header;
        std::memcpy(&header, payload, sizeof header);
        if (header.bytes != kWordBytes || header.tag < 0) return false;
        if (header.tag != key.tag) [[unlikely]] {
          if (key.tag != kAny) return false;
        }
        std::memcpy(dest, payload + sizeof header, kWordBytes);
        tag = header.tag;
        return true;
      });
}

// Blocking calls. The caller has checked the arguments.
void send_contiguous(const Call& call, const void* source, std::size_t bytes) noexcept;
void send(const Call& call, const Shape& source, bool synchronous) noexcept;
Result receive(const Call& call, const Shape& dest) noexcept;
Result receive_contiguous(const Call& call, Place dest) noexcept;
// Start a request. The list of a shape is copied.
RequestId start_send(const Call& call, const Shape& source, bool synchronous) noexcept;
RequestId start_send_contiguous(Call call, const void* source, std::size_t bytes) noexcept;
RequestId start_receive(const Call& call, const Shape& dest) noexcept;
RequestId start_receive_contiguous(Call call, Place dest) noexcept;

// Returns true, and describes the message, if an unexpected message fits. await_message() waits until one does.
bool find_message(const Call& call, Result& out) noexcept;
void await_message(const Call& call, Result& out) noexcept;

// Requests by the numbers that users hold. Return false if the number names no open request.
bool is_open(RequestId id) noexcept;
bool wait(const char* routine, RequestId id, Result& out) noexcept;
// Completes those in front that are complete: calls give(i, result) for each. Returns how many. `id_of(i)` is the i-th
// number.
template <class IdOf, class Give>
std::size_t take_complete(std::size_t count, const IdOf& id_of, const Give& give) noexcept {
  const am::Locked endpoint;
  Engine& engine = own_engine.object;
  std::size_t taken = 0;
  for (; taken != count; ++taken) {
    Request* const request = engine.find(id_of(taken));
    if (request == nullptr || request->phase != Phase::complete) break;
    give(taken, request->result);
    engine.give_back(*request);
  }
  if (taken != 0) endpoint->flush_networks();
  return taken;
}
enum class TestAnswer : std::uint8_t { unknown, open, complete };
TestAnswer test(RequestId id, Result& out) noexcept;
// As test(), but the request stays open, and nothing is polled.
TestAnswer look_at(RequestId id) noexcept;
// Waits until one of the requests is complete and returns its index. Ignores numbers of no open request; returns
// `count` if no other is left. `id_of(handles, i)` is the i-th number.
using NameOf = RequestId (*)(const void* handles, std::size_t i);
std::size_t wait_any(const char* routine, std::size_t count, NameOf id_of, const void* handles) noexcept;
// Cancels a receive, which is complete then, unless it has been matched already.
enum class CancelAnswer : std::uint8_t { unknown, a_send, an_operation, done };
CancelAnswer cancel(RequestId id) noexcept;

}  // namespace shmemx::pt2pt
