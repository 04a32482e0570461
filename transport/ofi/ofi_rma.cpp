#include "transport/ofi/ofi_rma.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace shmemx::ofi {

OfiRma::OfiRma(Fabric& fabric, Memory& memory, Peers& peers)
    : fabric_(fabric),
      memory_(memory),
      peers_(peers),
      transfers_(fabric, memory, peers),
      most_at_once_(std::min(Transfers::kChunkBytes, fabric.info->ep_attr->max_msg_size)),
      registers_local_(fabric.wants(FI_MR_LOCAL)),
      bounces_(memory) {}

transport::RemoteKey* OfiRma::import_key(int pe, Bytes key) noexcept {
  Peer& peer = peers_.contact(pe);
  auto fresh = std::make_unique<RemoteKey>();
  fresh->peer = &peer;
  if (!peers_.connect(peer)) return nullptr;
  if (!Memory::parse_key(key, fresh->address, fresh->key)) {
    peers_.fail(peer, "a memory key of " + std::to_string(key.size()) + " bytes");
    return nullptr;
  }
  keys_.push_back(std::move(fresh));
  return keys_.back().get();
}

void OfiRma::release_key(transport::RemoteKey* key) noexcept {
  std::erase_if(keys_, [key](const auto& known) { return known.get() == key; });
}

RmaRequest& OfiRma::take(const RemoteKey& key, std::span<std::byte> local, Completion& completion) {
  if (free_.empty()) free_.push_back(&all_.emplace_back());
  RmaRequest& request = *free_.back();
  free_.pop_back();
  request.peer = key.peer;
  request.local = local;
  request.completion = &completion;
  return request;
}

void OfiRma::give_back(RmaRequest& request) noexcept {
  request.peer = nullptr;
  request.source_use = nullptr;
  request.is_inline = false;
  if (request.bounce.at != nullptr) bounces_.give_back(std::exchange(request.bounce, {}));
  if (request.place.region != nullptr) request.place = Place{};
  free_.push_back(&request);
}

// Finds by which descriptor the provider accesses the request's memory, or a bounce buffer in its place. `may_change`:
// the caller may change the source before the provider has read it. Returns null without one if there is no need.
void* OfiRma::describe_local(RmaRequest& request, bool may_change) {
  void* descriptor = nullptr;
  const bool is_known = !registers_local_ || memory_.find(request.local, descriptor);
  if (is_known && !may_change) return descriptor;
  if (!registers_local_ && request.local.size() <= RmaRequest::kInlineBytes) {
    std::memcpy(request.inline_data.data(), request.local.data(), request.local.size());
    request.is_inline = true;
    return nullptr;
  }
  if (request.local.size() <= BouncePool::kBytes) request.bounce = bounces_.take();
  if (request.bounce.at != nullptr) {
    if (request.is_write) std::memcpy(request.bounce.at, request.local.data(), request.local.size());
    return request.bounce.descriptor;
  }
  if (is_known) return descriptor;
  // If the memory cannot be registered, the provider reports that when the operation is posted.
  if (auto place = memory_.open_to_me(request.local)) request.place = std::move(*place);
  return request.place.descriptor;
}

// Returns false if the provider takes nothing now.
bool OfiRma::post(RmaRequest& request, void* descriptor, const RemoteKey& key, std::uint64_t offset) {
  std::byte* const at = request.is_inline              ? request.inline_data.data()
                        : request.bounce.at != nullptr ? request.bounce.at
                                                       : request.local.data();
  const std::size_t bytes = request.local.size();
  const std::uint64_t remote = key.address + offset;
  ssize_t result = 0;
  if (request.is_write) {
    const iovec local{at, bytes};
    const fi_rma_iov target{remote, bytes, key.key};
    const fi_msg_rma message{&local, &descriptor, 1, request.peer->address, &target, 1, &request.context, 0};
    result = fi_writemsg(fabric_.ep.get(), &message, fabric_.write_flags());
  } else {
    result = fi_read(fabric_.ep.get(), at, bytes, descriptor, request.peer->address, remote, key.key, &request.context);
  }
  if (result == 0) [[likely]] {
    ++request.completion->open;
    return true;
  }
  if (result != -FI_EAGAIN) {
    request.completion->failed = true;
    peers_.fail(*request.peer, fabric_.failure("RMA", result).text);
  }
  give_back(request);
  return result != -FI_EAGAIN;
}

bool OfiRma::put(const transport::RemoteKey& any_key, std::uint64_t offset, Bytes source, Completion& completion,
                 Completion* source_use) noexcept {
  const auto& key = static_cast<const RemoteKey&>(any_key);
  const std::span<std::byte> local(const_cast<std::byte*>(source.data()), source.size());
  if (source.size() > most_at_once_ || key.peer->is_lost) [[unlikely]]
    return start_long(key, offset, local, completion, source_use, true);
  if (!has_room()) return false;
  RmaRequest& request = take(key, local, completion);
  request.is_write = true;
  void* const descriptor = describe_local(request, source_use != nullptr);
  if (request.bounce.at == nullptr && !request.is_inline) request.source_use = source_use;
  if (!post(request, descriptor, key, offset)) return false;
  if (request.source_use != nullptr) ++request.source_use->open;
  return true;
}

bool OfiRma::get(const transport::RemoteKey& any_key, std::uint64_t offset, std::span<std::byte> dest,
                 Completion& completion) noexcept {
  const auto& key = static_cast<const RemoteKey&>(any_key);
  if (dest.size() > most_at_once_ || key.peer->is_lost) [[unlikely]]
    return start_long(key, offset, dest, completion, nullptr, false);
  if (!has_room()) return false;
  RmaRequest& request = take(key, dest, completion);
  request.is_write = false;
  void* const descriptor = describe_local(request, false);
  return post(request, descriptor, key, offset);
}

bool OfiRma::start_long(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> local, Completion& completion,
                        Completion* source_use, bool is_write) {
  if (key.peer->is_lost) {
    completion.failed = true;
    return true;
  }
  if (transfers_.is_full()) return false;
  Transfer* const transfer = transfers_.take();
  transfer->peer = key.peer;
  transfer->local = local.data();
  transfer->remote = key.address + offset;
  transfer->key = key.key;
  transfer->total = local.size();
  transfer->is_write = is_write;
  if (!transfers_.try_start(*transfer)) {
    transfers_.release(transfer);
    return false;
  }
  if (key.peer->is_lost && transfer->posted == 0) {
    transfers_.release(transfer);
    completion.failed = true;
    return true;
  }
  transfer->waiter = {&completion, source_use};
  ++completion.open;
  if (source_use != nullptr) ++source_use->open;
  return true;
}

void OfiRma::on_ended(RmaRequest& request, bool has_failed) noexcept {
  if (!has_failed) {
    request.peer->keepalive.heard();
    if (request.bounce.at != nullptr && !request.is_write && request.completion != nullptr)
      std::memcpy(request.local.data(), request.bounce.at, request.local.size());
  }
  if (request.completion != nullptr) {
    request.completion->failed = request.completion->failed || has_failed;
    --request.completion->open;
    if (request.source_use != nullptr) --request.source_use->open;
  }
  give_back(request);
}

bool OfiRma::end_all(const Peer& peer) noexcept {
  const bool has_more = std::any_of(all_.begin(), all_.end(), [&](const RmaRequest& request) {
    return request.peer == &peer && request.completion != nullptr;
  });
  return transfers_.end_all(peer) || has_more;
}

void OfiRma::give_up(const Peer& peer) noexcept {
  transfers_.give_up(peer);
  for (RmaRequest& request : all_) {
    if (request.peer != &peer || request.completion == nullptr) continue;
    Completion& completion = *std::exchange(request.completion, nullptr);
    completion.failed = completion.is_unknown = true;
    --completion.open;
    if (request.source_use != nullptr) --std::exchange(request.source_use, nullptr)->open;
  }
}

}  // namespace shmemx::ofi
