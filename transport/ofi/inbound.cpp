#include "transport/ofi/inbound.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "transport/ofi/token.hpp"
#include "transport/ofi/wire.hpp"

namespace shmemx::ofi {
namespace {

// A few large buffers that take many packets each; where the provider fills one with each packet, more and smaller.
constexpr std::size_t kLargeBuffers = 4;
constexpr std::size_t kLargeBufferBytes = std::size_t{512} << 10;
constexpr std::size_t kSmallBuffers = 64;
constexpr std::int32_t kMostAhead = 4096;  // packets that may come before one that is missing

bool is_aligned(const std::byte* at) noexcept { return reinterpret_cast<std::uintptr_t>(at) % kAlign == 0; }

}  // namespace

Inbound::Inbound(Fabric& fabric, Memory& memory, Peers& peers, Outbound& outbound, Transfers& transfers)
    : fabric_(fabric), memory_(memory), peers_(peers), outbound_(outbound), transfers_(transfers) {}

Status Inbound::open(const Setup& setup) {
  setup_ = &setup;
  const bool many = fabric_.has_multi_recv();
  std::size_t least = kMaxPacketBytes;
  if (many) {
    SHMEMX_OFI_TRY(fabric_, fi_setopt, &fabric_.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least);
  }
  for (std::size_t i = 0; i < (many ? kLargeBuffers : kSmallBuffers); ++i) {
    buffers_.push_back(std::make_unique<Buffer>());
    Buffer& buffer = *buffers_.back();
    buffer.bytes = many ? kLargeBufferBytes : kMaxPacketBytes;
    buffer.memory.reset(new std::byte[buffer.bytes]);
    SHMEMX_TRY_ASSIGN(place, memory_.open_to_me(Bytes(buffer.memory.get(), buffer.bytes)));
    buffer.place = std::move(place);
    post(buffer);
  }
  return {};
}

void Inbound::post(Buffer& buffer) {
  const iovec memory{buffer.memory.get(), buffer.bytes};
  const fi_msg message{&memory, &buffer.place.descriptor, 1, FI_ADDR_UNSPEC, &buffer.context, 0};
  const std::uint64_t flags = FI_COMPLETION | (fabric_.has_multi_recv() ? FI_MULTI_RECV : 0);
  if (fi_recvmsg(fabric_.ep.get(), &message, flags) != 0) unposted_.push_back(&buffer);
}

void Inbound::retry() {
  if (unposted_.empty()) return;
  std::vector<Buffer*> again;
  again.swap(unposted_);
  for (Buffer* buffer : again) post(*buffer);
}

void Inbound::on_received(Buffer& buffer, const fi_cq_data_entry& entry) {
  const bool many = fabric_.has_multi_recv();
  const auto* data = many ? static_cast<const std::byte*>(entry.buf) : buffer.memory.get();
  if (entry.len != 0 && data != nullptr) accept(Bytes(data, entry.len));
  if (!many || (entry.flags & FI_MULTI_RECV) != 0) post(buffer);
}

void Inbound::on_failed(Buffer& buffer, std::uint64_t flags) {
  if (!fabric_.has_multi_recv() || (flags & FI_MULTI_RECV) != 0) post(buffer);
}

// Whoever does not know the job's secret is not heard: nothing is kept of it, nobody is told.
void Inbound::accept(Bytes packet) {
  PacketHeader packet_header;
  if (packet.size() < sizeof packet_header || packet.size() % kAlign != 0) return;
  std::memcpy(&packet_header, packet.data(), sizeof packet_header);
  const std::uint32_t source = packet_header.source & ~kControl;
  if (source >= static_cast<std::uint32_t>(setup_->n_pes)) return;
  const int pe = static_cast<int>(source);
  Peer* known = peers_.find(pe);
  if (packet_header.token != (known != nullptr ? known->token_in : pair_token(setup_->secret, pe, setup_->me))) return;
  Peer& peer = known != nullptr ? *known : peers_.reach(pe);
  if (peer.is_lost) return;
  peer.is_heard = true;
  if ((packet_header.source & kControl) != 0) return accept_control(peer, packet);
  const bool is_next = packet_header.sequence == peer.sequence_in && peer.held.empty() && is_aligned(packet.data());
  std::size_t offset = sizeof packet_header;
  if (is_next && consume(peer, packet, offset) == Outcome::consumed) {
    ++peer.sequence_in;
    return;
  }
  hold(peer, packet, packet_header.sequence, offset);
  if (!is_next) drain(peer);
}

void Inbound::accept_control(Peer& peer, Bytes packet) {
  constexpr std::size_t kStep = sizeof(Record) + sizeof(ControlWord);
  for (std::size_t at = sizeof(PacketHeader); at < packet.size() && !peer.is_lost; at += kStep) {
    Record record;
    ControlWord word;
    if (packet.size() - at < kStep) return refuse(peer, "a control record that is cut off");
    std::memcpy(&record, packet.data() + at, sizeof record);
    std::memcpy(&word, packet.data() + at + sizeof record, sizeof word);
    if (record.bytes != sizeof word) return refuse(peer, "a control record of a wrong length");
    obey(peer, record.kind, word.value);
  }
}

void Inbound::obey(Peer& peer, std::uint32_t kind, std::uint64_t value) {
  switch (kind) {
    case Record::finished:
      if (!outbound_.on_finished(peer, value)) refuse(peer, "the completion of a payload that was not sent");
      return;
    case Record::ping:
      return outbound_.send_control(peer, Record::pong, value);
    case Record::pong:
      return;  // that it came is all it says
    case Record::farewell_seen:
      peer.has_seen_ours = true;
      return;
    default:
      return refuse(peer, "an unknown control record");
  }
}

void Inbound::refuse(Peer& peer, const char* what) { peers_.fail(peer, std::string("broken frame: ") + what); }

void Inbound::hold(Peer& peer, Bytes packet, std::uint32_t sequence, std::size_t offset) {
  const auto ahead = [&](std::uint32_t number) { return static_cast<std::int32_t>(number - peer.sequence_in); };
  if (ahead(sequence) < 0 || ahead(sequence) > kMostAhead) return refuse(peer, "a packet out of turn");
  auto at = peer.held.end();
  while (at != peer.held.begin() && ahead(std::prev(at)->sequence) > ahead(sequence)) --at;
  if (at != peer.held.begin() && std::prev(at)->sequence == sequence) return refuse(peer, "a packet that came twice");
  std::unique_ptr<std::byte[]> bytes(new (std::nothrow) std::byte[packet.size()]);
  if (bytes == nullptr) return peers_.fail(peer, "no memory to hold back its messages");
  std::memcpy(bytes.get(), packet.data(), packet.size());
  peer.held.insert(at, Held{sequence, packet.size(), offset, std::move(bytes)});
}

void Inbound::drain(Peer& peer) {
  while (!peer.is_lost && !peer.held.empty() && peer.held.front().sequence == peer.sequence_in) {
    Held& next = peer.held.front();
    if (consume(peer, Bytes(next.bytes.get(), next.size), next.offset) == Outcome::held) return;
    peer.held.pop_front();
    ++peer.sequence_in;
  }
}

// From `offset` on, which stays at the first record that has to wait.
Inbound::Outcome Inbound::consume(Peer& peer, Bytes packet, std::size_t& offset) {
  while (offset < packet.size() && !peer.is_lost) {
    Record record;
    if (packet.size() - offset < sizeof record) {
      refuse(peer, "a record that is cut off");
      break;
    }
    std::memcpy(&record, packet.data() + offset, sizeof record);
    const Bytes rest = packet.subspan(offset + sizeof record);
    if (record.bytes > rest.size()) {
      refuse(peer, "a record that is longer than its packet");
      break;
    }
    if (peer.placement != nullptr) return Outcome::held;
    const Bytes content = rest.first(record.bytes);
    if (record.kind == Record::announce) {
      land(peer, record, content);
    } else {
      deliver(peer, record, content);
    }
    offset += sizeof record + align_up(record.bytes);
  }
  return Outcome::consumed;
}

void Inbound::deliver(Peer& peer, const Record& record, Bytes content) {
  if (record.kind == Record::farewell) {
    peer.has_left = true;
    outbound_.drop(peer);
    outbound_.send_control(peer, Record::farewell_seen, 0);
    return;
  }
  if (record.kind != Record::message || record.fixed.header_bytes > std::min(content.size(), kMaxHeaderBytes)) {
    refuse(peer, "an unknown record or a header that is too long");
    return;
  }
  if (is_closing_) return;
  Sink& sink = *setup_->sink;
  const Bytes header = content.first(record.fixed.header_bytes);
  const Bytes payload = content.subspan(record.fixed.header_bytes);
  std::byte* place = nullptr;
  if (payload.size() >= kLongBytes) place = sink.placement(peer.pe, record.fixed, header, payload.size());
  if (place != nullptr) {
    std::memcpy(place, payload.data(), payload.size());
    sink.placed(peer.pe, record.fixed, header, payload.size());
  } else {
    sink.deliver(peer.pe, record.fixed, content);
  }
}

void Inbound::land(Peer& peer, const Record& record, Bytes content) {
  auto placement = std::make_unique<Placement>();
  const std::size_t header_bytes = record.fixed.header_bytes;
  if (header_bytes > kMaxHeaderBytes || content.size() != sizeof(Announcement) + header_bytes) {
    refuse(peer, "an announcement of a wrong length");
    return;
  }
  std::memcpy(&placement->what, content.data(), sizeof(Announcement));
  std::memcpy(placement->header, content.data() + sizeof(Announcement), header_bytes);
  placement->fixed = record.fixed;
  const std::uint64_t payload_bytes = placement->what.payload_bytes;
  if (payload_bytes < kLongBytes || payload_bytes > kMaxPayloadBytes) {
    refuse(peer, "a payload of a length that is not allowed");
    return;
  }
  if (is_closing_) {
    outbound_.send_control(peer, Record::finished, placement->what.id);
    return;
  }
  std::byte* place =
      setup_->sink->placement(peer.pe, placement->fixed, Bytes(placement->header, header_bytes), payload_bytes);
  if (place == nullptr) {
    placement->own_memory.reset(new (std::nothrow) std::byte[header_bytes + payload_bytes]);
    if (placement->own_memory == nullptr) {
      peers_.fail(peer, "no memory for a message of " + std::to_string(payload_bytes) + " bytes");
      return;
    }
    std::memcpy(placement->own_memory.get(), placement->header, header_bytes);
    place = placement->own_memory.get() + header_bytes;
  }
  Transfer* transfer = transfers_.take();
  placement->transfer = transfer;
  transfer->peer = &peer;
  transfer->is_write = false;
  transfer->local = place;
  transfer->remote = placement->what.address;
  transfer->key = placement->what.key;
  transfer->total = payload_bytes;
  transfer->placement = placement.get();
  peer.placement = std::move(placement);
  transfers_.start(*transfer);
}

void Inbound::on_placed(Transfer& transfer) {
  Peer& peer = *transfer.peer;
  if (!transfer.is_complete() || peer.is_lost) return;
  const std::unique_ptr<Placement> placement = std::move(peer.placement);
  finish(peer, *placement);
  drain(peer);
}

void Inbound::finish(Peer& peer, const Placement& placement) {
  transfers_.release(placement.transfer);
  if (!is_closing_) {
    Sink& sink = *setup_->sink;
    const std::size_t header_bytes = placement.fixed.header_bytes;
    const std::size_t payload_bytes = placement.what.payload_bytes;
    if (placement.own_memory != nullptr) {
      sink.deliver(peer.pe, placement.fixed, Bytes(placement.own_memory.get(), header_bytes + payload_bytes));
    } else {
      sink.placed(peer.pe, placement.fixed, Bytes(placement.header, header_bytes), payload_bytes);
    }
  }
  outbound_.send_control(peer, Record::finished, placement.what.id);
}

}  // namespace shmemx::ofi
