// Through the kernel: the receiver reads what the sender has described. If that is one range, sender and receiver share
// the copy, and the sender writes its part.
#include "rma/cma.hpp"

#include <algorithm>

#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/lmt/shared_copy.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {
namespace {

bool suits(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer) noexcept {
  return offer.section.count != 0 && offer.section.space == Space::private_memory &&
         transfers.cma_pid(receive.peer, offer.rts.probe) != 0;
}

bool start_receive(Transfers& transfers, ReceiveRequest& receive, const Offer& offer) noexcept {
  receive.transfer.described_by_peer = true;
  receive.transfer.pid = transfers.cma_pid(receive.peer, offer.rts.probe);
  if (may_share(transfers, receive, offer, kSharedCmaBytes)) {
    share_copy(transfers, receive);
    return true;
  }
  transfers.start_moving(receive);
  return false;
}

bool start_send(Transfers& transfers, SendRequest& send, const CtsHeader& cts, const Section& section) noexcept {
  CopyBuffer* const buffer = transfers.platform().copy_buffer(send.peer);
  if (buffer == nullptr || section.space != Space::private_memory) return false;
  send.transfer.pid = transfers.cma_pid(send.peer, buffer->shared.probe);
  return join_copy(transfers, send, cts, section, *buffer, send.transfer.pid != 0);
}

bool copy_range(Transfers& transfers, Request& mover, std::size_t offset, std::size_t bytes) noexcept {
  Cursor here(Shape::contiguous(mover.cursor.shape().base + offset, bytes));
  Cursor there(Shape::contiguous(mover.transfer.section.places[0].at + offset, bytes));
  Platform& platform = transfers.platform();
  const pid_t pid = mover.transfer.pid;
  while (here.left() != 0) {
    const long moved = mover.role == Role::receive ? platform.read_memory(pid, here, there, here.left())
                                                   : platform.write_memory(pid, here, there, here.left());
    if (moved <= 0) return false;
  }
  return true;
}

bool move(Transfers& transfers, Request& mover) noexcept {
  if (is_shared(mover)) return move_shared(transfers, mover, copy_range);
  const std::size_t most = std::min(kMoveBytes, mover.goal - mover.cursor.passed());
  if (transfers.platform().read_memory(mover.transfer.pid, mover.cursor, mover.transfer.there, most) <= 0)
    return transfers.reject(mover, kWrongPlace);
  transfers.end_part(mover);
  return true;
}

}  // namespace

constexpr Lmt kCmaLmt = {"cma", suits, start_receive, start_send, move};

}  // namespace shmemx::pt2pt
