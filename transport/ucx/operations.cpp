#include "transport/ucx/operations.hpp"

#include <cstring>

#include "transport/ucx/library.hpp"

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

ucs_status_t RemoteKey::unpack(Bytes key) noexcept {
  if (key.size() <= sizeof base || key.size() > transport::kMaxKeyBytes) return UCS_ERR_INVALID_PARAM;
  std::memcpy(&base, key.data(), sizeof base);
  return ::ucp_ep_rkey_unpack(target->endpoint, key.data() + sizeof base, &rkey);
}

Operations::Operation* Operations::make() {
  Operation& made = all_.emplace_back();
  made.owner = this;
  return &made;
}

Operations::Operation* Operations::take(Target& target, Completion* completion) {
  if (free_.empty()) free_.push_back(make());
  Operation* const operation = free_.back();
  free_.pop_back();
  operation->target = &target;
  operation->completion = completion;
  return operation;
}

// Returns false if it has failed.
bool Operations::start(Operation* operation, ucs_status_ptr_t request, const char* what) noexcept {
  if (UCS_PTR_IS_PTR(request)) {
    if (operation->completion != nullptr) ++operation->completion->open;
    ++operation->target->transfers;
    return true;
  }
  give_back(operation);
  if (!UCS_PTR_IS_ERR(request)) [[likely]]
    return true;
  failed(*operation->target, std::string("UCX ") + what + " nothing: " + status_text(UCS_PTR_STATUS(request)));
  return false;
}

void Operations::ended(void* request, ucs_status_t status, void* argument) {
  auto* const operation = static_cast<Operation*>(argument);
  ::ucp_request_free(request);
  Target& target = *operation->target;
  --target.transfers;
  if (operation->completion != nullptr) {
    operation->completion->failed = operation->completion->failed || status != UCS_OK;
    --operation->completion->open;
  }
  Operations& owner = *operation->owner;
  owner.give_back(operation);
  if (status != UCS_OK) owner.failed(target, "UCX could not put or get: " + status_text(status));
}

bool Operations::start_put(const RemoteKey& key, std::uint64_t offset, Operation* operation, Bytes source,
                           Completion& completion) noexcept {
  Target& target = *key.target;
  const ucp_request_param_t param = with_callback(&Operations::ended, operation);
  const ucs_status_ptr_t request =
      ::ucp_put_nbx(target.endpoint, source.data(), source.size(), key.base + offset, key.rkey, &param);
  if (!start(operation, request, "puts")) {
    completion.failed = true;
    return true;
  }
  ++completion.open;
  if (!target.unflushed.empty() && target.unflushed.back().completion == &completion) [[likely]] {
    ++target.unflushed.back().puts;
    return true;
  }
  if (target.unflushed.empty()) unflushed_.push_back(&target);
  target.unflushed.push_back({&completion, 1});
  return true;
}

bool Operations::put(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
                     Completion* source_use) noexcept {
  Target& target = *key.target;
  if (target.endpoint == nullptr) [[unlikely]] {
    completion.failed = true;
    return true;
  }
  if (target.transfers >= kMostTransfers) [[unlikely]]
    return false;
  return start_put(key, offset, take(target, source_use), source, completion);
}

bool Operations::put_short(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion) noexcept {
  Target& target = *key.target;
  if (target.endpoint == nullptr || target.transfers >= kMostTransfers) [[unlikely]]
    return false;
  Operation* const operation = take(target, nullptr);
  std::memcpy(operation->copy.data(), source.data(), source.size());
  return start_put(key, offset, operation, {operation->copy.data(), source.size()}, completion);
}

bool Operations::get(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                     Completion& completion) noexcept {
  Target& target = *key.target;
  if (target.endpoint == nullptr) [[unlikely]] {
    completion.failed = true;
    return true;
  }
  if (target.transfers >= kMostTransfers) [[unlikely]]
    return false;
  Operation* const operation = take(target, &completion);
  const ucp_request_param_t param = with_callback(&Operations::ended, operation);
  const ucs_status_ptr_t request =
      ::ucp_get_nbx(target.endpoint, dest.data(), dest.size(), key.base + offset, key.rkey, &param);
  if (!start(operation, request, "gets")) completion.failed = true;
  return true;
}

// All at once: they wait for each other's answers.
void Operations::flush_puts() {
  for (Target* target : unflushed_) {  // nothing is put meanwhile
    Operation* const flush = take(*target, nullptr);
    flush->puts.swap(target->unflushed);
    const ucp_request_param_t param = with_callback(&Operations::flush_ended, flush);
    ++target->transfers;
    const ucs_status_ptr_t request =
        target->endpoint == nullptr ? UCS_STATUS_PTR(UCS_ERR_CANCELED) : ::ucp_ep_flush_nbx(target->endpoint, &param);
    if (!UCS_PTR_IS_PTR(request)) flush_ended(nullptr, UCS_PTR_STATUS(request), flush);
  }
  unflushed_.clear();
}

void Operations::flush_ended(void* request, ucs_status_t status, void* argument) {
  auto* const flush = static_cast<Operation*>(argument);
  if (request != nullptr) ::ucp_request_free(request);
  Target& target = *flush->target;
  --target.transfers;
  for (const Unflushed& puts : flush->puts) {
    puts.completion->failed = puts.completion->failed || status != UCS_OK;
    puts.completion->open -= puts.puts;
  }
  flush->puts.clear();
  Operations& owner = *flush->owner;
  owner.give_back(flush);
  owner.flush_has_ended();
  if (status != UCS_OK) owner.failed(target, "UCX could not put: " + status_text(status));
}

}  // namespace shmemx::ucx
