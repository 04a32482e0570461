#include "transport/ofi/ofi.hpp"

#include <poll.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/clock.hpp"

namespace shmemx::ofi {
namespace {

constexpr std::size_t kBatch = 16;
constexpr int kBatchesPerPoll = 4;
constexpr int kCloseSleepMs = 1;
constexpr std::uint32_t kPollsPerLook = 16;  // polls to one look at the clock
constexpr auto kMoment = std::chrono::milliseconds(200);

}  // namespace

Ofi::Ofi(Choice choice, const Setup& setup)
    : setup_(setup),
      fabric_(std::move(choice.fabric)),
      passed_over_(std::move(choice.passed_over)),
      memory_(fabric_, setup_.secret, setup_.me),
      peers_(fabric_, setup_),
      outbound_(fabric_, memory_, peers_, setup_),
      rma_(*this, fabric_, memory_, peers_),
      inbound_(fabric_, memory_, peers_, outbound_, rma_.transfers()),
      keepalive_(transport::silence_before_reserve(setup_), now_ns()) {}

// Closes the endpoint first, since the memory of operations under way must outlive it. If memory is registered with the
// endpoint, the registrations have to end before it.
Ofi::~Ofi() {
  if (!fabric_.wants(FI_MR_ENDPOINT)) fabric_.ep.reset();
}

Status Ofi::open() {
  if (peers_.own_address().size() > kMaxAddressBytes)
    return Error{Errc::unsupported, 0, "the endpoint's name is too long"};
  if (fabric_.wait_fd >= 0) {
    SHMEMX_TRY_ASSIGN(timer, transport::KeepaliveTimer::open(fabric_.wait_fd));
    timer_.emplace(std::move(timer));
  }
  SHMEMX_TRY(outbound_.open());
  SHMEMX_TRY(rma_.open());
  return inbound_.open(setup_);
}

transport::Capabilities Ofi::capabilities() const noexcept {
  const Fabric::Rma rma = fabric_.rma();
  return {.rma = rma != Fabric::Rma::software,
          .probes_rma = rma == Fabric::Rma::unproven,
          .waits = fabric_.wait_fd >= 0,
          .short_bytes = kLongBytes - 1,
          .declinable_bytes = setup_.has_reserve ? 0 : kMaxPayloadBytes};
}

// A socket may bring what a PE has written after that PE was given up, and libfabric closes no single connection. So
// over sockets there is no RMA with a reserve: messages arrive in memory of this transport.
transport::Rma* Ofi::rma() noexcept { return fabric_.is_stream() && setup_.has_reserve ? nullptr : &rma_; }

Sent Ofi::send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing, Urgency urgency) noexcept {
  if (fabric_.ep == nullptr) return Sent::no;  // closed
  return outbound_.send(peers_.contact(pe), Message{fixed, header, payload, outgoing, urgency});
}

// Returns true while a long payload is likely to move. The provider moves bytes only inside calls and does not report
// them, so a waiting thread must keep polling for about as long as a payload takes.
bool Ofi::assume_movement(bool moved) noexcept {
  constexpr std::uint32_t kMostPolls = 2000;  // without a completion, some milliseconds
  if (moved || (rma_.is_empty() && !outbound_.is_read_from())) {
    polls_without_completion_ = 0;
    return false;
  }
  return ++polls_without_completion_ < kMostPolls;
}

bool Ofi::poll(int) noexcept {
  if (fabric_.ep == nullptr) return false;  // closed
  bool moved = read_completions();
  moved = rma_.transfers().retry() || moved;
  moved = outbound_.retry() || moved;
  inbound_.retry();
  if (!is_closing_ && (++polls_ % kPollsPerLook == 0 || is_armed_)) keep_alive();
  moved = report() || moved;
  return assume_movement(moved) || moved;
}

bool Ofi::read_completions() {
  std::array<fi_cq_data_entry, kBatch> entries;
  const bool has_more = !fabric_.set_aside.empty();
  if (has_more) [[unlikely]] {
    for (const fi_cq_data_entry& entry : std::exchange(fabric_.set_aside, {})) on_completion(entry);
  }
  for (int batch = 0; batch < kBatchesPerPoll; ++batch) {
    const ssize_t count = fi_cq_read(fabric_.cq.get(), entries.data(), kBatch);
    if (count == -FI_EAVAIL) {
      on_failure();
      continue;
    }
    if (count <= 0) return batch > 0 || has_more;
    const auto read = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < read; ++i) on_completion(entries[i]);
    if (read < kBatch) return true;
  }
  return true;
}

void Ofi::on_completion(const fi_cq_data_entry& entry) {
  auto* operation = static_cast<Operation*>(entry.op_context);
  if (operation == nullptr) return;
  if (operation->kind == Operation::Kind::rma) [[likely]]
    return rma_.on_done(static_cast<RmaRequest&>(*operation));
  switch (operation->kind) {
    case Operation::Kind::receive:
      return inbound_.on_received(static_cast<Buffer&>(*operation), entry);
    case Operation::Kind::packet:
      return outbound_.on_sent(static_cast<Packet&>(*operation));
    case Operation::Kind::chunk:
      return on_chunk(static_cast<Chunk&>(*operation));
    case Operation::Kind::rma:
    case Operation::Kind::test:
      return;
  }
}

void Ofi::on_chunk(Chunk& chunk) {
  Transfer& transfer = rma_.transfers().on_done(chunk);
  if (transfer.message != nullptr) return inbound_.on_chunk(transfer);
  rma_.transfers().end_if_over(transfer);
}

void Ofi::on_failure() {
  fi_cq_err_entry problem{};
  if (fi_cq_readerr(fabric_.cq.get(), &problem, 0) < 0) return;
  auto* operation = static_cast<Operation*>(problem.op_context);
  if (operation == nullptr) return ping_all();
  const std::string cause = fabric_.error_text(problem.err);
  switch (operation->kind) {
    case Operation::Kind::receive:
      return inbound_.on_failed(static_cast<Buffer&>(*operation), problem.flags);
    case Operation::Kind::packet: {
      auto& packet = static_cast<Packet&>(*operation);
      peers_.fail(*packet.peer, cause);
      return outbound_.on_sent(packet);
    }
    case Operation::Kind::chunk: {
      auto& chunk = static_cast<Chunk&>(*operation);
      peers_.fail(*chunk.transfer->peer, cause);
      return rma_.transfers().on_failed(chunk);
    }
    case Operation::Kind::rma: {
      auto& request = static_cast<RmaRequest&>(*operation);
      peers_.fail(*request.peer, cause);
      return rma_.on_failed(request);
    }
    case Operation::Kind::test:
      return;
  }
}

// Ends a round of the keepalive, if it is over, for all peers.
void Ofi::keep_alive() {
  using transport::Keepalive;
  is_armed_ = false;
  if (!keepalive_.is_round_over(now_ns())) return;
  inbound_.free_lost(now_ns());
  if (timer_) timer_->clear();
  for (Peer* peer : peers_.contacts()) {
    if (peer->is_lost || peer->end.has_left) continue;
    const Keepalive::Action action = Keepalive::end_round(peer->keepalive);
    if (action == Keepalive::Action::lose)
      peers_.fail(*peer, transport::silence_text(transport::silence_before_reserve(setup_)));
    if (action == Keepalive::Action::ping) outbound_.send_control(*peer, kPing, 0);
  }
}

// Asks all peers for a sign of life: an operation has failed, and the provider does not say whose it was.
void Ofi::ping_all() {
  for (Peer* peer : peers_.contacts()) {
    if (!peer->is_lost && !peer->end.has_left) outbound_.send_control(*peer, kPing, 0);
  }
}

bool Ofi::report() {
  if (const Refusal refusal = memory_.take_refusal(); refusal.bytes != 0 && !is_closing_)
    setup_.sink->copies(name(), refusal.bytes, refusal.cause);
  for (Peer* peer : peers_.take_newly_lost()) outbound_.drop(*peer);
  return peers_.report(is_closing_);
}

// Tries again what the provider had refused: may_sleep() may have made room, and no event would tell.
bool Ofi::arm() noexcept {
  if (!fabric_.may_sleep()) return false;
  inbound_.retry();
  const bool moved = rma_.transfers().retry();
  if (outbound_.retry() || moved || peers_.has_news()) return false;
  if (timer_ && !is_closing_ && watches_peers()) {
    timer_->set(keepalive_.round_end_ns());
    is_armed_ = true;
  }
  return true;
}

bool Ofi::watches_peers() const noexcept {
  const std::vector<Peer*>& peers = peers_.contacts();
  return std::any_of(peers.begin(), peers.end(),
                     [](const Peer* peer) { return !peer->is_lost && !peer->end.has_left; });
}

// Returns true if nothing to the peer can be lost any more. That is certain once the peer has seen the shutdown record.
// A peer that has left does not reply, and others may be busy: after kMoment it is enough that the provider has sent
// everything.
bool Ofi::has_parted(const Peer& peer, bool is_hasty) noexcept {
  if (peer.is_lost || peer.end.has_seen_shutdown || (peer.end.has_left && !peer.session.out.is_open())) return true;
  return (peer.end.has_left || is_hasty) && Outbound::is_idle(peer);
}

void Ofi::close(std::uint32_t patience_ms) noexcept {
  using Clock = std::chrono::steady_clock;
  is_closing_ = true;
  inbound_.start_closing();
  flush();
  for (Peer* peer : peers_.contacts()) outbound_.send_shutdown(*peer);
  const auto start = Clock::now();
  const auto all_parted = [&] {
    const bool is_hasty = Clock::now() - start > kMoment;
    const std::vector<Peer*>& peers = peers_.contacts();
    return std::all_of(peers.begin(), peers.end(), [&](const Peer* peer) { return has_parted(*peer, is_hasty); });
  };
  while (!all_parted() && Clock::now() - start < std::chrono::milliseconds(patience_ms)) {
    if (poll(-1) || !arm()) continue;
    pollfd descriptor{fabric_.wait_fd, POLLIN, 0};
    ::poll(&descriptor, 1, kCloseSleepMs);
  }
  if (fabric_.provider() == "shm") unlink_segments(fabric_);
}

// libfabric closes no single connection. So with a reserve nothing of it reads or writes memory of others: payloads are
// sent from copies, and arrive in memory of this transport. Those that are announced are no longer registered then.
// Hardware says for each put and get how it has ended, and does nothing more for it.
bool Ofi::abandon(int pe) noexcept {
  Peer& peer = peers_.contact(pe);
  if (!std::exchange(peer.end.is_abandoned, true)) {
    peer.is_lost = true;
    peer.in.queue.stop();
    outbound_.drop(peer);
    peer.end.abandoned_ns = now_ns();
  }
  if (!rma_.end_all(peer)) return true;
  if (now_ns() - peer.end.abandoned_ns > std::uint64_t{setup_.timeout_ms} * 1'000'000U) rma_.give_up(peer);
  return false;
}

std::string Ofi::describe(int pe) const {
  std::string text = fabric_.provider() + " " + fabric_.interface() + " " + fabric_.address_text(fabric_.name());
  const Peer* peer = pe >= 0 && pe < setup_.n_pes ? peers_.find(pe) : nullptr;
  if (peer != nullptr && !peer->name.empty()) text += " -> " + fabric_.address_text(peer->name);
  text += ", payloads above " + std::to_string(kEagerBytes >> 10) + " KiB by rendezvous";
  text += fabric_.wait_fd >= 0 ? ", progress when polled or when the descriptor wakes"
                               : ", progress when polled: the provider wakes nobody";
  if (!passed_over_.empty()) text += "; passed over: " + passed_over_;
  return text;
}

}  // namespace shmemx::ofi
