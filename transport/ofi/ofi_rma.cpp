#include "transport/ofi/ofi_rma.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstring>

#include "transport/ofi/ofi.hpp"
#include "transport/ofi/ofi_lane.hpp"

namespace shmemx::ofi {

using transport::ShortGet;

OfiRma::OfiRma(Ofi& owner, Fabric& fabric, Memory& memory, Peers& peers)
    : owner_(owner),
      fabric_(fabric),
      memory_(memory),
      peers_(peers),
      bounces_(memory),
      transfers_(fabric, memory, peers, bounces_),
      most_at_once_(std::min(Transfers::kChunkBytes, fabric.info->ep_attr->max_msg_size)),
      most_plain_(fabric.wants(FI_MR_LOCAL) ? 0 : most_at_once_) {}

transport::RemoteKey* OfiRma::import_key(int pe, Bytes key) noexcept {
  Peer& peer = peers_.contact(pe);
  auto fresh = std::make_unique<RemoteKey>();
  fresh->peer = &peer;
  if (!peers_.connect(peer)) return nullptr;
  fresh->endpoint = peer.address;
  Bytes name;
  if (!Memory::parse_key(key, fresh->address, name)) {
    peers_.fail(peer, "a memory key of " + std::to_string(key.size()) + " bytes");
    return nullptr;
  }
  auto usable = memory_.use_key(name);
  if (!usable) {
    peers_.fail(peer, usable.error().text);
    return nullptr;
  }
  fresh->usable = std::move(*usable);
  fresh->key = fresh->usable.name();
  fresh->bytes.assign(reinterpret_cast<const char*>(name.data()), name.size());
  keys_.push_back(std::move(fresh));
  return keys_.back().get();
}

void OfiRma::release_key(transport::RemoteKey* key) noexcept {
  std::erase_if(keys_, [key](const auto& known) { return known.get() == key; });
}

// Over sockets each would have connections of its own.
std::unique_ptr<transport::Lane> OfiRma::open_lane() noexcept {
  if (fabric_.is_stream() || peers_.has_reserve()) return nullptr;
  return OfiLane::open(fabric_, memory_, peers_);
}

// ---- the short path ----

RmaRequest* OfiRma::take(const RemoteKey& key, Completion& completion) noexcept {
  RmaRequest* const request = requests_.free != nullptr ? requests_.free : make();
  if (request == nullptr) [[unlikely]]
    return nullptr;
  begin(*request);
  request->peer = key.peer;
  request->completion = &completion;
  return request;
}

// If all requests are in use, ends those that the provider has completed. Now and then the caller has to poll all the
// same, so that messages are not left lying.
RmaRequest* OfiRma::make() noexcept {
  constexpr std::uint32_t kTimesPerPoll = 4;
  if (requests_.all.size() < kMostOpen) return &requests_.all.emplace_back();
  if (++requests_.times_full % kTimesPerPoll != 0) read_own_completions();
  return fabric_.set_aside.empty() ? requests_.free : nullptr;
}

void OfiRma::read_own_completions() noexcept {
  std::array<fi_cq_data_entry, 16> entries;
  for (std::size_t left = kMostOpen; left != 0; left -= entries.size()) {
    const ssize_t count = fi_cq_read(fabric_.cq.get(), entries.data(), entries.size());
    if (count <= 0) return;
    const auto read = static_cast<std::size_t>(count);
    end_own(std::span(entries).first(read));
    if (read < entries.size()) return;
  }
}

// Nearly all are plain requests, of which each costs little more than its place in the list of free ones.
void OfiRma::end_own(std::span<const fi_cq_data_entry> entries) noexcept {
  RmaRequest* free = requests_.free;
  std::size_t plain = entries.size();
  for (const fi_cq_data_entry& entry : entries) {
    auto* const request = static_cast<RmaRequest*>(static_cast<Operation*>(entry.op_context));
    if (request != nullptr && request->kind == Operation::Kind::rma && request->is_plain) [[likely]] {
      request->peer->keepalive.heard();
      --request->completion->open;
      request->next = std::exchange(free, request);
      continue;
    }
    --plain;
    requests_.free = free;
    end_other(entry);
    free = requests_.free;
  }
  requests_.free = free;
  requests_.open -= plain;
}

void OfiRma::end_other(const fi_cq_data_entry& entry) noexcept {
  auto* const operation = static_cast<Operation*>(entry.op_context);
  if (operation != nullptr && operation->kind == Operation::Kind::rma)
    return on_done(static_cast<RmaRequest&>(*operation));
  fabric_.set_aside.push_back(entry);
}

// A word needs no more than to be stored in a request that is prepared for it.
bool OfiRma::put_short(const transport::RemoteKey& any_key, std::uint64_t offset, Bytes source,
                       Completion& completion) noexcept {
  const auto& key = static_cast<const RemoteKey&>(any_key);
  RmaRequest* const request = requests_.free;
  if (source.size() != sizeof(std::uint64_t) || request == nullptr || most_plain_ == 0 || key.peer->is_lost)
      [[unlikely]]
    return put_short_apart(key, offset, source, completion);
  request->peer = key.peer;
  request->completion = &completion;
  std::memcpy(request->inline_data.data(), source.data(), sizeof(std::uint64_t));
  WriteMessage& write = request->copied;
  write.aim(key, offset);
  ++completion.open;
  const ssize_t result = fi_writemsg(fabric_.ep.get(), &write.message, fabric_.write_flags());
  RmaRequest* const posted = take_prepared();
  return result == 0 || not_posted(*posted, result);
}

bool OfiRma::put_short_apart(const RemoteKey& key, std::uint64_t offset, Bytes source,
                             Completion& completion) noexcept {
  const Range range{key, offset, {const_cast<std::byte*>(source.data()), source.size()}};
  if (key.peer->is_lost) return completion.failed = true;
  if (most_plain_ == 0) return put_short_registered(range, completion);
  RmaRequest* const request = take(key, completion);
  if (request == nullptr) return false;
  std::memcpy(request->inline_data.data(), source.data(), source.size());
  return write(*request, {request->inline_data.data(), source.size()}, nullptr, range);
}

// Returns false if the provider takes nothing now.
bool OfiRma::read(RmaRequest& request, std::span<std::byte> local, void* descriptor, std::uint64_t remote,
                  std::uint64_t key) noexcept {
  const ssize_t result = fi_read(fabric_.ep.get(), local.data(), local.size(), descriptor, request.peer->address,
                                 remote, key, &request.context);
  ++request.completion->open;
  return result == 0 || not_posted(request, result);
}

// If the get has ended when the queue is looked at for the first time, its request has never been taken. If the
// provider refuses it, get() finds out why.
ShortGet OfiRma::get_short(const transport::RemoteKey& any_key, std::uint64_t offset, std::span<std::byte> dest,
                           Completion& completion) noexcept {
  const auto& key = static_cast<const RemoteKey&>(any_key);
  RmaRequest* const request = requests_.free;
  if (request == nullptr || most_plain_ == 0 || key.peer->is_lost) [[unlikely]]
    return transport::how_begun(get_registered({key, offset, dest}, completion), completion);
  request->peer = key.peer;
  request->completion = &completion;
  if (fi_read(fabric_.ep.get(), dest.data(), dest.size(), nullptr, key.endpoint, key.address + offset, key.key,
              &request->context) != 0) [[unlikely]]
    return ShortGet::no;
  const ssize_t count = fi_cq_read(fabric_.cq.get(), &requests_.entry_of_get, 1);
  if (count != 1 || requests_.entry_of_get.op_context != &request->context) [[unlikely]]
    return keep(count == 1);
  request->peer->keepalive.heard();
  return ShortGet::done;
}

// A get has not ended, or was not the first to end: its request, the first free one, is taken.
ShortGet OfiRma::keep(bool has_entry) noexcept {
  ++take_prepared()->completion->open;
  if (has_entry) fabric_.set_aside.push_back(requests_.entry_of_get);
  return ShortGet::open;
}

void OfiRma::progress() noexcept {
  ++looks_;
  owner_.progress();
}

// ---- of any size ----

bool OfiRma::write(RmaRequest& request, std::span<std::byte> local, void* descriptor, const Range& range) noexcept {
  WriteMessage write(&request.context);
  write.source = {local.data(), local.size()};
  write.target = {range.key.address + range.offset, local.size(), range.key.key};
  write.descriptor = descriptor;
  write.message.addr = request.peer->address;
  const ssize_t result = fi_writemsg(fabric_.ep.get(), &write.message, fabric_.write_flags());
  ++request.completion->open;
  return result == 0 || not_posted(request, result);
}

bool OfiRma::not_posted(RmaRequest& request, std::int64_t result) noexcept {
  --request.completion->open;
  if (request.source_use != nullptr) --request.source_use->open;
  if (result != -FI_EAGAIN) {
    request.completion->failed = true;
    peers_.fail(*request.peer, fabric_.failure("RMA", result).text);
  }
  drop(request);
  return result != -FI_EAGAIN;
}

void OfiRma::clear(RmaRequest& request) noexcept {
  if (request.is_plain) return;
  request.is_plain = true;
  request.source_use = nullptr;
  if (request.bounce.at != nullptr) bounces_.give_back(std::exchange(request.bounce, {}));
  if (request.place.region != nullptr) request.place = Place{};
}

void OfiRma::drop(RmaRequest& request) noexcept {
  clear(request);
  give_back(request);
}

// Finds the memory that the provider is to access for `local`: that itself, or a buffer in its place, and its
// descriptor, null if there is no need of one. `may_change`: the caller may change the source before the provider has
// read it. Returns null if the memory has to be registered and cannot be.
std::byte* OfiRma::describe_local(RmaRequest& request, std::span<std::byte> local, bool may_change, void*& descriptor) {
  const bool is_known = most_plain_ != 0 || memory_.find(local, descriptor);
  if (is_known && !may_change) return local.data();
  request.is_plain = false;
  if (local.size() <= BouncePool::kBytes) request.bounce = bounces_.take();
  if (request.bounce.at != nullptr) {
    request.local = local;
    if (request.is_write) std::memcpy(request.bounce.at, local.data(), local.size());
    descriptor = request.bounce.descriptor;
    return request.bounce.at;
  }
  if (is_known) return local.data();
  auto place = memory_.open_to_me(local);
  if (!place) return nullptr;
  request.place = std::move(*place);
  descriptor = request.place.descriptor;
  return local.data();
}

bool OfiRma::put_short_registered(const Range& range, Completion& completion) noexcept {
  const auto& [key, offset, local] = range;
  if (key.peer->is_lost) return completion.failed = true;
  RmaRequest* const request = take(key, completion);
  if (request == nullptr) return false;
  request->is_write = true;
  request->is_plain = false;
  request->bounce = bounces_.take();
  if (request->bounce.at == nullptr) {
    drop(*request);
    return false;
  }
  std::memcpy(request->bounce.at, local.data(), local.size());
  return write(*request, {request->bounce.at, local.size()}, request->bounce.descriptor, range);
}

bool OfiRma::put(const transport::RemoteKey& any_key, std::uint64_t offset, Bytes source, Completion& completion,
                 Completion* source_use) noexcept {
  const auto& key = static_cast<const RemoteKey&>(any_key);
  const std::span<std::byte> local(const_cast<std::byte*>(source.data()), source.size());
  const Range range{key, offset, local};
  if (local.size() > most_at_once_ || key.peer->is_lost) return start_long(range, completion, source_use, true);
  RmaRequest* const request = take(key, completion);
  if (request == nullptr) return false;
  request->is_write = true;
  // Where writes end at once, to wait for the end costs less than a copy.
  const bool waits = source_use != nullptr && most_plain_ != 0 && ends_at_once_;
  void* descriptor = nullptr;
  std::byte* const at = describe_local(*request, local, source_use != nullptr && !waits, descriptor);
  if (at == nullptr) {
    drop(*request);
    return start_long(range, completion, source_use, true);
  }
  if (source_use != nullptr && at == local.data()) {
    request->is_plain = false;
    request->source_use = source_use;
    request->posted_at = looks_;
    ++source_use->open;
  }
  return write(*request, {at, local.size()}, descriptor, range);
}

bool OfiRma::get_registered(const Range& range, Completion& completion) noexcept {
  const auto& [key, offset, local] = range;
  if (local.size() > most_at_once_ || key.peer->is_lost) return start_long(range, completion, nullptr, false);
  RmaRequest* const request = take(key, completion);
  if (request == nullptr) return false;
  request->is_write = false;
  void* descriptor = nullptr;
  std::byte* const at = describe_local(*request, local, false, descriptor);
  if (at == nullptr) {
    drop(*request);
    return start_long(range, completion, nullptr, false);
  }
  return read(*request, {at, local.size()}, descriptor, key.address + offset, key.key);
}

bool OfiRma::get(const transport::RemoteKey& any_key, std::uint64_t offset, std::span<std::byte> dest,
                 Completion& completion) noexcept {
  return get_registered({static_cast<const RemoteKey&>(any_key), offset, dest}, completion);
}

bool OfiRma::start_long(const Range& range, Completion& completion, Completion* source_use, bool is_write) {
  const auto& [key, offset, local] = range;
  if (key.peer->is_lost) {
    completion.failed = true;
    return true;
  }
  if (transfers_.is_full()) return false;
  Transfer* const transfer = transfers_.take();
  transfer->peer = key.peer;
  transfer->local = local.data();
  transfer->remote = {key.address + offset, key.key};
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

void OfiRma::end(RmaRequest& request, bool has_failed) noexcept {
  if (request.completion != nullptr) {
    if (!has_failed && request.bounce.at != nullptr && !request.is_write)
      std::memcpy(request.local.data(), request.bounce.at, request.local.size());
    request.completion->failed = request.completion->failed || has_failed;
    --request.completion->open;
    if (request.source_use != nullptr) {
      --request.source_use->open;
      ends_at_once_ = looks_ - request.posted_at <= 1;
    }
  }
  drop(request);
}

bool OfiRma::end_all(const Peer& peer) noexcept {
  const bool has_more = std::any_of(requests_.all.begin(), requests_.all.end(), [&](const RmaRequest& request) {
    return request.is_open() && request.peer == &peer && request.completion != nullptr;
  });
  return transfers_.end_all(peer) || has_more;
}

void OfiRma::give_up(const Peer& peer) noexcept {
  transfers_.give_up(peer);
  for (RmaRequest& request : requests_.all) {
    if (!request.is_open() || request.peer != &peer || request.completion == nullptr) continue;
    Completion& completion = *std::exchange(request.completion, nullptr);
    request.is_plain = false;
    completion.failed = completion.is_unknown = true;
    --completion.open;
    if (request.source_use != nullptr) --std::exchange(request.source_use, nullptr)->open;
  }
}

}  // namespace shmemx::ofi
