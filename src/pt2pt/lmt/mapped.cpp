#include <algorithm>

#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/lmt/section.hpp"
#include "pt2pt/lmt/shared_copy.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {
namespace {

std::uint64_t offset_of(const Place& place) noexcept { return reinterpret_cast<std::uintptr_t>(place.at); }

// Returns true if the sender's description names memory that the receiver maps.
bool maps_sender(Transfers& transfers, int source, const Section& section) noexcept {
  return section.space != Space::private_memory && section.count != 0 &&
         transfers.platform().address_of(source, section.space, offset_of(section.places[0]),
                                         section.places[0].bytes) != nullptr;
}

bool is_mapped_by_sender(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer) noexcept {
  return offer.rts.maps_receiver != 0 &&
         space_of(transfers.platform(), receive.peer, receive.cursor.shape()) != Space::private_memory;
}

bool suits(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer) noexcept {
  return maps_sender(transfers, receive.peer, offer.section) || is_mapped_by_sender(transfers, receive, offer);
}

// If each side maps the other's memory, they share the copy.
bool start_receive(Transfers& transfers, ReceiveRequest& receive, const Offer& offer) noexcept {
  if (!maps_sender(transfers, receive.peer, offer.section)) return true;
  receive.transfer.described_by_peer = true;
  if (may_share(transfers, receive, offer, kSharedMappedBytes) && is_mapped_by_sender(transfers, receive, offer)) {
    share_copy(transfers, receive);
    return true;
  }
  transfers.start_moving(receive);
  return false;
}

bool start_send(Transfers& transfers, SendRequest& send, const CtsHeader& cts, const Section& section) noexcept {
  if (section.space == Space::private_memory) return false;
  if (cts.detail != 0) {
    CopyBuffer* const buffer = transfers.platform().copy_buffer(send.peer);
    return buffer != nullptr && join_copy(transfers, send, cts, section, *buffer, true);
  }
  send.transfer.described_by_peer = true;
  if (!use_section(send, section)) return false;
  transfers.start_moving(send);
  return true;
}

// Copies between this side's next bytes and a place of the peer. Returns false if that is not mapped.
bool copy_place(Transfers& transfers, const Request& mover, Cursor& here, const Place& place) noexcept {
  std::byte* const there =
      transfers.platform().address_of(mover.peer, mover.transfer.section.space, offset_of(place), place.bytes);
  if (there == nullptr) return false;
  if (mover.role == Role::receive) {
    here.scatter(there, place.bytes);
  } else {
    here.gather(there, place.bytes);
  }
  return true;
}

bool copy_range(Transfers& transfers, Request& mover, std::size_t offset, std::size_t bytes) noexcept {
  Cursor here(Shape::contiguous(mover.cursor.shape().base + offset, bytes));
  return copy_place(transfers, mover, here, {mover.transfer.section.places[0].at + offset, bytes});
}

bool move(Transfers& transfers, Request& mover) noexcept {
  if (is_shared(mover)) return move_shared(transfers, mover, copy_range);
  Cursor& remote = mover.transfer.there;
  std::size_t budget = std::min(kMoveBytes, mover.goal - mover.cursor.passed());
  while (budget != 0 && remote.left() != 0) {
    const Place place = remote.next(budget);
    if (!copy_place(transfers, mover, mover.cursor, place))
      return transfers.reject(mover, "a place outside its symmetric memory");
    remote.advance(place.bytes);
    budget -= place.bytes;
  }
  transfers.end_part(mover);
  return true;
}

}  // namespace

constexpr Lmt kMappedLmt = {"mapped", suits, start_receive, start_send, move};

}  // namespace shmemx::pt2pt
