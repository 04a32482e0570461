// The end.
#include <sched.h>

#include <algorithm>

#include "base/clock.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::transport::ucx {
namespace {

constexpr std::uint64_t kNsInMs = 1'000'000;
// Others say good-bye at about the same time. Whoever ends with something unread makes the kernel break the connection,
// and what lies on its way to the other is lost.
constexpr std::uint64_t kPatienceForOthersNs = 200 * kNsInMs;

}  // namespace

template <class Done>
void UcxTransport::progress_until(std::uint64_t deadline_ns, Done done) noexcept {
  while (!done() && now_ns() < deadline_ns) {
    if (::ucp_worker_progress(library_.worker()) == 0) ::sched_yield();
  }
}

void UcxTransport::close(std::uint32_t patience_ms) noexcept {
  if (is_closing_) return;
  const std::uint64_t begin = now_ns();
  const std::uint64_t deadline = begin + patience_ms * kNsInMs;
  progress_until(deadline, [this] {
    flush();
    return open_.empty();
  });
  is_closing_ = true;
  for (Peer* peer : contacts_) {
    if (!peer->is_lost && (peer->endpoint != nullptr || connect(*peer))) signal(*peer, kGoodbye);
  }
  const auto all = [this](auto holds) { return std::all_of(contacts_.begin(), contacts_.end(), holds); };
  progress_until(deadline, [&] { return all([](const Peer* peer) { return peer->is_lost || peer->in_flight == 0; }); });
  progress_until(std::min(deadline, begin + kPatienceForOthersNs),
                 [&] { return all([](const Peer* peer) { return peer->is_gone(); }); });
  if (getenv("DBG"))
    for (Peer* p : contacts_)
      fprintf(stderr, "[%d] %.1f ms peer %d in flight %u left %d ep %p\n", setup_.me, (now_ns() - begin) / 1e6, p->pe,
              p->in_flight, p->has_left, (void*)p->endpoint);
  close_endpoints(deadline);
  if (getenv("DBG")) fprintf(stderr, "[%d] closed %.1f ms\n", setup_.me, (now_ns() - begin) / 1e6);
}

void UcxTransport::close_endpoints(std::uint64_t deadline_ns) noexcept {
  std::vector<void*> requests;
  for (Peer* peer : contacts_) {
    if (peer->endpoint == nullptr) continue;
    for (const RemoteKey& key : peer->keys) ::ucp_rkey_destroy(key.rkey);
    peer->keys.clear();
    if (peer->is_lost) continue;
    ucp_request_param_t param{};
    const ucs_status_ptr_t request = ::ucp_ep_close_nbx(peer->endpoint, &param);
    peer->endpoint = nullptr;
    if (UCS_PTR_IS_PTR(request)) requests.push_back(request);
  }
  progress_until(deadline_ns, [&requests] {
    std::erase_if(requests, [](void* request) {
      if (::ucp_request_check_status(request) == UCS_INPROGRESS) return false;
      ::ucp_request_free(request);
      return true;
    });
    return requests.empty();
  });
  for (void* request : requests) ::ucp_request_free(request);  // it ends with the worker
}

}  // namespace shmemx::transport::ucx
