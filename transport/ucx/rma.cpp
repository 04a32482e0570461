// Puts and gets with keys. A key is the range's address at its owner, then UCX's packed key. A put is complete when a
// flush that began after it has ended. All puts to a PE that wait for a flush share one.
#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {
namespace {

ucp_request_param_t with_callback(ucp_send_nbx_callback_t callback, void* argument) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = callback;
  param.user_data = argument;
  return param;
}

}  // namespace

struct UcxTransport::Flush {
  Peer& peer;
  std::vector<Completion*> puts;
};

struct UcxTransport::Getting {
  Peer& peer;
  Completion& completion;
};

Result<std::string> UcxTransport::register_memory(std::byte* base, std::size_t bytes) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = base;
  params.length = bytes;
  ucp_mem_h handle = nullptr;
  ucs_status_t status = ::ucp_mem_map(library_.context(), &params, &handle);
  if (status != UCS_OK) {
    return Error{Errc::unsupported, 0,
                 "UCX registers no range of " + std::to_string(bytes) + " bytes: " + status_text(status)};
  }
  void* packed = nullptr;
  std::size_t packed_bytes = 0;
  status = ::ucp_rkey_pack(library_.context(), handle, &packed, &packed_bytes);
  if (status != UCS_OK || sizeof base + packed_bytes > kMaxKeyBytes) {
    if (status == UCS_OK) ::ucp_rkey_buffer_release(packed);
    ::ucp_mem_unmap(library_.context(), handle);
    return Error{Errc::unsupported, 0, "UCX makes no key of at most " + std::to_string(kMaxKeyBytes) + " bytes"};
  }
  std::string key(reinterpret_cast<const char*>(&base), sizeof base);
  key.append(static_cast<const char*>(packed), packed_bytes);
  ::ucp_rkey_buffer_release(packed);
  registered_.push_back({base, handle});
  return key;
}

void UcxTransport::unregister_memory(std::byte* base) noexcept {
  const auto found = std::find_if(registered_.begin(), registered_.end(),
                                  [base](const Registered& registered) { return registered.base == base; });
  if (found == registered_.end()) return;
  ::ucp_mem_unmap(library_.context(), found->handle);
  registered_.erase(found);
}

// Returns null if the key does not fit that PE. The PE is lost then.
const RemoteKey* UcxTransport::unpack(Peer& peer, Bytes key) {
  const std::string_view bytes(reinterpret_cast<const char*>(key.data()), key.size());
  for (const RemoteKey& known : peer.keys) {
    if (known.bytes == bytes) return &known;
  }
  RemoteKey fresh{std::string(bytes), 0, nullptr};
  ucs_status_t status = UCS_ERR_INVALID_PARAM;
  if (key.size() > sizeof fresh.base && key.size() <= kMaxKeyBytes) {
    std::memcpy(&fresh.base, key.data(), sizeof fresh.base);
    status = ::ucp_ep_rkey_unpack(peer.endpoint, fresh.bytes.data() + sizeof fresh.base, &fresh.rkey);
  }
  if (status != UCS_OK) {
    lose(peer, "its key does not fit: " + status_text(status));
    return nullptr;
  }
  peer.keys.push_back(std::move(fresh));
  return &peer.keys.back();
}

void UcxTransport::forget_key(int pe, Bytes key) noexcept {
  Peer* peer = connected_peer(pe);
  if (peer == nullptr) return;
  const std::string_view bytes(reinterpret_cast<const char*>(key.data()), key.size());
  std::erase_if(peer->keys, [bytes](const RemoteKey& known) {
    if (known.bytes != bytes) return false;
    ::ucp_rkey_destroy(known.rkey);
    return true;
  });
}

bool UcxTransport::put(int pe, Bytes key, std::uint64_t offset, Bytes source, Completion& completion) noexcept {
  Peer* peer = connected_peer(pe);
  const RemoteKey* remote = peer != nullptr ? unpack(*peer, key) : nullptr;
  if (remote == nullptr) {  // dropped: the PE is lost
    completion.failed = true;
    return true;
  }
  const ucp_request_param_t param = with_callback(&UcxTransport::put_ended, peer);
  const ucs_status_ptr_t request =
      ::ucp_put_nbx(peer->endpoint, source.data(), source.size(), remote->base + offset, remote->rkey, &param);
  if (UCS_PTR_IS_ERR(request)) {
    lose(*peer, "UCX puts nothing: " + status_text(UCS_PTR_STATUS(request)));
    completion.failed = true;
    return true;
  }
  if (UCS_PTR_IS_PTR(request)) ++peer->transfers;
  ++completion.open;
  if (peer->unflushed.empty()) unflushed_.push_back(peer);
  peer->unflushed.push_back(&completion);
  return true;
}

void UcxTransport::put_ended(void* request, ucs_status_t status, void* argument) {
  ::ucp_request_free(request);
  Peer& peer = *static_cast<Peer*>(argument);
  --peer.transfers;
  if (status != UCS_OK) peer.transport.lose(peer, "UCX could not put: " + status_text(status));
}

bool UcxTransport::get(int pe, Bytes key, std::uint64_t offset, std::span<std::byte> dest,
                       Completion& completion) noexcept {
  Peer* peer = connected_peer(pe);
  const RemoteKey* remote = peer != nullptr ? unpack(*peer, key) : nullptr;
  if (remote == nullptr) {  // dropped: the PE is lost
    completion.failed = true;
    return true;
  }
  auto getting = std::make_unique<Getting>(Getting{*peer, completion});
  const ucp_request_param_t param = with_callback(&UcxTransport::get_ended, getting.get());
  const ucs_status_ptr_t request =
      ::ucp_get_nbx(peer->endpoint, dest.data(), dest.size(), remote->base + offset, remote->rkey, &param);
  if (UCS_PTR_IS_ERR(request)) {
    completion.failed = true;
    lose(*peer, "UCX gets nothing: " + status_text(UCS_PTR_STATUS(request)));
  }
  if (UCS_PTR_IS_PTR(request)) {
    ++completion.open;
    ++peer->transfers;
    getting.release();  // get_ended() owns it now
  }
  return true;
}

void UcxTransport::get_ended(void* request, ucs_status_t status, void* argument) {
  const std::unique_ptr<Getting> getting(static_cast<Getting*>(argument));
  ::ucp_request_free(request);
  --getting->completion.open;
  getting->completion.failed = getting->completion.failed || status != UCS_OK;
  Peer& peer = getting->peer;
  --peer.transfers;
  if (status != UCS_OK) peer.transport.lose(peer, "UCX could not get: " + status_text(status));
}

void UcxTransport::flush_puts() {
  for (Peer* peer : std::exchange(unflushed_, {})) {
    auto* flush = new Flush{*peer, std::exchange(peer->unflushed, {})};
    const ucp_request_param_t param = with_callback(&UcxTransport::flush_ended, flush);
    ++peer->transfers;
    const ucs_status_ptr_t request =
        peer->is_gone() ? UCS_STATUS_PTR(UCS_ERR_CANCELED) : ::ucp_ep_flush_nbx(peer->endpoint, &param);
    if (!UCS_PTR_IS_PTR(request)) flush_ended(nullptr, UCS_PTR_STATUS(request), flush);
  }
}

void UcxTransport::flush_ended(void* request, ucs_status_t status, void* argument) {
  const std::unique_ptr<Flush> flush(static_cast<Flush*>(argument));
  if (request != nullptr) ::ucp_request_free(request);
  --flush->peer.transfers;
  for (Completion* put : flush->puts) {
    --put->open;
    put->failed = put->failed || status != UCS_OK;
  }
  UcxTransport& transport = flush->peer.transport;
  transport.events_.active = true;
  if (status != UCS_OK) transport.lose(flush->peer, "UCX could not put: " + status_text(status));
}

}  // namespace shmemx::ucx
