#include "rma/cma.hpp"

#include <algorithm>

#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/lmt/section.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {
namespace {

bool suits(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer) noexcept {
  return offer.section.count != 0 && offer.section.space == Space::private_memory &&
         transfers.cma_pid(receive.peer, offer.rts) != 0;
}

bool start_receive(Transfers& transfers, ReceiveRequest& receive, const Offer& offer) noexcept {
  receive.transfer.described_by_peer = true;
  receive.cma_pid = transfers.cma_pid(receive.peer, offer.rts);
  transfers.start_moving(receive);
  return false;
}

bool move(Transfers& transfers, Request& mover) noexcept {
  const pid_t pid = static_cast<ReceiveRequest&>(mover).cma_pid;
  const std::size_t most = std::min(kMoveBytes, mover.goal - mover.cursor.passed());
  if (transfers.platform().read_memory(pid, mover.cursor, mover.transfer.there, most) <= 0)
    return transfers.reject(mover, "a place that is not in its memory");
  transfers.end_part(mover);
  return true;
}

}  // namespace

constexpr Lmt kCmaLmt = {"cma", suits, start_receive, nullptr, move, nullptr, false};

}  // namespace shmemx::pt2pt
