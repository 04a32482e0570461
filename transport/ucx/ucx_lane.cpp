#include "transport/ucx/ucx_lane.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "transport/ucx/ucx_rma.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {
namespace {

// How long the end of a lane waits for the ends of its endpoints. Nothing is under way then.
constexpr std::uint64_t kPatienceNs = 20'000'000;

}  // namespace

std::unique_ptr<transport::Lane> UcxLane::open(UcxTransport& transport) {
  const std::vector<Resource>& resources = transport.library_.resources();
  const bool has_sockets = std::any_of(resources.begin(), resources.end(),
                                       [](const Resource& resource) { return resource.transport == "tcp"; });
  if (transport.setup_.has_reserve || (has_sockets && !transport.library_.is_native())) return nullptr;
  const ucp_worker_h worker = transport.library_.make_lane_worker();
  return worker != nullptr ? std::unique_ptr<transport::Lane>(new UcxLane(transport, worker)) : nullptr;
}

UcxLane::~UcxLane() {
  keys_.clear();
  std::vector<ucs_status_ptr_t> ends;
  for (const ucp_ep_h endpoint : endpoints_) {
    const ucp_request_param_t param{};
    const ucs_status_ptr_t end = ::ucp_ep_close_nbx(endpoint, &param);
    if (UCS_PTR_IS_PTR(end)) ends.push_back(end);
  }
  const std::uint64_t deadline = now_ns() + kPatienceNs;
  const auto is_over = [](ucs_status_ptr_t end) { return ::ucp_request_check_status(end) != UCS_INPROGRESS; };
  while (!std::all_of(ends.begin(), ends.end(), is_over) && now_ns() < deadline) ::ucp_worker_progress(worker_);
  for (const ucs_status_ptr_t end : ends) ::ucp_request_free(end);
  ::ucp_worker_destroy(worker_);
}

// Returns null if the PE is lost, or has left.
Target* UcxLane::connected(int pe) {
  const auto known =
      std::find_if(targets_.begin(), targets_.end(), [pe](const auto& target) { return target->pe == pe; });
  if (known != targets_.end()) return (*known)->endpoint != nullptr ? known->get() : nullptr;
  if (transport_.connected_peer(pe) == nullptr) return nullptr;
  auto fresh = std::make_unique<LaneTarget>(pe, *this);
  const Bytes address = transport_.addresses_->address_of(pe);
  if (transport_.make_endpoint(worker_, address, {&UcxLane::endpoint_failed, fresh.get()}, fresh->endpoint) != UCS_OK)
    return nullptr;
  endpoints_.push_back(fresh->endpoint);
  targets_.push_back(std::move(fresh));
  return targets_.back().get();
}

transport::RemoteKey* UcxLane::import_key(const transport::RemoteKey& any_key) noexcept {
  const auto& key = static_cast<const PackedKey&>(of(any_key));
  Target* const target = connected(key.target->pe);
  if (target == nullptr) return nullptr;
  auto fresh = std::make_unique<RemoteKey>();
  fresh->target = target;
  if (fresh->unpack(std::as_bytes(std::span(key.packed))) != UCS_OK) return nullptr;
  keys_.push_back(std::move(fresh));
  return keys_.back().get();
}

void UcxLane::report_lost() noexcept {
  for (Loss& loss : std::exchange(lost_, {})) transport_.lose(*transport_.peers_.find(loss.pe), std::move(loss.cause));
}

void UcxLane::progress() noexcept {
  if (has_unflushed()) flush_puts();
  ::ucp_worker_progress(worker_);
}

void UcxLane::failed(Target& target, const std::string& cause) noexcept {
  if (target.endpoint == nullptr) return;
  target.endpoint = nullptr;
  lost_.push_back({target.pe, cause});
}

void UcxLane::endpoint_failed(void* argument, ucp_ep_h, ucs_status_t status) {
  LaneTarget& target = *static_cast<LaneTarget*>(argument);
  target.lane.failed(target, "UCX says: " + status_text(status));
}

}  // namespace shmemx::ucx
