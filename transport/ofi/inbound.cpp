#include "transport/ofi/inbound.hpp"

#include <rdma/fi_errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bulk_copy.hpp"
#include "base/cache_line.hpp"
#include "base/clock.hpp"
#include "transport/ofi/wire.hpp"

namespace shmemx::ofi {

using transport::AlignedMemory;
using transport::InboundMessage;
using transport::kRecordAlign;
using transport::Turn;

namespace {

// A few large buffers that take many packets each. If the provider uses up a buffer with each packet, more and smaller
// ones.
constexpr std::size_t kLargeBuffers = 4;
constexpr std::size_t kLargeBufferBytes = std::size_t{512} << 10;
constexpr std::size_t kSmallBuffers = 64;
// More than any packet, and no multiple of their alignment: how far a buffer has been filled tells whether it is used
// up.
constexpr std::size_t kLeastRoom = kMaxPacketBytes + 1;

bool is_aligned(const std::byte* at) noexcept { return reinterpret_cast<std::uintptr_t>(at) % kRecordAlign == 0; }

}  // namespace

Inbound::Inbound(Fabric& fabric, Memory& memory, Peers& peers, Outbound& outbound, Transfers& transfers)
    : fabric_(fabric), memory_(memory), peers_(peers), outbound_(outbound), transfers_(transfers) {
  peers_.set_source(*this);
}

Status Inbound::open(const Setup& setup) {
  setup_ = &setup;
  const bool many = fabric_.has_multi_recv();
  if (many) {
    std::size_t least = kLeastRoom;
    SHMEMX_OFI_TRY(fabric_, fi_setopt, &fabric_.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least);
  }
  for (std::size_t i = 0; i < (many ? kLargeBuffers : kSmallBuffers); ++i) {
    SHMEMX_TRY(add_buffer());
    post(*buffers_.back());
  }
  return {};
}

Status Inbound::add_buffer() {
  const bool many = fabric_.has_multi_recv();
  auto buffer = std::make_unique<Buffer>();
  buffer->bytes = many ? kLargeBufferBytes : kMaxPacketBytes;
  buffer->memory.reset(new std::byte[buffer->bytes]);
  SHMEMX_TRY_ASSIGN(place, memory_.open_to_me(Bytes(buffer->memory.get(), buffer->bytes)));
  buffer->place = std::move(place);
  if (many) buffer->pieces.emplace(buffer->bytes, kLeastRoom);
  buffers_.push_back(std::move(buffer));
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
  if (!buffer.pieces) {
    if (entry.len != 0) accept(Bytes(buffer.memory.get(), entry.len));
    return post(buffer);
  }
  if (entry.len != 0 && entry.buf != nullptr) {
    const auto* const data = static_cast<const std::byte*>(entry.buf);
    accept(Bytes(data, entry.len));
    buffer.pieces->add(static_cast<std::size_t>(data - buffer.memory.get()), entry.len);
  }
  reuse(buffer, (entry.flags & FI_MULTI_RECV) != 0);
}

void Inbound::on_failed(Buffer& buffer, std::uint64_t flags) {
  if (!buffer.pieces) return post(buffer);
  buffer.pieces->fail();
  reuse(buffer, (flags & FI_MULTI_RECV) != 0);
}

// A PE that had still been sending to such a buffer would have been silent for all this time, and thus lost. Somebody
// who is none may go on later, so the addresses are not used again.
void Inbound::free_lost(std::uint64_t now_ns) noexcept {
  const std::uint64_t grace_ns = 2'000'000 * std::uint64_t{setup_->silence_ms};
  std::erase_if(lost_, [&](const Lost& lost) {
    if (now_ns - lost.since < grace_ns) return false;
    Buffer& buffer = *lost.buffer;
    buffer.place = Place{};
    const auto begin = round_up(reinterpret_cast<std::uintptr_t>(buffer.memory.get()), kPageBytes);
    const auto end = (reinterpret_cast<std::uintptr_t>(buffer.memory.get()) + buffer.bytes) / kPageBytes * kPageBytes;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    return true;
  });
}

// A buffer that the provider has released while packets are still on their way to it is used again when all of them are
// here. Another one takes its place.
void Inbound::reuse(Buffer& buffer, bool is_released) {
  const bool was_released = buffer.pieces->is_released();
  if (is_released) buffer.pieces->release();
  const auto is_it = [&buffer](const Lost& lost) { return lost.buffer == &buffer; };
  if (buffer.pieces->is_whole()) {
    std::erase_if(lost_, is_it);
    buffer.pieces->reset();
    spare_.push_back(&buffer);
  } else if (buffer.pieces->is_lost() && std::none_of(lost_.begin(), lost_.end(), is_it)) {
    lost_.push_back({&buffer, now_ns()});
  }
  if (is_released && !was_released) ++missing_;
  replace();
}

void Inbound::replace() {
  while (missing_ != 0) {
    if (spare_.empty()) {
      if (!add_buffer()) return;  // one of the others will do
      spare_.push_back(buffers_.back().get());
    }
    Buffer* const next = spare_.back();
    spare_.pop_back();
    --missing_;
    post(*next);
  }
}

// Drops packets that do not prove their source: nothing is kept of their sender, and nothing is reported.
void Inbound::accept(Bytes packet) {
  PacketHeader packet_header;
  if (packet.size() < sizeof packet_header || packet.size() % kRecordAlign != 0) return;
  std::memcpy(&packet_header, packet.data(), sizeof packet_header);
  const std::uint32_t source = packet_header.source & ~(kControl | kHandshake);
  if (source >= static_cast<std::uint32_t>(setup_->n_pes)) return;
  const int pe = static_cast<int>(source);
  if ((packet_header.source & kHandshake) != 0)
    return accept_handshake(pe, packet_header.sequence, packet.subspan(sizeof packet_header));
  Peer* const known = peers_.find(pe);
  if (known == nullptr) return;
  Peer& peer = *known;
  const bool is_control = (packet_header.source & kControl) != 0;
  const std::uint64_t number = transport::whole_number(
      packet_header.sequence, is_control ? peer.session.control_in + 1 : peer.in.window.expected());
  if (!peer.session.in.is_genuine({is_control ? kControl : 0, number, packet.size()}, packet_header.proof)) return;
  if (is_control && number <= peer.session.control_in) return;  // somebody has recorded it
  if (is_control) peer.session.control_in = number;
  if (peer.is_lost) return;
  peer.keepalive.heard();
  if (is_control) return accept_control(peer, packet);
  switch (peer.in.window.turn_of(number)) {
    case Turn::next:
      peer.in.window.take_next();
      take(peer, packet);
      return take_early(peer);
    case Turn::early:
      return hold(peer, number, packet);
    case Turn::duplicate:  // somebody has recorded it
      return;
    case Turn::too_far:
      return refuse(peer, "a packet out of turn");
  }
}

// Takes a hello or a challenge. Nothing is kept of one that is not genuine, or not the first one.
void Inbound::accept_handshake(int pe, std::uint32_t kind, Bytes content) {
  if (kind == kChallenge && content.size() >= sizeof(transport::Challenge)) {
    transport::Challenge challenge;
    std::memcpy(&challenge, content.data(), sizeof challenge);
    Peer* const peer = peers_.find(pe);
    if (peer == nullptr || peer->is_lost || !peer->session.out.accept(*setup_, challenge)) return;
    peer->keepalive.heard();
    outbound_.pump(*peer);
    return;
  }
  if (kind != kHello || content.size() < sizeof(transport::Hello)) return;
  transport::Hello hello;
  std::memcpy(&hello, content.data(), sizeof hello);
  if (hello.from != static_cast<std::uint32_t>(pe) || !transport::is_genuine(*setup_, hello)) return;
  Peer& peer = peers_.contact(pe);
  transport::Challenge challenge;
  if (peer.is_lost || !peer.session.in.answer(*setup_, transport::Network::ofi, hello, challenge)) return;
  peer.keepalive.heard();
  outbound_.send_challenge(peer, challenge);
}

void Inbound::accept_control(Peer& peer, Bytes packet) {
  transport::RecordReader reader(packet.subspan(sizeof(PacketHeader)));
  Record record;
  Bytes content;
  while (!peer.is_lost && reader.next(record, content)) {
    ControlWord word;
    if (content.size() != sizeof word) return refuse(peer, "a control record of a wrong length");
    std::memcpy(&word, content.data(), sizeof word);
    obey(peer, record.kind, word.value);
  }
  if (reader.fault() != nullptr) refuse(peer, reader.fault());
}

void Inbound::obey(Peer& peer, std::uint32_t kind, std::uint64_t value) {
  switch (kind) {
    case kFinished:
      if (!outbound_.on_finished(peer, value)) refuse(peer, "the completion of a payload that was not sent");
      return;
    case kPing:
      return outbound_.send_control(peer, kPong, value);
    case kPong:
      return;  // its arrival is the sign of life
    case kShutdownSeen:
      peer.end.has_seen_shutdown = true;
      return;
    default:
      return refuse(peer, "an unknown control record");
  }
}

void Inbound::refuse(Peer& peer, const char* what) { peers_.fail(peer, std::string("broken frame: ") + what); }

void Inbound::hold(Peer& peer, std::uint64_t number, Bytes packet) {
  EarlyPacket early{packet.size(), transport::allocate_aligned(packet.size())};
  if (early.memory == nullptr) return peers_.fail(peer, "no memory to hold back its messages");
  copy_block(early.memory.get(), packet.data(), packet.size());
  peer.in.window.hold(number, std::move(early));
}

void Inbound::take_early(Peer& peer) {
  EarlyPacket early;
  while (!peer.is_lost && peer.in.window.holds_any() && peer.in.window.pop_next(early))
    take_aligned(peer, Bytes(early.memory.get(), early.bytes));
}

// Takes the packet whose turn it is.
void Inbound::take(Peer& peer, Bytes packet) {
  if (is_aligned(packet.data())) return take_aligned(peer, packet);
  const AlignedMemory copy = transport::allocate_aligned(packet.size());
  if (copy == nullptr) return out_of_memory(peer.pe, packet.size());
  copy_block(copy.get(), packet.data(), packet.size());
  take_aligned(peer, Bytes(copy.get(), packet.size()));
}

void Inbound::take_aligned(Peer& peer, Bytes packet) {
  transport::RecordReader reader(packet.subspan(sizeof(PacketHeader)));
  Record record;
  Bytes content;
  while (!peer.is_lost && reader.next(record, content)) {
    if (peer.end.is_shutdown_due || peer.end.has_left) return refuse(peer, "a record behind the last one");
    if ((record.kind == kPart) != (peer.in.parts.missing != 0)) return refuse(peer, "a part out of turn");
    switch (record.kind) {
      case kMessage:
        peer.in.queue.add_whole(record.fixed, content);
        break;
      case kAnnounce:
        take_announcement(peer, record, content);
        break;
      case kInParts:
        begin_parts(peer, record, content);
        break;
      case kPart:
        take_part(peer, content);
        break;
      case kShutdown:
        peer.end.is_shutdown_due = true;
        break;
      default:
        return refuse(peer, "an unknown record");
    }
  }
  if (reader.fault() != nullptr) return refuse(peer, reader.fault());
  take_shutdown_if_due(peer);
}

// The peer may end as soon as it knows that its shutdown was seen. So all its payloads have to be read before.
void Inbound::take_shutdown_if_due(Peer& peer) {
  if (!peer.end.is_shutdown_due || peer.in.payloads_read != 0 || (!is_closing_ && !peer.in.queue.is_empty())) return;
  peer.end.is_shutdown_due = false;
  peer.end.has_left = true;
  outbound_.drop(peer);
  outbound_.send_control(peer, kShutdownSeen, 0);
}

void Inbound::take_announcement(Peer& peer, const Record& record, Bytes content) {
  Announcement what;
  const std::size_t header_bytes = record.fixed.header_bytes;
  if (content.size() < sizeof what + header_bytes) return refuse(peer, "an announcement of a wrong length");
  std::memcpy(&what, content.data(), sizeof what);
  const Bytes key = content.subspan(sizeof what + header_bytes);
  if (key.size() != what.key_bytes) return refuse(peer, "an announcement of a wrong length");
  if (what.payload_bytes < kLongBytes || what.payload_bytes > kMaxPayloadBytes)
    return refuse(peer, "a payload of a length that is not allowed");
  if (is_closing_) return outbound_.send_control(peer, kFinished, what.id);
  auto usable = memory_.use_key(key);
  if (!usable) return peers_.fail(peer, usable.error().text);
  const std::uint64_t name = usable->name();
  if (fabric_.wants(FI_MR_RAW)) peer.in.keys.emplace(what.id, std::move(*usable));
  peer.in.queue.add_announced(record.fixed, content.subspan(sizeof what, header_bytes), what.payload_bytes,
                              {what.id, what.address, name});
}

// The sender has waited until nothing of it is unread, so nothing is in front of the message.
void Inbound::begin_parts(Peer& peer, const Record& record, Bytes content) {
  InParts what;
  const std::size_t header_bytes = record.fixed.header_bytes;
  if (content.size() != sizeof what + header_bytes) return refuse(peer, "the beginning of parts of a wrong length");
  std::memcpy(&what, content.data(), sizeof what);
  if (what.payload_bytes < kLongBytes || what.payload_bytes > kMaxPayloadBytes)
    return refuse(peer, "a payload of a length that is not allowed");
  PartsIn& parts = peer.in.parts;
  parts.missing = parts.payload_bytes = what.payload_bytes;
  parts.next = nullptr;
  if (is_closing_) return;
  if (!peer.in.queue.may_place_parts()) return refuse(peer, "parts behind a payload that was not read");
  const Bytes header = content.subspan(sizeof what);
  parts.fixed = record.fixed;
  parts.header.assign(header.begin(), header.end());
  parts.next = peer.in.queue.place_parts(record.fixed, parts.header, what.payload_bytes);
  const bool is_declined = parts.next == transport::declined();
  if (parts.next != nullptr && !is_declined) return;
  parts.own = transport::allocate_aligned(header_bytes + (is_declined ? 0 : what.payload_bytes));
  if (parts.own == nullptr) return out_of_memory(peer.pe, what.payload_bytes);
  std::copy(header.begin(), header.end(), parts.own.get());
  parts.next = is_declined ? nullptr : parts.own.get() + header_bytes;
  if (!is_declined) return;
  const AlignedMemory own = std::move(parts.own);
  peer.in.queue.add_without_place(parts.fixed, Bytes(own.get(), header_bytes));
}

void Inbound::take_part(Peer& peer, Bytes content) {
  PartsIn& parts = peer.in.parts;
  if (content.empty() || content.size() > parts.missing) return refuse(peer, "a part of a wrong length");
  parts.missing -= content.size();
  if (parts.next == nullptr) return;
  copy_block(parts.next, content.data(), content.size());
  parts.next += content.size();
  if (parts.missing != 0) return;
  const std::vector<std::byte> header = std::move(parts.header);
  if (const AlignedMemory own = std::move(parts.own); own != nullptr) {
    peer.in.queue.add_without_place(parts.fixed, Bytes(own.get(), header.size() + parts.payload_bytes));
  } else {
    peer.in.queue.add_placed(parts.fixed, header, parts.payload_bytes);
  }
}

// Starts to read the payload from the sender's memory.
bool Inbound::fetch(InboundMessage& message) noexcept {
  Peer& peer = *peers_.find(message.queue->source());
  Transfer* transfer = transfers_.take();
  transfer->peer = &peer;
  transfer->is_write = false;
  transfer->local = message.destination();
  transfer->remote = {message.fetch_key[1], message.fetch_key[2]};
  transfer->total = message.payload_bytes;
  transfer->message = &message;
  ++peer.in.payloads_read;
  transfers_.start(*transfer);
  return false;
}

void Inbound::on_chunk(Transfer& transfer) {
  Peer& peer = *transfer.peer;
  if (!transfer.is_complete() || peer.is_lost) return;
  InboundMessage& message = *transfer.message;
  const std::uint64_t id = message.fetch_key[0];
  transfers_.release(&transfer);
  peer.in.keys.erase(id);
  --peer.in.payloads_read;
  message.queue->complete(message);
  outbound_.send_control(peer, kFinished, id);
  take_shutdown_if_due(peer);
}

// Reports the payload as read: its sender waits until each of its payloads has been.
void Inbound::discard(InboundMessage& message) noexcept {
  Peer& peer = *peers_.find(message.queue->source());
  peer.in.keys.erase(message.fetch_key[0]);
  outbound_.send_control(peer, kFinished, message.fetch_key[0]);
}

void Inbound::out_of_memory(int source, std::size_t bytes) noexcept {
  peers_.fail(*peers_.find(source), "no memory for a message of " + std::to_string(bytes) + " bytes");
}

void Inbound::start_closing() {
  is_closing_ = true;
  for (Peer* peer : peers_.contacts()) {
    if (peer->is_lost) continue;
    peer->in.queue.discard_waiting();
    take_shutdown_if_due(*peer);
  }
}

}  // namespace shmemx::ofi
