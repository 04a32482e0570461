// Short nonblocking requests that join a batch which has been begun for their PE: what a stream of them takes, in line
// and without a call. The path behind this one begins the batches, sends what fills them, and waits.
#pragma once

#include <cstdint>

#include "am/endpoint.hpp"
#include "onesided/rdma.hpp"
#include "onesided/requests.hpp"
#include "onesided/update.hpp"
#include "onesided/wire.hpp"

namespace shmemx::onesided {

// Longer data do not gather.
constexpr bool may_gather_reply(std::uint64_t bytes) noexcept {
  return bytes != 0 && am::Gathering::is_small(sizeof(ReplyHeader) + bytes);
}

// Returns whether a message of the endpoint does it: no network does by itself, and the PE's memory is not mapped.
[[gnu::always_inline]] inline bool goes_by_message(std::int32_t world_pe) noexcept {
  return !has_rma_networks && am::is_internode(world_pe);
}

// Require goes_by_message(). Return false, without an effect, if the request joins no batch.
template <class Header>
[[gnu::always_inline]] inline bool try_join_batch(const context::Context& context, std::int32_t world_pe,
                                                  am::HandlerId handler, const Placement& placement,
                                                  Header header) noexcept {
  const Initiator initiator = initiator_of(context);
  const am::LockedAtOnce lock;
  if (!lock || initiator.tracker->open.load(std::memory_order_relaxed) == 0 || !requests.has_room(initiator))
      [[unlikely]]  // the first one of a context leaves at once
    return false;
  header.ticket = requests.next_ticket();
  if (!am::Locked::held().net()->try_append({.pe = world_pe, .handler = handler, .header = am::bytes_of(header)}))
      [[unlikely]]
    return false;
  requests.open_in_line(placement, world_pe, initiator);
  return true;
}

[[gnu::always_inline]] inline bool try_get_in_batch(const context::Context& context, const context::Place& source,
                                                    void* dest, std::uint64_t bytes) noexcept {
  return try_join_batch(context, source.pe, am::kGet, contiguous(dest, bytes),
                        GetHeader{source.window, source.offset, static_cast<std::uint32_t>(bytes), 0});
}
[[gnu::always_inline]] inline bool try_fetch_in_batch(const context::Context& context, const context::Place& place,
                                                      void* fetch, const atomic::Operation& operation) noexcept {
  return try_join_batch(context, place.pe, am::kAtomicFetch, contiguous(fetch, atomic::element_bytes(operation.type)),
                        header_of(place, operation));
}

}  // namespace shmemx::onesided
