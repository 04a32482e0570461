// In cells, where nothing else can be had. The send queue streams them, so there is nothing to move here.
#include <algorithm>

#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/pieces.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {
namespace {

bool suits(Transfers&, const ReceiveRequest&, const Offer&) noexcept { return true; }

bool start_receive(Transfers&, ReceiveRequest&, const Offer&) noexcept { return true; }

bool start_send(Transfers& transfers, SendRequest& send, const CtsHeader&, const Section&) noexcept {
  transfers.send_in_cells(send);
  return true;
}

}  // namespace

Step push_in_cells(Pieces& pieces, std::size_t payload_bytes, Request& send) noexcept {
  for (int i = 0; i < kFragmentsPerPoll; ++i) {
    const std::size_t left = send.goal - send.cursor.passed();
    if (left == 0) return Step::sent;
    const DataHeader header{send.transfer.peer_id, send.cursor.passed()};
    const std::size_t bytes = std::min(left, payload_bytes - sizeof header);
    if (!pieces.send(send, am::kMessageData, am::bytes_of(header), bytes)) return Step::blocked;
  }
  return send.goal == send.cursor.passed() ? Step::sent : Step::rotate;
}

constexpr Lmt kQueueLmt = {"queue", suits, start_receive, start_send, nullptr};

}  // namespace shmemx::pt2pt
