#include <algorithm>

#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/lmt/section.hpp"
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

bool suits(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer) noexcept {
  if (maps_sender(transfers, receive.peer, offer.section)) return true;
  return offer.rts.maps_receiver != 0 &&
         space_of(transfers.platform(), receive.peer, receive.cursor.shape()) != Space::private_memory;
}

bool start_receive(Transfers& transfers, ReceiveRequest& receive, const Offer& offer) noexcept {
  if (!maps_sender(transfers, receive.peer, offer.section)) return true;
  receive.transfer.described_by_peer = true;
  transfers.start_moving(receive);
  return false;
}

bool start_send(Transfers& transfers, SendRequest& send, const CtsHeader&, const Section& section) noexcept {
  send.transfer.described_by_peer = true;
  if (section.space == Space::private_memory || !use_section(send, section)) return false;
  transfers.start_moving(send);
  return true;
}

bool move(Transfers& transfers, Request& mover) noexcept {
  Cursor& remote = mover.transfer.there;
  std::size_t budget = std::min(kMoveBytes, mover.goal - mover.cursor.passed());
  while (budget != 0 && remote.left() != 0) {
    const Place place = remote.next(budget);
    std::byte* const there =
        transfers.platform().address_of(mover.peer, mover.transfer.section.space, offset_of(place), place.bytes);
    if (there == nullptr) return transfers.reject(mover, "a place outside its symmetric memory");
    if (mover.role == Role::receive) {
      mover.cursor.scatter(there, place.bytes);
    } else {
      mover.cursor.gather(there, place.bytes);
    }
    remote.advance(place.bytes);
    budget -= place.bytes;
  }
  transfers.end_part(mover);
  return true;
}

}  // namespace

constexpr Lmt kMappedLmt = {"mapped", suits, start_receive, start_send, move, nullptr, false};

}  // namespace shmemx::pt2pt
