// Short puts and gets of the program past the target's CPU, where nothing stands in the way: one look-up, one lock, one
// call of the network. A word costs about 150 instructions of this library, so nothing here is out of line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/endpoint.hpp"
#include "base/own_stack.hpp"
#include "onesided/direct_table.hpp"
#include "onesided/lane.hpp"

namespace shmemx::onesided {

inline constexpr std::size_t kShortBytes = transport::Rma::kShortBytes;

// By a lane, without a lock.
[[gnu::always_inline]] inline bool put_at_once(Lane& lane, std::int32_t world_pe, std::uint64_t offset,
                                               transport::Bytes source) noexcept {
  if (!is_on_roomy_stack()) [[unlikely]]
    return false;
  const LanePeer* const peer =
      lane.user == this_thread() ? lane.peers.of(static_cast<std::uint32_t>(world_pe)) : nullptr;
  if (peer == nullptr) [[unlikely]]
    return false;
  const DirectPiece* const piece = peer->heap().find_short(offset);
  if (piece == nullptr || peer->fences != lane.fences) [[unlikely]]
    return false;
  lane.note_open();
  return lane.network->put_short(*piece->key, offset - piece->begin, source, lane.open.puts);
}

// Puts at most kShortBytes into the heap of a PE. The source may be used again on return. Returns false, with nothing
// started, if the operation has to wait, or to take another way. Requires has_short_path(), a context of the
// table without a lane, and something to put.
[[gnu::always_inline]] inline bool put_at_once(const context::Context& context, std::int32_t world_pe,
                                               std::uint64_t offset, transport::Bytes source) noexcept {
  if (!is_on_roomy_stack()) [[unlikely]]
    return false;
  const std::uint32_t fences = am::fences.load(std::memory_order_relaxed);  // this thread's own are in it
  const am::LockedAtOnce lock;
  const DirectPeer* const peer = lock ? direct_peer_of[static_cast<std::uint32_t>(world_pe)] : nullptr;
  if (peer == nullptr) [[unlikely]]
    return false;
  const DirectPiece* const piece = peer->heap.find_short(offset);
  if (piece == nullptr || peer->fences != fences) [[unlikely]]
    return false;
  return peer->bare->put_short(*piece->key, offset - piece->begin, source, context.direct_open->puts);
}

// One that is open is counted in direct_awaited, if not by a lane.
using transport::ShortGet;

// What follows some of the short gets. It returns how the get has begun, so that its caller keeps nothing meanwhile.
ShortGet end_lane_get(ShortGet begun) noexcept;
ShortGet end_common_get(ShortGet begun, bool is_poll_due) noexcept;

[[gnu::always_inline]] inline ShortGet get_at_once(Lane& lane, std::int32_t world_pe, std::uint64_t offset,
                                                   std::span<std::byte> dest,
                                                   transport::Completion& completion) noexcept {
  if (!is_on_roomy_stack()) [[unlikely]]
    return ShortGet::no;
  const LanePeer* const peer =
      lane.user == this_thread() ? lane.peers.of(static_cast<std::uint32_t>(world_pe)) : nullptr;
  if (peer == nullptr) [[unlikely]]
    return ShortGet::no;
  const DirectPiece* const piece = peer->heap().find_short(offset);
  if (piece == nullptr) [[unlikely]]
    return ShortGet::no;
  lane.note_open();
  const ShortGet begun = lane.network->get_short(*piece->key, offset - piece->begin, dest, completion);
  if (++lane.looks % am::kLooksPerPoll == 0) [[unlikely]]
    return end_lane_get(begun);
  return begun;
}

// Gets at most kShortBytes from the heap of a PE. The same requirements.
[[gnu::always_inline]] inline ShortGet get_at_once(std::int32_t world_pe, std::uint64_t offset,
                                                   std::span<std::byte> dest,
                                                   transport::Completion& completion) noexcept {
  if (!is_on_roomy_stack()) [[unlikely]]
    return ShortGet::no;
  const am::LockedAtOnce lock;
  const DirectPeer* const peer = lock ? direct_peer_of[static_cast<std::uint32_t>(world_pe)] : nullptr;
  if (peer == nullptr) [[unlikely]]
    return ShortGet::no;
  const DirectPiece* const piece = peer->heap.find_short(offset);
  if (piece == nullptr) [[unlikely]]
    return ShortGet::no;
  const ShortGet begun = peer->bare->get_short(*piece->key, offset - piece->begin, dest, completion);
  if (am::Locked::held().note_look()) [[unlikely]]
    return end_common_get(begun, true);
  if (begun == ShortGet::open) [[unlikely]]
    return end_common_get(begun, false);
  return begun;
}

// Waits for one that is open. Returns false if it has failed, as the PE is lost.
bool await_get(const char* routine, const context::Context& context, std::int32_t world_pe,
               transport::Completion& completion) noexcept;

}  // namespace shmemx::onesided
