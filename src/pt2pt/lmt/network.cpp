// Between nodes: few long messages. A payload that fits one place of the receiver is placed there by the network.
#include <algorithm>
#include <new>

#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {
namespace {

// Memory in several places needs packing on the receiver's side, so the sender shall send short messages.
bool start_receive(Transfers&, ReceiveRequest& receive, const Offer&) noexcept {
  const bool in_one_place = receive.cursor.shape().kind == Shape::Kind::contiguous;
  receive.transfer.cts_detail = in_one_place ? 0 : static_cast<std::uint32_t>(kPackedBytes);
  return true;
}

bool start_send(Transfers& transfers, SendRequest& send, const CtsHeader& cts, const Section&) noexcept {
  send.transfer.cts_detail = cts.detail;
  send.outgoing.done = true;
  send.outgoing.is_patient = true;
  transfers.start_moving(send);
  return true;
}

// Returns the next bytes where they lie, or packed, and moves `after` behind them. Returns no bytes if there is no
// memory to pack them.
Place next_piece(SendRequest& send, Cursor& after) noexcept {
  const std::size_t most = send.transfer.cts_detail;  // 0: any
  const std::size_t limit = most == 0 ? kNetworkBytes : std::min(most, kNetworkBytes);
  const std::size_t next = std::min(limit, send.goal - send.cursor.passed());
  const Place place = after.next(next);
  if (place.bytes == next || place.bytes >= kUnpackedBytes) {
    after.advance(place.bytes);
    return place;
  }
  if (send.packed == nullptr) send.packed.reset(new (std::nothrow) std::byte[kPackedBytes]);
  if (send.packed == nullptr) return {nullptr, 0};
  const std::size_t bytes = std::min(next, kPackedBytes);
  after.gather(send.packed.get(), bytes);
  return {send.packed.get(), bytes};
}

// One message after the other: the bytes that the network has not taken yet are enough to keep it busy.
bool move(Transfers& transfers, Request& request) noexcept {
  auto& send = static_cast<SendRequest&>(request);
  bool any = false;
  for (int i = 0; i < kFragmentsPerPoll && send.outgoing.done; ++i) {
    if (send.cursor.passed() >= send.goal) {  // beyond it if the receiver takes less than came with the offer
      if (!send.offered.done) return any;
      send.packed.reset();
      transfers.finish_moving(send);
      return true;
    }
    Cursor after = send.cursor;
    const Place piece = next_piece(send, after);
    if (piece.bytes == 0) {
      transfers.platform().exhausted("memory to pack messages", kPackedBytes, 0);
      return any;
    }
    const DataHeader header{send.transfer.peer_id, send.cursor.passed()};
    send.outgoing.done = false;
    const transport::Sent sent = transfers.platform().send_long(send.peer, am::kMessageData, am::bytes_of(header),
                                                                {piece.at, piece.bytes}, send.outgoing);
    if (sent != transport::Sent::later) send.outgoing.done = true;
    if (sent == transport::Sent::no) return any;
    send.cursor = after;
    any = true;
  }
  return any;
}

}  // namespace

constexpr Lmt kNetworkLmt = {"network", nullptr, start_receive, start_send, move};

}  // namespace shmemx::pt2pt
