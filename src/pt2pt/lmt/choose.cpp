// The table of LMTs, and which of them a message takes.
#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {

const Lmt& lmt_of(LmtKind kind) noexcept {
  static constexpr const Lmt* kLmts[kLmtKinds] = {&kCopyLmt, &kMappedLmt, &kCmaLmt, &kQueueLmt, &kNetworkLmt};
  return *kLmts[static_cast<std::uint32_t>(kind)];
}

LmtKind choose_lmt(Transfers& transfers, ReceiveRequest& receive, const Offer& offer) noexcept {
  if (transfers.platform().is_internode(receive.peer)) return LmtKind::network;
  const auto suits = [&](LmtKind kind) { return lmt_of(kind).suits(transfers, receive, offer); };
  const LmtChoice choice = transfers.settings().lmt;
  if (choice != LmtChoice::automatic) {
    const auto kind = static_cast<LmtKind>(static_cast<std::uint32_t>(choice) - 1);
    return suits(kind) ? kind : LmtKind::queue;
  }
  // Two sides that take turns on one core gain nothing from copying at the same time.
  const LmtKind alone = suits(LmtKind::mapped) ? LmtKind::mapped : suits(LmtKind::cma) ? LmtKind::cma : LmtKind::queue;
  const bool together = suits(LmtKind::copy);
  if (alone == LmtKind::queue) return together ? LmtKind::copy : LmtKind::queue;
  if (!together || transfers.settings().crowded) return alone;
  const LmtKind kind = transfers.measured().choose(receive.goal, alone, LmtKind::copy);
  if (transfers.measured().wants_time(receive.goal)) transfers.begin_timing(receive);
  return kind;
}

}  // namespace shmemx::pt2pt
