#include "pt2pt/lmt/transfers.hpp"

#include "pt2pt/lmt/lmt.hpp"

namespace shmemx::pt2pt {

void Transfers::start(Platform& platform, const Settings& settings, SendQueue& send_queue) noexcept {
  platform_ = &platform;
  settings_ = &settings;
  send_queue_ = &send_queue;
  cma_peers_.open(static_cast<std::size_t>(settings.n_pes));
}

void Transfers::clear() noexcept {
  movers_ = nullptr;
  // A wrong program may end with a message under way, whose sender then must not write any more.
  if (buffer_user_ != nullptr) buffer_user_->transfer.buffer->shared.claims.store({0, 0, 0}, std::memory_order_relaxed);
  buffer_user_ = nullptr;
  cma_peers_.open(cma_peers_.size());
}

void Transfers::start_moving(Request& request) noexcept {
  request.phase = Phase::moving;
  request.link = movers_;
  movers_ = &request;
  lmt_of(request.transfer.kind).move(*this, request);
}

void Transfers::stop_moving(Request& request) noexcept {
  Request** slot = &movers_;
  while (*slot != &request) slot = &(*slot)->link;
  *slot = request.link;
  request.phase = Phase::idle;
}

void Transfers::finish_moving(Request& request) noexcept {
  stop_moving(request);
  end_timing(request);
  if (buffer_user_ == &request) buffer_user_ = nullptr;
  if (request.transfer.described_by_peer) return send_queue_->enqueue(request, Next::done);
  complete(request);
}

void Transfers::end_timing(const Request& request) noexcept {
  if (request.role != Role::receive) return;
  const std::uint64_t begun = static_cast<const ReceiveRequest&>(request).chosen_ns;
  if (begun != 0) measured_.note(request.goal, request.transfer.kind, now_ns() - begun);
}

void Transfers::end_part(Request& request) noexcept {
  if (request.cursor.passed() == request.goal) return finish_moving(request);
  if (request.transfer.there.left() != 0) return;
  stop_moving(request);
  send_queue_->enqueue(request, Next::request_section);
}

void Transfers::leave_to_peer(Request& request) noexcept {
  stop_moving(request);
  request.phase = Phase::waiting;
}

bool Transfers::reject(Request& request, const char* what) noexcept {
  leave_to_peer(request);
  platform_->reject(request.peer, what);
  return false;
}

pid_t Transfers::cma_pid(int pe, const rma::CmaProbe& probe) noexcept {
  const auto read = [this](pid_t pid, Cursor& local, Cursor& remote, std::size_t most) {
    return platform_->read_memory(pid, local, remote, most);
  };
  return cma_peers_[pe].pid(probe, read);
}

bool Transfers::progress() noexcept {
  bool any = false;
  for (Request* mover = movers_; mover != nullptr;) {
    Request* const next = mover->link;
    any |= lmt_of(mover->transfer.kind).move(*this, *mover);
    mover = next;
  }
  return any;
}

}  // namespace shmemx::pt2pt
