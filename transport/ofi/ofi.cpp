#include "transport/ofi/ofi.hpp"

#include <poll.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace shmemx::ofi {
namespace {

constexpr std::size_t kBatch = 16;
constexpr int kBatchesPerPoll = 4;
constexpr int kCloseSleepMs = 1;
constexpr auto kMoment = std::chrono::milliseconds(200);

}  // namespace

Ofi::Ofi(Choice choice, const Setup& setup)
    : setup_(setup),
      fabric_(std::move(choice.fabric)),
      passed_over_(std::move(choice.passed_over)),
      memory_(fabric_, setup_.secret, setup_.me),
      peers_(fabric_, setup_),
      outbound_(fabric_, memory_, peers_, setup_.me),
      transfers_(fabric_, memory_, peers_),
      inbound_(fabric_, memory_, peers_, outbound_, transfers_),
      vigil_(peers_, outbound_, setup_.silence_ms) {}

// The endpoint first: what operations under way use must outlive it. Where memory is registered with the endpoint, that
// has to be taken back before.
Ofi::~Ofi() {
  if (!fabric_.wants(FI_MR_ENDPOINT)) fabric_.ep.reset();
}

Status Ofi::open() {
  if (peers_.own_address().size() > kMaxAddressBytes)
    return Error{Errc::unsupported, 0, "the endpoint's name is too long"};
  return inbound_.open(setup_);
}

transport::Capabilities Ofi::capabilities() const noexcept {
  return transport::Capabilities{
      .rma = !fabric_.is_stream(), .keys = true, .waits = true, .short_bytes = kLongBytes - 1};
}

Sent Ofi::send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing, Urgency urgency) noexcept {
  return outbound_.send(peers_.reach(pe), Message{fixed, header, payload, outgoing, urgency});
}

// The provider does not say when bytes of a payload have moved, and moves them when it is looked at: whoever waits must
// not go to sleep meanwhile. For so long at least as a payload takes.
bool Ofi::believes_in_movement(bool moved) noexcept {
  constexpr std::uint32_t kBelieved = 2000;  // polls without a completion, some milliseconds
  if (moved || (transfers_.is_empty() && !outbound_.is_read_from())) {
    unseen_polls_ = 0;
    return false;
  }
  return ++unseen_polls_ < kBelieved;
}

bool Ofi::poll(int) noexcept {
  bool moved = read_completions();
  moved = transfers_.retry() || moved;
  moved = outbound_.retry() || moved;
  inbound_.retry();
  if (!is_closing_) vigil_.look();
  moved = report() || moved;
  return believes_in_movement(moved) || moved;
}

bool Ofi::read_completions() {
  std::array<fi_cq_data_entry, kBatch> entries;
  for (int batch = 0; batch < kBatchesPerPoll; ++batch) {
    const ssize_t count = fi_cq_read(fabric_.cq.get(), entries.data(), kBatch);
    if (count == -FI_EAVAIL) {
      on_failure();
      continue;
    }
    if (count <= 0) return batch > 0;
    const auto read = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < read; ++i) on_completion(entries[i]);
    if (read < kBatch) return true;
  }
  return true;
}

void Ofi::on_completion(const fi_cq_data_entry& entry) {
  auto* operation = static_cast<Operation*>(entry.op_context);
  if (operation == nullptr) return;
  switch (operation->kind) {
    case Operation::Kind::receive:
      return inbound_.on_received(static_cast<Buffer&>(*operation), entry);
    case Operation::Kind::packet:
      return outbound_.on_sent(static_cast<Packet&>(*operation));
    case Operation::Kind::chunk:
      return on_chunk(static_cast<Chunk&>(*operation));
    case Operation::Kind::test:
      return;
  }
}

void Ofi::on_chunk(Chunk& chunk) {
  Transfer& transfer = transfers_.on_done(chunk);
  if (transfer.placement != nullptr) return inbound_.on_placed(transfer);
  if (!transfer.is_complete()) return;
  --transfer.completion->open;
  transfers_.release(&transfer);
}

void Ofi::on_failure() {
  fi_cq_err_entry problem{};
  if (fi_cq_readerr(fabric_.cq.get(), &problem, 0) < 0) return;
  auto* operation = static_cast<Operation*>(problem.op_context);
  if (operation == nullptr) return vigil_.ask_all();
  const std::string cause = fabric_.error_text(problem.err);
  switch (operation->kind) {
    case Operation::Kind::receive:
      return inbound_.on_failed(static_cast<Buffer&>(*operation), problem.flags);
    case Operation::Kind::packet: {
      auto& packet = static_cast<Packet&>(*operation);
      peers_.fail(*packet.peer, cause);
      return outbound_.on_sent(packet);
    }
    case Operation::Kind::chunk:
      return peers_.fail(*static_cast<Chunk&>(*operation).transfer->peer, cause);
    case Operation::Kind::test:
      return;
  }
}

bool Ofi::report() {
  for (Peer* peer : peers_.take_newly_lost()) outbound_.drop(*peer);
  return peers_.report(is_closing_);
}

// That look may have made way for what the provider had not taken: nothing would wake anybody for it.
bool Ofi::arm() noexcept {
  if (!fabric_.may_sleep()) return false;
  const bool moved = transfers_.retry();
  return !outbound_.retry() && !moved && !peers_.has_news();
}

// The best is to know that the other has seen the farewell: nothing is in the sockets then that could be lost with
// them. Whoever has left does not answer, others may be busy: after a moment it is enough that the provider has sent
// all.
bool Ofi::has_parted(const Peer& peer, bool is_hasty) noexcept {
  return peer.is_lost || peer.has_seen_ours || ((peer.has_left || is_hasty) && Outbound::is_idle(peer));
}

void Ofi::close(std::uint32_t patience_ms) noexcept {
  using Clock = std::chrono::steady_clock;
  is_closing_ = true;
  inbound_.start_closing();
  flush();
  for (Peer* peer : peers_.reached()) outbound_.send_farewell(*peer);
  const auto start = Clock::now();
  const auto all_parted = [&] {
    const bool is_hasty = Clock::now() - start > kMoment;
    const std::vector<Peer*>& reached = peers_.reached();
    return std::all_of(reached.begin(), reached.end(), [&](const Peer* peer) { return has_parted(*peer, is_hasty); });
  };
  while (!all_parted() && Clock::now() - start < std::chrono::milliseconds(patience_ms)) {
    if (poll(-1) || !arm()) continue;
    pollfd descriptor{fabric_.wait_fd, POLLIN, 0};
    ::poll(&descriptor, 1, kCloseSleepMs);
  }
}

std::string Ofi::describe(int pe) const {
  std::string text = fabric_.provider() + " " + fabric_.interface() + " " + fabric_.address_text(fabric_.name());
  const Peer* peer = pe >= 0 && pe < setup_.n_pes ? peers_.find(pe) : nullptr;
  if (peer != nullptr && !peer->name.empty()) text += " -> " + fabric_.address_text(peer->name);
  text += ", payloads above " + std::to_string(kEagerBytes >> 10) + " KiB by rendezvous";
  text += ", progress when polled or when the descriptor wakes";
  if (!passed_over_.empty()) text += "; passed over: " + passed_over_;
  return text;
}

Result<std::string> Ofi::register_memory(std::byte* base, std::size_t bytes) {
  return memory_.register_range(base, bytes);
}

Transfer* Ofi::prepare(int pe, Bytes key, std::uint64_t offset, std::span<std::byte> local) {
  std::uint64_t address = 0;
  std::uint64_t name = 0;
  Peer& peer = peers_.reach(pe);
  if (peer.is_lost || transfers_.is_full()) return nullptr;
  if (!Memory::parse_key(key, address, name)) {
    peers_.fail(peer, "a memory key of " + std::to_string(key.size()) + " bytes");
    return nullptr;
  }
  Transfer* transfer = transfers_.take();
  transfer->peer = &peer;
  transfer->local = local.data();
  transfer->remote = address + offset;
  transfer->key = name;
  transfer->total = local.size();
  return transfer;
}

bool Ofi::start(Transfer& transfer, Completion& completion) {
  if (!transfers_.try_start(transfer)) {
    transfers_.release(&transfer);
    return false;
  }
  transfer.completion = &completion;
  ++completion.open;
  return true;
}

bool Ofi::put(int pe, Bytes key, std::uint64_t offset, Bytes source, Completion& completion) noexcept {
  Transfer* transfer = prepare(pe, key, offset, {const_cast<std::byte*>(source.data()), source.size()});
  if (transfer == nullptr) return peers_.reach(pe).is_lost;  // dropped, or later
  transfer->is_write = true;
  return start(*transfer, completion);
}

bool Ofi::get(int pe, Bytes key, std::uint64_t offset, std::span<std::byte> dest, Completion& completion) noexcept {
  Transfer* transfer = prepare(pe, key, offset, dest);
  if (transfer == nullptr) return peers_.reach(pe).is_lost;  // dropped, or later
  transfer->is_write = false;
  return start(*transfer, completion);
}

}  // namespace shmemx::ofi
