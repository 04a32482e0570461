#include "transport/ofi/ofi_lane.hpp"

#include <rdma/fi_errno.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstring>

namespace shmemx::ofi {

using transport::ShortGet;

namespace {

// Each endpoint of shm has a segment of 16 MiB there, of which it uses 4 to 8. A program that touches a page for which
// there is no room ends.
bool has_room_for_segment() noexcept {
  constexpr std::uint64_t kRoomBytes = std::uint64_t{32} << 20;
  struct statvfs space;
  return ::statvfs("/dev/shm", &space) == 0 && space.f_bavail * space.f_frsize >= kRoomBytes;
}

}  // namespace

// Nothing is sent to a lane, and few operations are under way.
std::unique_ptr<transport::Lane> OfiLane::open(Fabric& fabric, const Memory& memory, Peers& peers) {
  constexpr std::size_t kMostReceives = 64;
  if (fabric.provider() == "shm" && !has_room_for_segment()) return nullptr;
  const Info info(fabric.library->dupinfo(fabric.info.get()), FreeInfo{fabric.library});
  info->tx_attr->size = std::min(info->tx_attr->size, kMostOpen);
  info->rx_attr->size = std::min(info->rx_attr->size, kMostReceives);
  Result<Fabric> own = open_fabric(*fabric.library, *info, Waiting::on_nothing);
  if (!own) return nullptr;
  fabric.lanes.push_back(own->name());
  std::unique_ptr<OfiLane> lane(new OfiLane(std::move(*own), memory, peers));
  if (lane->needs_buffers_ && !lane->bounces_.open()) return nullptr;
  return lane;
}

OfiLane::OfiLane(Fabric fabric, const Memory& memory, Peers& peers)
    : peers_(peers),
      fabric_(std::move(fabric)),
      memory_(fabric_, memory),
      needs_buffers_(fabric_.wants(FI_MR_LOCAL)),
      most_bytes_(
          std::min(needs_buffers_ ? BouncePool::kBytes : Transfers::kChunkBytes, fabric_.info->ep_attr->max_msg_size)),
      bounces_(memory_) {}

// ---- under the lock of the layer above ----

// Returns null if the PE is lost, or if the provider does not accept its address.
OfiLane::Target* OfiLane::reached(Peer& peer) {
  const auto known =
      std::find_if(targets_.begin(), targets_.end(), [&](const auto& target) { return target->pe == peer.pe; });
  if (known != targets_.end()) return known->get();
  if (!peers_.connect(peer)) return nullptr;
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  if (fi_av_insert(fabric_.av.get(), peer.name.data(), 1, &address, 0, nullptr) != 1) return nullptr;
  targets_.push_back(std::make_unique<Target>(Target{peer.pe, address, false, {}}));
  return targets_.back().get();
}

transport::RemoteKey* OfiLane::import_key(const transport::RemoteKey& any_key) noexcept {
  const auto& key = static_cast<const OfiRma::RemoteKey&>(any_key);
  Target* const target = reached(*key.peer);
  if (target == nullptr || target->is_lost) return nullptr;
  auto usable = memory_.use_key(std::as_bytes(std::span(key.bytes)));
  if (!usable) return nullptr;
  auto fresh = std::make_unique<RemoteKey>();
  fresh->target = target;
  fresh->endpoint = target->address;
  fresh->address = key.address;
  fresh->usable = std::move(*usable);
  fresh->key = fresh->usable.name();
  keys_.push_back(std::move(fresh));
  return keys_.back().get();
}

void OfiLane::report_lost() noexcept {
  for (Target* const target : std::exchange(lost_, {})) peers_.fail(peers_.contact(target->pe), target->cause);
}

// ---- requests and their ends ----

// Makes a free request, or one that was in use free.
void OfiLane::make_free() noexcept {
  if (requests_.size() < kMostOpen) return give_back(requests_.emplace_back());
  progress();
}

OfiLane::Request* OfiLane::take(const RemoteKey& key, Completion& completion) noexcept {
  if (free_ == nullptr) make_free();
  Request* const request = free_;
  if (request == nullptr) return nullptr;
  take_first();
  request->target = key.target;
  request->completion = &completion;
  return request;
}

void OfiLane::end(Request& request, bool has_failed) noexcept {
  request.completion->failed = request.completion->failed || has_failed;
  --request.completion->open;
  if (!request.is_plain) {
    if (!has_failed && !request.read_to.empty())
      std::memcpy(request.read_to.data(), request.bounce.at, request.read_to.size());
    if (request.source_use != nullptr) --std::exchange(request.source_use, nullptr)->open;
    if (request.bounce.at != nullptr) bounces_.give_back(std::exchange(request.bounce, {}));
    request.read_to = {};
    request.is_plain = true;
  }
  give_back(request);
}

void OfiLane::progress() noexcept {
  std::array<fi_cq_data_entry, 16> entries;
  for (std::size_t left = kMostOpen; left != 0; left -= entries.size()) {
    const ssize_t count = fi_cq_read(fabric_.cq.get(), entries.data(), entries.size());
    if (count == -FI_EAVAIL) [[unlikely]]
      on_failure();
    for (ssize_t i = 0; i < count; ++i) {
      void* const context = entries[static_cast<std::size_t>(i)].op_context;
      on_done(static_cast<Request&>(*static_cast<Operation*>(context)));
    }
    if (count < static_cast<ssize_t>(entries.size())) return;
  }
}

void OfiLane::on_failure() noexcept {
  fi_cq_err_entry problem{};
  if (fi_cq_readerr(fabric_.cq.get(), &problem, 0) < 0 || problem.op_context == nullptr) return;
  auto& request = static_cast<Request&>(*static_cast<Operation*>(problem.op_context));
  fail(*request.target, fabric_.error_text(problem.err));
  end(request, true);
}

void OfiLane::fail(Target& target, std::string cause) noexcept {
  if (std::exchange(target.is_lost, true)) return;
  target.cause = std::move(cause);
  lost_.push_back(&target);
}

// Returns false if the provider takes nothing now.
bool OfiLane::not_posted(Request& request, std::int64_t result) noexcept {
  const bool is_busy = result == -FI_EAGAIN;
  if (!is_busy) fail(*request.target, fabric_.failure("RMA", result).text);
  request.read_to = {};
  const bool had_failed = request.completion->failed;
  end(request, true);
  if (is_busy) request.completion->failed = had_failed;
  return !is_busy;
}

// ---- operations ----

bool OfiLane::write(Request& request, const Range& range) noexcept {
  WriteMessage write(&request.context);
  write.source = {range.local, range.bytes};
  write.target.len = range.bytes;
  write.descriptor = range.descriptor;
  write.aim(range.key, range.offset);
  ++request.completion->open;
  const ssize_t result = fi_writemsg(fabric_.ep.get(), &write.message, fabric_.write_flags());
  return result == 0 || not_posted(request, result);
}

bool OfiLane::read(Request& request, const Range& range) noexcept {
  ++request.completion->open;
  const ssize_t result = fi_read(fabric_.ep.get(), range.local, range.bytes, range.descriptor, range.key.endpoint,
                                 range.key.address + range.offset, range.key.key, &request.context);
  return result == 0 || not_posted(request, result);
}

// Puts a registered buffer in the place of the caller's memory. Returns false, and frees the request, if all are in
// use.
bool OfiLane::lend_buffer(Request& request, Range& range) {
  request.bounce = bounces_.take();
  if (request.bounce.at == nullptr) {
    give_back(request);
    return false;
  }
  request.is_plain = false;
  range.local = request.bounce.at;
  range.descriptor = request.bounce.descriptor;
  return true;
}

// A word needs no more than to be stored in a request that is prepared for it.
bool OfiLane::put_short(const transport::RemoteKey& any_key, std::uint64_t offset, Bytes source,
                        Completion& completion) noexcept {
  const RemoteKey& key = of(any_key);
  Request* const request = free_;
  if (source.size() != sizeof(std::uint64_t) || request == nullptr || needs_buffers_ || key.target->is_lost)
      [[unlikely]]
    return put_short_apart(key, offset, source, completion);
  request->target = key.target;
  request->completion = &completion;
  std::memcpy(request->inline_data.data(), source.data(), sizeof(std::uint64_t));
  WriteMessage& write = request->copied;
  write.aim(key, offset);
  take_first();
  ++completion.open;
  const ssize_t result = fi_writemsg(fabric_.ep.get(), &write.message, fabric_.write_flags());
  return result == 0 || not_posted(*request, result);
}

bool OfiLane::put_short_apart(const RemoteKey& key, std::uint64_t offset, Bytes source,
                              Completion& completion) noexcept {
  if (key.target->is_lost) return completion.failed = true;
  Request* const request = take(key, completion);
  if (request == nullptr) return false;
  Range range{key, offset, request->inline_data.data(), source.size(), nullptr};
  if (needs_buffers_ && !lend_buffer(*request, range)) return false;
  std::memcpy(range.local, source.data(), source.size());
  return write(*request, range);
}

bool OfiLane::put(const transport::RemoteKey& any_key, std::uint64_t offset, Bytes source, Completion& completion,
                  Completion* source_use) noexcept {
  const RemoteKey& key = of(any_key);
  if (key.target->is_lost) return completion.failed = true;
  if (source_use != nullptr && source.size() <= transport::Rma::kShortBytes)
    return put_short_apart(key, offset, source, completion);
  Request* const request = take(key, completion);
  if (request == nullptr) return false;
  Range range{key, offset, const_cast<std::byte*>(source.data()), source.size(), nullptr};
  if (needs_buffers_) {
    if (!lend_buffer(*request, range)) return false;
    std::memcpy(range.local, source.data(), source.size());
  } else if (source_use != nullptr) {
    request->is_plain = false;
    request->source_use = source_use;
    ++source_use->open;
  }
  return write(*request, range);
}

bool OfiLane::get(const transport::RemoteKey& any_key, std::uint64_t offset, std::span<std::byte> dest,
                  Completion& completion) noexcept {
  const RemoteKey& key = of(any_key);
  if (key.target->is_lost) return completion.failed = true;
  Request* const request = take(key, completion);
  if (request == nullptr) return false;
  Range range{key, offset, dest.data(), dest.size(), nullptr};
  if (needs_buffers_) {
    if (!lend_buffer(*request, range)) return false;
    request->read_to = dest;
  }
  return read(*request, range);
}

ShortGet OfiLane::get_short(const transport::RemoteKey& any_key, std::uint64_t offset, std::span<std::byte> dest,
                            Completion& completion) noexcept {
  const RemoteKey& key = of(any_key);
  Request* const request = free_;
  if (request == nullptr || needs_buffers_ || key.target->is_lost) [[unlikely]]
    return transport::how_begun(get(any_key, offset, dest, completion), completion);
  request->target = key.target;
  request->completion = &completion;
  if (fi_read(fabric_.ep.get(), dest.data(), dest.size(), nullptr, key.endpoint, key.address + offset, key.key,
              &request->context) != 0) [[unlikely]]
    return ShortGet::no;
  const ssize_t count = fi_cq_read(fabric_.cq.get(), &entry_of_get_, 1);
  if (count == 1 && entry_of_get_.op_context == &request->context) [[likely]]
    return ShortGet::done;
  return keep(count == 1);
}

// A get has not ended, or was not the first to end: its request, the first free one, is in use.
ShortGet OfiLane::keep(bool has_entry) noexcept {
  ++free_->completion->open;
  take_first();
  if (has_entry) on_done(static_cast<Request&>(*static_cast<Operation*>(entry_of_get_.op_context)));
  return ShortGet::open;
}

}  // namespace shmemx::ofi
