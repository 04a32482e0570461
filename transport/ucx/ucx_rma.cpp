#include "transport/ucx/ucx_rma.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {
namespace {

ucp_request_param_t with_callback(ucp_send_nbx_callback_t callback, void* argument) {
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = callback;
  param.user_data = argument;
  return param;
}

}  // namespace

Result<std::string> UcxRma::register_memory(std::byte* base, std::size_t bytes) {
  ucp_mem_map_params_t params{};
  params.field_mask =
      UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
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
  auto fresh = std::make_unique<RemoteKey>();
  fresh->peer = peer;
  ucs_status_t status = UCS_ERR_INVALID_PARAM;
  if (key.size() > sizeof fresh->base && key.size() <= kMaxKeyBytes) {
    std::memcpy(&fresh->base, key.data(), sizeof fresh->base);
    status = ::ucp_ep_rkey_unpack(peer->endpoint, key.data() + sizeof fresh->base, &fresh->rkey);
  }
  if (status != UCS_OK) {
    transport_.lose(*peer, "its key does not fit: " + status_text(status));
    return nullptr;
  }
  keys_.push_back(std::move(fresh));
  return keys_.back().get();
}

void UcxRma::release_key(transport::RemoteKey* key) noexcept {
  const auto found = std::find_if(keys_.begin(), keys_.end(), [key](const auto& known) { return known.get() == key; });
  if (found == keys_.end()) return;
  (*found)->drop();
  keys_.erase(found);
}

void UcxRma::drop_keys(const Peer& peer) noexcept {
  for (const auto& key : keys_) {
    if (key->peer == &peer) key->drop();
  }
}

void UcxRma::release_all() noexcept {
  for (const auto& key : keys_) key->drop();
  keys_.clear();
  for (const Registered& registered : registered_) ::ucp_mem_unmap(context_, registered.handle);
  registered_.clear();
}

UcxRma::Operation* UcxRma::take(Peer& peer, Completion* completion) {
  if (free_.empty()) free_.push_back(&all_.emplace_back());
  Operation* const operation = free_.back();
  free_.pop_back();
  operation->peer = &peer;
  operation->completion = completion;
  return operation;
}

// Returns false if it has failed.
bool UcxRma::start(Operation* operation, ucs_status_ptr_t request, const char* what) noexcept {
  if (UCS_PTR_IS_PTR(request)) {
    if (operation->completion != nullptr) ++operation->completion->open;
    ++operation->peer->transfers;
    return true;
  }
  give_back(operation);
  if (!UCS_PTR_IS_ERR(request)) [[likely]]
    return true;
  transport_.lose(*operation->peer, std::string("UCX ") + what + " nothing: " + status_text(UCS_PTR_STATUS(request)));
  return false;
}

void UcxRma::ended(void* request, ucs_status_t status, void* argument) {
  auto* const operation = static_cast<Operation*>(argument);
  ::ucp_request_free(request);
  Peer& peer = *operation->peer;
  --peer.transfers;
  if (operation->completion != nullptr) {
    operation->completion->failed = operation->completion->failed || status != UCS_OK;
    --operation->completion->open;
  }
  UcxTransport& transport = peer.transport;
  transport.rma_.give_back(operation);
  if (status != UCS_OK) transport.lose(peer, "UCX could not put or get: " + status_text(status));
}

bool UcxRma::start_put(const RemoteKey& key, std::uint64_t offset, Operation* operation, Bytes source,
                       Completion& completion) noexcept {
  Peer& peer = *key.peer;
  const ucp_request_param_t param = with_callback(&UcxRma::ended, operation);
  const ucs_status_ptr_t request =
      ::ucp_put_nbx(peer.endpoint, source.data(), source.size(), key.base + offset, key.rkey, &param);
  if (!start(operation, request, "puts")) {
    completion.failed = true;
    return true;
  }
  ++completion.open;
  if (!peer.unflushed.empty() && peer.unflushed.back().completion == &completion) [[likely]] {
    ++peer.unflushed.back().puts;
    return true;
  }
  if (peer.unflushed.empty()) unflushed_.push_back(&peer);
  peer.unflushed.push_back({&completion, 1});
  return true;
}

bool UcxRma::put(const transport::RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
                 Completion* source_use) noexcept {
  const auto& remote = static_cast<const RemoteKey&>(key);
  Peer& peer = *remote.peer;
  if (peer.is_gone()) [[unlikely]] {
    completion.failed = true;
    return true;
  }
  if (peer.transfers >= kMostTransfers) [[unlikely]]
    return false;
  return start_put(remote, offset, take(peer, source_use), source, completion);
}

bool UcxRma::put_short(const transport::RemoteKey& key, std::uint64_t offset, Bytes source,
                       Completion& completion) noexcept {
  const auto& remote = static_cast<const RemoteKey&>(key);
  Peer& peer = *remote.peer;
  if (peer.is_gone() || peer.transfers >= kMostTransfers) [[unlikely]]
    return false;
  Operation* const operation = take(peer, nullptr);
  std::memcpy(operation->copy.data(), source.data(), source.size());
  return start_put(remote, offset, operation, {operation->copy.data(), source.size()}, completion);
}

bool UcxRma::get_short(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                       Completion& completion) noexcept {
  return get(key, offset, dest, completion);  // UCX finishes and receives in one call
}

bool UcxRma::get(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                 Completion& completion) noexcept {
  const auto& remote = static_cast<const RemoteKey&>(key);
  Peer& peer = *remote.peer;
  if (peer.is_gone()) [[unlikely]] {
    completion.failed = true;
    return true;
  }
  if (peer.transfers >= kMostTransfers) [[unlikely]]
    return false;
  Operation* const operation = take(peer, &completion);
  const ucp_request_param_t param = with_callback(&UcxRma::ended, operation);
  const ucs_status_ptr_t request =
      ::ucp_get_nbx(peer.endpoint, dest.data(), dest.size(), remote.base + offset, remote.rkey, &param);
  if (!start(operation, request, "gets")) completion.failed = true;
  return true;
}

void UcxRma::progress() noexcept {
  if (has_unflushed()) flush_puts();
  transport_.progress();
}

// All at once: they wait for each other's answers.
void UcxRma::flush_puts() {
  for (Peer* peer : unflushed_) {  // nothing is put meanwhile
    Operation* const flush = take(*peer, nullptr);
    flush->puts.swap(peer->unflushed);
    const ucp_request_param_t param = with_callback(&UcxRma::flush_ended, flush);
    ++peer->transfers;
    const ucs_status_ptr_t request =
        peer->is_gone() ? UCS_STATUS_PTR(UCS_ERR_CANCELED) : ::ucp_ep_flush_nbx(peer->endpoint, &param);
    if (!UCS_PTR_IS_PTR(request)) flush_ended(nullptr, UCS_PTR_STATUS(request), flush);
  }
  unflushed_.clear();
}

void UcxRma::flush_ended(void* request, ucs_status_t status, void* argument) {
  auto* const flush = static_cast<Operation*>(argument);
  if (request != nullptr) ::ucp_request_free(request);
  Peer& peer = *flush->peer;
  --peer.transfers;
  for (const Unflushed& puts : flush->puts) {
    puts.completion->failed = puts.completion->failed || status != UCS_OK;
    puts.completion->open -= puts.puts;
  }
  flush->puts.clear();
  UcxTransport& transport = peer.transport;
  transport.rma_.give_back(flush);
  transport.events_.active = true;
  if (status != UCS_OK) transport.lose(peer, "UCX could not put: " + status_text(status));
}

}  // namespace shmemx::ucx
