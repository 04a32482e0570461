// Through the kernel. The receiver reads what the sender has described, by itself; or it reads from the front of one
// range while the sender, which has nothing else to do in a blocking send, writes from its end. The chunks that nobody
// has claimed tell both what is left, so a sender that computes delays nothing.
#include "rma/cma.hpp"

#include <algorithm>

#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/lmt/section.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {
namespace {

constexpr const char* kWrongPlace = "a place that is not in its memory";

// ---- chunks ----

// Both sides divide a message alike: into halves, since each system call takes a microsecond and delays one of the
// other side, or if it is very long, into parts after each of which others get their turn.
struct Chunks {
  static constexpr std::size_t kMostChunks = 0xffff;  // numbers in Claims

  explicit Chunks(std::size_t all) noexcept
      : goal(all), bytes(std::max(std::min(round_up((all + 1) / 2, kCacheLine), kMoveBytes), all / kMostChunks + 1)) {}
  std::size_t count() const noexcept { return (goal + bytes - 1) / bytes; }

  std::size_t goal;
  std::size_t bytes;
};

// Claims a chunk for one side. Returns false if none is left, or another transfer is under way.
bool claim(SharedCopy& shared, std::uint32_t transfer, Role side, std::size_t& chunk) noexcept {
  Claims seen = shared.claims.load(std::memory_order_relaxed);
  while (seen.transfer == transfer && seen.front < seen.back) {
    Claims claimed = seen;
    chunk = side == Role::receive ? claimed.front++ : --claimed.back;
    if (shared.claims.compare_exchange_weak(seen, claimed, std::memory_order_relaxed)) return true;
  }
  return false;
}

// Copies a chunk between this side's range and the other's.
bool copy_chunk(Transfers& transfers, Request& mover, const Chunks& chunks, std::size_t chunk) noexcept {
  const std::size_t offset = chunk * chunks.bytes;
  if (offset >= chunks.goal) return false;
  const std::size_t bytes = std::min(chunks.bytes, chunks.goal - offset);
  Cursor here(Shape::contiguous(mover.cursor.shape().base + offset, bytes));
  Cursor there(Shape::contiguous(mover.transfer.section.places[0].at + offset, bytes));
  Platform& platform = transfers.platform();
  const pid_t pid = mover.transfer.pid;
  while (here.left() != 0) {
    const long moved = mover.role == Role::receive ? platform.read_memory(pid, here, there, bytes)
                                                   : platform.write_memory(pid, here, there, bytes);
    if (moved <= 0) return false;
  }
  return true;
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
  return claims.front == claims.back &&
         shared.written.load(std::memory_order_acquire) == count - claims.back;  // written
}

bool move_shared(Transfers& transfers, Request& mover) noexcept {
  SharedCopy& shared = mover.transfer.buffer->shared;
  const Chunks chunks(mover.goal);
  std::size_t budget = kMoveBytes;
  bool any = false;
  for (std::size_t chunk; budget != 0 && claim(shared, mover.transfer.chunk, mover.role, chunk); any = true) {
    if (!copy_chunk(transfers, mover, chunks, chunk)) return transfers.reject(mover, kWrongPlace);
    if (mover.role == Role::send) note_written(transfers, mover);
    budget -= std::min(budget, chunks.bytes);
  }
  if (mover.role == Role::receive) {
    if (!is_complete(shared, chunks.count())) return any;
    transfers.finish_moving(mover);
  } else if (budget != 0) {
    transfers.stop_helping(mover);
  }
  return true;
}

// ---- the LMT ----

CopyBuffer* free_buffer(Transfers& transfers) noexcept {
  return transfers.buffer_user() == nullptr ? transfers.platform().copy_buffer(transfers.settings().me) : nullptr;
}

bool is_range(const Cursor& cursor) noexcept { return cursor.shape().kind == Shape::Kind::contiguous; }

bool suits(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer) noexcept {
  return offer.section.count != 0 && offer.section.space == Space::private_memory &&
         transfers.cma_pid(receive.peer, offer.rts.probe) != 0;
}

// Two sides that take turns on one core gain nothing.
bool may_share(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer) noexcept {
  return receive.goal >= kSharedCopyBytes && !transfers.settings().crowded && is_range(receive.cursor) &&
         offer.section.count == 1 && offer.section.places[0].bytes == offer.rts.bytes;
}

bool start_receive(Transfers& transfers, ReceiveRequest& receive, const Offer& offer) noexcept {
  Transfer& transfer = receive.transfer;
  transfer.described_by_peer = true;
  transfer.pid = transfers.cma_pid(receive.peer, offer.rts.probe);
  transfer.buffer = may_share(transfers, receive, offer) ? free_buffer(transfers) : nullptr;
  if (transfer.buffer == nullptr) {
    transfers.start_moving(receive);
    return false;
  }
  transfers.set_buffer_user(&receive);
  SharedCopy& shared = transfer.buffer->shared;
  transfer.chunk = transfer.cts_detail = transfers.next_shared();
  if (shared.probe.pid == 0) shared.probe = rma::own_cma_probe();
  shared.written.store(0, std::memory_order_relaxed);
  shared.claims.store({transfer.chunk, 0, static_cast<std::uint16_t>(Chunks(receive.goal).count())},
                      std::memory_order_relaxed);
  return true;
}

// A sender that cannot help waits for the end.
bool start_send(Transfers& transfers, SendRequest& send, const CtsHeader& cts, const Section& section) noexcept {
  const bool is_one_place =
      section.space == Space::private_memory && section.count == 1 && section.places[0].bytes == send.goal;
  if (!is_one_place || !use_section(send, section)) return false;
  send.transfer.buffer = transfers.platform().copy_buffer(send.peer);
  if (send.transfer.buffer == nullptr) return false;
  send.transfer.chunk = cts.detail;
  send.transfer.pid = transfers.cma_pid(send.peer, send.transfer.buffer->shared.probe);
  if (is_range(send.cursor) && send.transfer.pid != 0) transfers.start_moving(send);
  return true;
}

bool move_alone(Transfers& transfers, Request& receive) noexcept {
  const std::size_t most = std::min(kMoveBytes, receive.goal - receive.cursor.passed());
  if (transfers.platform().read_memory(receive.transfer.pid, receive.cursor, receive.transfer.there, most) <= 0)
    return transfers.reject(receive, kWrongPlace);
  transfers.end_part(receive);
  return true;
}

bool move(Transfers& transfers, Request& mover) noexcept {
  return mover.transfer.buffer != nullptr ? move_shared(transfers, mover) : move_alone(transfers, mover);
}

void finish(Transfers& transfers, Request& receive) noexcept {
  if (transfers.buffer_user() == &receive) transfers.set_buffer_user(nullptr);
}

}  // namespace

constexpr Lmt kCmaLmt = {"cma", suits, start_receive, start_send, move, finish, true};

}  // namespace shmemx::pt2pt
