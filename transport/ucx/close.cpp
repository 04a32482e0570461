// The orderly end.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {
namespace {

constexpr std::uint64_t kNsInMs = 1'000'000;
// How long close() waits until the peers have read everything. A process that ends with unread data makes the kernel
// break the connection, and data under way to the peer are lost. A peer that has shut down itself need not read.
constexpr std::uint64_t kPatienceForPeersNs = 200 * kNsInMs;

struct Flushed {
  Peer* peer;
  void* request;  // null: the flush is over

  bool is_over() {
    if (request != nullptr && ::ucp_request_check_status(request) != UCS_INPROGRESS) {
      ::ucp_request_free(std::exchange(request, nullptr));
    }
    return request == nullptr || peer->is_gone();
  }
};

}  // namespace

template <class Done>
void UcxTransport::progress_until(std::uint64_t deadline_ns, Done done) noexcept {
  while (!done() && now_ns() < deadline_ns) {
    if (::ucp_worker_progress(library_.worker()) == 0) ::sched_yield();
    if (!lists_.challenged.empty()) send_challenges();
  }
}

void UcxTransport::close(std::uint32_t patience_ms) noexcept {
  if (is_closing_) return;
  const std::uint64_t deadline = now_ns() + patience_ms * kNsInMs;
  progress_until(deadline, [this] {
    flush();
    return lists_.open.empty();
  });
  open_sessions(std::min(deadline, now_ns() + kPatienceForPeersNs));
  is_closing_ = true;
  for (Peer* peer : peers_.list()) {
    if (!peer->end.is_lost && peer->endpoint != nullptr) signal(*peer, kShutdown);
  }
  progress_until(deadline, [this] {
    return std::all_of(peers_.list().begin(), peers_.list().end(),
                       [](const Peer* peer) { return peer->end.is_lost || peer->sending.in_flight == 0; });
  });
  wait_for_peers(std::min(deadline, now_ns() + kPatienceForPeersNs));
}

// Shutdown messages need a session to each PE that may wait for this one.
void UcxTransport::open_sessions(std::uint64_t deadline_ns) noexcept {
  for (Peer* peer : peers_.list()) {
    if (!peer->is_gone() && peer->endpoint == nullptr) connect(*peer);
  }
  progress_until(deadline_ns, [this] {
    return std::all_of(peers_.list().begin(), peers_.list().end(),
                       [](const Peer* peer) { return peer->is_gone() || peer->session.out.is_open(); });
  });
}

void UcxTransport::wait_for_peers(std::uint64_t deadline_ns) noexcept {
  std::vector<Flushed> flushed;
  for (Peer* peer : peers_.list()) {
    if (peer->end.is_lost || peer->endpoint == nullptr) continue;
    const ucp_request_param_t param{};
    const ucs_status_ptr_t request = ::ucp_ep_flush_nbx(peer->endpoint, &param);
    if (UCS_PTR_IS_PTR(request)) flushed.push_back({peer, request});
  }
  progress_until(deadline_ns, [&flushed] {
    bool all = true;
    for (Flushed& one : flushed) all = one.is_over() && all;
    return all;
  });
  for (const Flushed& one : flushed) {
    if (one.request != nullptr) ::ucp_request_free(one.request);  // the request ends with the worker
  }
}

}  // namespace shmemx::ucx
