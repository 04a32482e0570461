#include "transport/ofi/transfer.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <utility>

#include "base/bulk_copy.hpp"

namespace shmemx::ofi {

Transfers::Transfers(Fabric& fabric, Memory& memory, Peers& peers, BouncePool& bounces)
    : fabric_(fabric),
      memory_(memory),
      peers_(peers),
      bounces_(bounces),
      chunk_bytes_(std::min(kChunkBytes, fabric.info->ep_attr->max_msg_size)) {}

Transfer* Transfers::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Transfer>());
    free_.push_back(all_.back().get());
  }
  Transfer* transfer = free_.back();
  free_.pop_back();
  return transfer;
}

void Transfers::release(Transfer* transfer) {
  transfer->place = Place{};
  transfer->posted = transfer->done = transfer->total = 0;
  transfer->message = nullptr;
  transfer->waiter = {};
  free_.push_back(transfer);
}

std::int64_t Transfers::post(Transfer& transfer, Chunk& chunk) {
  chunk.transfer = &transfer;
  chunk.local = transfer.local + transfer.posted;
  chunk.bytes = std::min(chunk_bytes_, transfer.total - transfer.posted);
  if (transfer.place) return hand_over(transfer, chunk);
  chunk.bytes = std::min(chunk.bytes, BouncePool::kBytes);
  chunk.bounce = bounces_.take();
  if (chunk.bounce.at == nullptr) return -FI_EAGAIN;
  if (transfer.is_write) copy_block(chunk.bounce.at, chunk.local, chunk.bytes);
  const std::int64_t result = hand_over(transfer, chunk);
  if (result != 0) end_bounce(transfer, chunk, true);
  return result;
}

std::int64_t Transfers::hand_over(const Transfer& transfer, Chunk& chunk) {
  const bool is_bounced = chunk.bounce.at != nullptr;
  void* descriptor = is_bounced ? chunk.bounce.descriptor : transfer.place->descriptor;
  iovec local{is_bounced ? chunk.bounce.at : chunk.local, chunk.bytes};
  fi_rma_iov remote{transfer.remote.address + transfer.posted, chunk.bytes, transfer.remote.key};
  const fi_msg_rma message{&local, &descriptor, 1, transfer.peer->address, &remote, 1, &chunk.context, 0};
  if (!transfer.is_write) return fi_readmsg(fabric_.ep.get(), &message, FI_COMPLETION);
  return fi_writemsg(fabric_.ep.get(), &message, fabric_.write_flags());
}

// Copies what a chunk has read to its place, and frees its buffer.
void Transfers::end_bounce(const Transfer& transfer, Chunk& chunk, bool has_failed) {
  const Bounce bounce = std::exchange(chunk.bounce, {});
  if (bounce.at == nullptr) return;
  if (!transfer.is_write && !has_failed && !transfer.is_given_up()) copy_block(chunk.local, bounce.at, chunk.bytes);
  bounces_.give_back(bounce);
}

// Posts chunks. Returns false if the provider takes nothing now.
bool Transfers::pump(Transfer& transfer) {
  for (Chunk& chunk : transfer.chunks) {
    if (chunk.is_busy) continue;
    if (transfer.is_posted() || transfer.peer->is_lost) return true;
    const std::int64_t result = post(transfer, chunk);
    if (result == -FI_EAGAIN) return false;
    if (result != 0) {
      peers_.fail(*transfer.peer, fabric_.failure("RMA", result).text);
      return true;
    }
    chunk.is_busy = true;
    transfer.posted += chunk.bytes;
  }
  return true;
}

bool Transfers::try_start(Transfer& transfer) {
  if (!peers_.connect(*transfer.peer)) return true;
  auto place = memory_.open_to_me(Bytes(transfer.local, transfer.total));
  transfer.place.reset();
  if (place) transfer.place = std::move(*place);
  if (pump(transfer)) return true;
  if (transfer.posted == 0) return false;
  transfer.is_stalled = true;
  stalled_.push_back(&transfer);
  return true;
}

void Transfers::start(Transfer& transfer) {
  if (try_start(transfer)) return;
  transfer.is_stalled = true;
  stalled_.push_back(&transfer);
}

Transfer& Transfers::on_done(Chunk& chunk) {
  Transfer& transfer = *chunk.transfer;
  end_bounce(transfer, chunk, false);
  chunk.is_busy = false;
  transfer.done += chunk.bytes;
  transfer.peer->keepalive.heard();
  if (!transfer.is_stalled && !transfer.is_posted() && !pump(transfer)) {
    transfer.is_stalled = true;
    stalled_.push_back(&transfer);
  }
  return transfer;
}

void Transfers::on_failed(Chunk& chunk) noexcept {
  end_bounce(*chunk.transfer, chunk, true);
  chunk.is_busy = false;
  end_if_over(*chunk.transfer);
}

void Transfers::end_if_over(Transfer& transfer) noexcept {
  const bool is_over = transfer.is_complete() || (transfer.peer->is_lost && !transfer.is_busy());
  if (!is_over || transfer.message != nullptr) return;
  if (transfer.waiter.completion != nullptr) {
    transfer.waiter.completion->failed = transfer.waiter.completion->failed || !transfer.is_complete();
    --transfer.waiter.completion->open;
    if (transfer.waiter.source_use != nullptr) --transfer.waiter.source_use->open;
  }
  release(&transfer);
}

bool Transfers::end_all(const Peer& peer) noexcept {
  bool any = false;
  for (const std::unique_ptr<Transfer>& transfer : all_) {
    if (transfer->peer != &peer || transfer->waiter.completion == nullptr) continue;
    end_if_over(*transfer);
    any = any || transfer->waiter.completion != nullptr;
  }
  return any;
}

void Transfers::give_up(const Peer& peer) noexcept {
  for (const std::unique_ptr<Transfer>& transfer : all_) {
    if (transfer->peer != &peer || transfer->waiter.completion == nullptr) continue;
    transfer->waiter.completion->failed = transfer->waiter.completion->is_unknown = true;
    --std::exchange(transfer->waiter.completion, nullptr)->open;
    if (transfer->waiter.source_use != nullptr) --std::exchange(transfer->waiter.source_use, nullptr)->open;
  }
}

bool Transfers::retry() {
  if (stalled_.empty()) return false;
  std::vector<Transfer*> again;
  again.swap(stalled_);
  bool moved = false;
  for (Transfer* transfer : again) {
    const std::size_t before = transfer->posted;
    transfer->is_stalled = !pump(*transfer);
    if (transfer->is_stalled) stalled_.push_back(transfer);
    moved = moved || transfer->posted != before;
  }
  return moved;
}

}  // namespace shmemx::ofi
