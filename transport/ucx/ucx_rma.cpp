#include "transport/ucx/ucx_rma.hpp"

#include <algorithm>
#include <utility>

#include "transport/ucx/ucx_lane.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {
Result<std::string> UcxRma::register_memory(std::byte* base, std::size_t bytes) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.address = base;
  params.length = bytes;
  params.flags = UCP_MEM_MAP_NONBLOCK;  // where pages can be faulted in by the device, none is before it is used
  ucp_mem_h handle = nullptr;
  ucs_status_t status = ::ucp_mem_map(context_, &params, &handle);
  if (status != UCS_OK) {
    return Error{Errc::unsupported, 0,
                 "UCX registers no range of " + std::to_string(bytes) + " bytes: " + status_text(status)};
  }
  void* packed = nullptr;
  std::size_t packed_bytes = 0;
  status = ::ucp_rkey_pack(context_, handle, &packed, &packed_bytes);
  if (status != UCS_OK || sizeof base + packed_bytes > kMaxKeyBytes) {
    if (status == UCS_OK) ::ucp_rkey_buffer_release(packed);
    ::ucp_mem_unmap(context_, handle);
    return Error{Errc::unsupported, 0, "UCX makes no key of at most " + std::to_string(kMaxKeyBytes) + " bytes"};
  }
  std::string key(reinterpret_cast<const char*>(&base), sizeof base);
  key.append(static_cast<const char*>(packed), packed_bytes);
  ::ucp_rkey_buffer_release(packed);
  registered_.push_back({base, handle});
  return key;
}

void UcxRma::unregister_memory(std::byte* base) noexcept {
  const auto found = std::find_if(registered_.begin(), registered_.end(),
                                  [base](const Registered& registered) { return registered.base == base; });
  if (found == registered_.end()) return;
  ::ucp_mem_unmap(context_, found->handle);
  registered_.erase(found);
}

transport::RemoteKey* UcxRma::import_key(int pe, Bytes key) noexcept {
  Peer* const peer = transport_.connected_peer(pe);
  if (peer == nullptr) return nullptr;
  auto fresh = std::make_unique<PackedKey>();
  fresh->target = &peer->target;
  if (const ucs_status_t status = fresh->unpack(key); status != UCS_OK) {
    transport_.lose(*peer, "its key does not fit: " + status_text(status));
    return nullptr;
  }
  fresh->packed.assign(reinterpret_cast<const char*>(key.data()), key.size());
  keys_.push_back(std::move(fresh));
  return keys_.back().get();
}

void UcxRma::release_key(transport::RemoteKey* key) noexcept {
  const auto found = std::find_if(keys_.begin(), keys_.end(), [key](const auto& known) { return known.get() == key; });
  if (found == keys_.end()) return;
  keys_.erase(found);
}

void UcxRma::drop_keys(const Target& peer) noexcept {
  for (const auto& key : keys_) {
    if (key->target == &peer) key->drop();
  }
}

void UcxRma::release_all() noexcept {
  keys_.clear();
  for (const Registered& registered : registered_) ::ucp_mem_unmap(context_, registered.handle);
  registered_.clear();
}

transport::FenceOrder UcxRma::fence() noexcept { return order_by_fence(transport_.library_.worker()); }

void UcxRma::progress() noexcept {
  if (has_unflushed()) flush_puts();
  transport_.progress();
}

std::unique_ptr<transport::Lane> UcxRma::open_lane() noexcept { return UcxLane::open(transport_); }

void UcxRma::failed(Target& target, const std::string& cause) noexcept {
  transport_.lose(*transport_.peers_.find(target.pe), cause);
}

void UcxRma::flush_has_ended() noexcept { transport_.events_.active = true; }

}  // namespace shmemx::ucx
