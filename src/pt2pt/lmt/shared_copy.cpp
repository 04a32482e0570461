#include "pt2pt/lmt/shared_copy.hpp"

#include <algorithm>

#include "pt2pt/lmt/section.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {
namespace {

// Both sides divide a message alike: into halves, since each copy through the kernel takes a microsecond more and holds
// up those of the other side; one of more than 2 MiB into chunks of 1 MiB, so that others get their turn.
struct Chunks {
  static constexpr std::size_t kMostChunks = 0xffff;  // what 16 bits of Claims hold

  explicit Chunks(std::size_t all) noexcept
      : goal(all), bytes(std::max(std::min(round_up((all + 1) / 2, kCacheLine), kMoveBytes), all / kMostChunks + 1)) {}
  std::size_t count() const noexcept { return (goal + bytes - 1) / bytes; }

  std::size_t goal;
  std::size_t bytes;
};

// Claims a chunk for one side. Returns false if none is left, or another transfer is under way.
bool claim(SharedCopy& shared, std::uint32_t transfer, Role side, std::size_t& chunk) noexcept {
  Claims seen = shared.claims.load(std::memory_order_relaxed);
  while (seen.transfer == transfer && seen.begin < seen.end) {
    Claims claimed = seen;
    chunk = side == Role::receive ? claimed.begin++ : --claimed.end;
    if (shared.claims.compare_exchange_weak(seen, claimed, std::memory_order_relaxed)) return true;
  }
  return false;
}

// A sender leaves the chunk that it has claimed last, and cannot write, to the receiver.
void give_back(Transfers& transfers, Request& send) noexcept {
  std::atomic<Claims>& claims = send.transfer.buffer->shared.claims;
  Claims seen = claims.load(std::memory_order_relaxed);
  while (seen.transfer == send.transfer.chunk) {
    const Claims without{seen.transfer, seen.begin, static_cast<std::uint16_t>(seen.end + 1)};
    if (claims.compare_exchange_weak(seen, without, std::memory_order_relaxed)) break;
  }
  transfers.platform().wake(send.peer);
  transfers.leave_to_peer(send);
}

// The sender has written one more chunk.
void note_written(Transfers& transfers, Request& send) noexcept {
  SharedCopy& shared = send.transfer.buffer->shared;
  shared.written.store(shared.written.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // written
  transfers.platform().wake(send.peer);
}

// Returns true if all chunks are claimed and those of the sender are there.
bool is_complete(const SharedCopy& shared, std::size_t count) noexcept {
  const Claims claims = shared.claims.load(std::memory_order_relaxed);
  return claims.begin == claims.end && shared.written.load(std::memory_order_acquire) == count - claims.end;  // written
}

bool is_range(const Cursor& cursor) noexcept { return cursor.shape().kind == Shape::Kind::contiguous; }

}  // namespace

// Two sides that take turns on one core gain nothing.
bool may_share(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer, std::size_t least) noexcept {
  return receive.goal >= least && !transfers.settings().crowded && is_range(receive.cursor) &&
         offer.section.count == 1 && offer.section.places[0].bytes == offer.rts.bytes &&
         transfers.free_buffer() != nullptr;
}

void share_copy(Transfers& transfers, ReceiveRequest& receive) noexcept {
  Transfer& transfer = receive.transfer;
  transfer.buffer = transfers.take_buffer(receive);
  transfer.chunk = transfer.cts_detail = transfers.next_shared();
  SharedCopy& shared = transfer.buffer->shared;
  if (shared.probe.pid == 0) shared.probe = rma::own_cma_probe();
  shared.written.store(0, std::memory_order_relaxed);
  shared.claims.store({transfer.chunk, 0, static_cast<std::uint16_t>(Chunks(receive.goal).count())},
                      std::memory_order_relaxed);
}

bool join_copy(Transfers& transfers, SendRequest& send, const CtsHeader& cts, const Section& section,
               CopyBuffer& buffer, bool may_copy) noexcept {
  if (section.count != 1 || section.places[0].bytes != send.goal || !use_section(send, section)) return false;
  send.transfer.buffer = &buffer;
  send.transfer.chunk = cts.detail;
  send.next = Next::done;  // of the other side: no further CTS
  if (may_copy && is_range(send.cursor)) transfers.start_moving(send);
  return true;
}

bool move_shared(Transfers& transfers, Request& mover, CopyRange copy) noexcept {
  SharedCopy& shared = mover.transfer.buffer->shared;
  const Chunks chunks(mover.goal);
  std::size_t budget = kMoveBytes;
  bool any = false;
  for (std::size_t chunk; budget != 0 && claim(shared, mover.transfer.chunk, mover.role, chunk); any = true) {
    const std::size_t offset = std::min(chunk * chunks.bytes, chunks.goal);
    const bool copied = copy(transfers, mover, offset, std::min(chunks.bytes, chunks.goal - offset));
    if (!copied && mover.role == Role::receive) return transfers.reject(mover, kWrongPlace);
    if (!copied) {
      give_back(transfers, mover);
      return true;
    }
    if (mover.role == Role::send) note_written(transfers, mover);
    budget -= std::min(budget, chunks.bytes);
  }
  if (mover.role == Role::receive) {
    if (!is_complete(shared, chunks.count())) return any;
    transfers.finish_moving(mover);
  } else if (budget != 0) {
    transfers.leave_to_peer(mover);
  }
  return true;
}

}  // namespace shmemx::pt2pt
