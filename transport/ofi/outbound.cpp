#include "transport/ofi/outbound.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/bulk_copy.hpp"

namespace shmemx::ofi {
namespace {

constexpr std::size_t kQueuedPackets = 32;    // to one peer, beyond which send() refuses
constexpr std::uint32_t kPostedPackets = 16;  // to one peer, held by the provider; beyond that records are gathered
constexpr std::size_t kLongSends = 16;        // to one peer
constexpr std::size_t kAnnouncementBytes = sizeof(Announcement) + kMaxHeaderBytes + kMaxPlaceKeyBytes;
// Of a packet for one part.
constexpr std::size_t kPartBytes =
    (kGatherBytes - sizeof(PacketHeader) - sizeof(Record)) / transport::kRecordAlign * transport::kRecordAlign;

void copy(std::byte*& to, Bytes from) noexcept {
  if (!from.empty()) copy_block(to, from.data(), from.size());
  to += from.size();
}

std::unique_ptr<std::byte[]> clone(Bytes payload) {
  std::unique_ptr<std::byte[]> own(new (std::nothrow) std::byte[payload.size()]);
  if (own != nullptr) copy_block(own.get(), payload.data(), payload.size());
  return own;
}

}  // namespace

Outbound::Outbound(Fabric& fabric, Memory& memory, Peers& peers, const Setup& setup)
    : fabric_(fabric),
      memory_(memory),
      peers_(peers),
      setup_(setup),
      me_(static_cast<std::uint32_t>(setup.me)),
      inject_bytes_(fabric.info->tx_attr->inject_size),
      has_tails_(fabric.info->tx_attr->iov_limit >= 3),
      packets_(fabric, memory) {}

Sent Outbound::send(Peer& peer, const Message& message) {
  if (peer.end.has_left || peer.is_lost) return Sent::yes;  // dropped: the peer does not need it
  if (!connect(peer)) return peer.is_lost ? Sent::yes : Sent::no;
  if (!peer.out.parts.rest.empty()) return Sent::no;
  // The peer may have to keep what it gets until it has read the payloads that were announced before.
  if (!peer.out.long_sends.empty() && !peer.out.sent.has_room(peer.out.long_sends.front().position)) return Sent::no;
  if (message.payload.size() < kLongBytes) return send_short(peer, message);
  if (message.payload.size() <= kEagerBytes && has_tails_) return send_eager(peer, message);
  return send_announcement(peer, message);
}

Sent Outbound::send_short(Peer& peer, const Message& message) {
  const std::size_t content = message.header.size() + message.payload.size();
  if (!has_room(peer, content)) return Sent::no;
  std::byte* to = append(*peer.out.open, message.fixed, kMessage, content);
  copy(to, message.header);
  copy(to, message.payload);
  peer.out.sent.count(content);
  if (message.urgency == Urgency::now) {
    peer.out.is_open_due = true;
    pump(peer);
  } else if (!peer.out.is_gathering) {
    peer.out.is_gathering = true;
    gathering_.push_back(&peer);
  }
  return Sent::yes;
}

Sent Outbound::send_eager(Peer& peer, const Message& message) {
  if (peer.out.queue.size() >= kQueuedPackets && (pump(peer), peer.out.queue.size() >= kQueuedPackets)) return Sent::no;
  std::unique_ptr<std::byte[]> own;
  Bytes payload = message.payload;
  // If the peer is abandoned, the provider may still be sending.
  const bool copies = message.outgoing == nullptr || setup_.has_reserve;
  if (copies) {
    own = clone(payload);
    if (own == nullptr) return Sent::no;
    payload = Bytes(own.get(), payload.size());
  }
  auto place = memory_.open_to_me(payload);
  if (!place) return send_parts(peer, message);
  queue_open(peer);
  Packet* packet = packets_.take(peer);
  std::byte* to = append(*packet, message.fixed, kMessage, message.header.size() + payload.size());
  copy(to, message.header);
  packet->used = static_cast<std::uint32_t>(to - packet->bytes);
  packet->tail = payload;
  peer.out.sent.count(message.header.size() + payload.size());
  packet->outgoing = copies ? nullptr : message.outgoing;
  packet->own_tail = std::move(own);
  packet->tail_place = std::move(*place);
  peer.out.queue.push_back(packet);
  pump(peer);
  return copies ? Sent::yes : Sent::later;
}

Sent Outbound::send_announcement(Peer& peer, const Message& message) {
  if (peer.out.long_sends.size() >= kLongSends || !has_room(peer, kAnnouncementBytes)) return Sent::no;
  LongSend payload{peer.out.next_long + 1, message.outgoing, nullptr, Place{}, peer.out.sent.position()};
  Bytes bytes = message.payload;
  if (message.outgoing == nullptr) {
    payload.own_payload = clone(bytes);
    if (payload.own_payload == nullptr) return Sent::no;
    bytes = Bytes(payload.own_payload.get(), bytes.size());
  }
  auto place = memory_.open_to_others(bytes);
  if (!place) return send_parts(peer, message);
  payload.place = std::move(*place);
  peer.out.next_long = payload.id;
  const std::string& key = payload.place.key;
  const Announcement what{payload.id, bytes.size(), payload.place.address, key.size()};
  std::byte* to = append(*peer.out.open, message.fixed, kAnnounce, sizeof what + message.header.size() + key.size());
  copy(to, std::as_bytes(std::span(&what, 1)));
  copy(to, message.header);
  copy(to, std::as_bytes(std::span(key)));
  peer.out.sent.count(message.header.size());
  peer.out.long_sends.push_back(std::move(payload));
  ++payloads_;
  peer.out.is_open_due = true;
  pump(peer);
  return message.outgoing != nullptr ? Sent::later : Sent::yes;
}

// The receiver has no other message of this PE to wait for then, so that it can place the parts as they come.
Sent Outbound::send_parts(Peer& peer, const Message& message) {
  const InParts what{message.payload.size(), 0};
  if (!peer.out.long_sends.empty() || !has_room(peer, sizeof what + message.header.size())) return Sent::no;
  PartsOut parts{message.payload, message.outgoing, nullptr};
  if (message.outgoing == nullptr) {
    parts.own_payload = clone(message.payload);
    if (parts.own_payload == nullptr) return Sent::no;
    parts.rest = Bytes(parts.own_payload.get(), message.payload.size());
  }
  std::byte* to = append(*peer.out.open, message.fixed, kInParts, sizeof what + message.header.size());
  copy(to, std::as_bytes(std::span(&what, 1)));
  copy(to, message.header);
  peer.out.sent.count(message.header.size() + message.payload.size());
  peer.out.parts = std::move(parts);
  peer.out.is_open_due = true;
  pump(peer);
  return message.outgoing != nullptr ? Sent::later : Sent::yes;
}

// Makes a packet of the next part. No other one is open.
void Outbound::add_part(Peer& peer) {
  PartsOut& parts = peer.out.parts;
  const Bytes part = parts.rest.first(std::min(kPartBytes, parts.rest.size()));
  parts.rest = parts.rest.subspan(part.size());
  peer.out.open = packets_.take(peer);
  std::byte* to = append(*peer.out.open, Header{}, kPart, part.size());
  copy(to, part);
  peer.out.is_open_due = true;
  if (!parts.rest.empty()) return;
  set_done(parts.outgoing);
  if (std::exchange(parts, {}).is_shutdown_behind) add_shutdown(peer);
}

void Outbound::send_control(Peer& peer, RecordKind kind, std::uint64_t value) {
  if (!connect(peer) || peer.is_lost) return;
  // A packet that the provider has not taken yet has room for more records.
  Packet* packet = peer.out.control.size() > 1 ? peer.out.control.back() : nullptr;
  if (packet == nullptr || packet->handshake != 0 ||
      packet->used + sizeof(Record) + sizeof(ControlWord) > kGatherBytes) {
    packet = packets_.take(peer);
    packet->is_control = packet->needs_completion = true;
    peer.out.control.push_back(packet);
  }
  const ControlWord word{value, 0};
  std::memcpy(append(*packet, Header{}, kind, sizeof word), &word, sizeof word);
  pump(peer);
}

void Outbound::send_shutdown(Peer& peer) {
  if (peer.end.has_left || !connect(peer) || peer.is_lost) return;
  if (peer.out.parts.rest.empty()) {
    add_shutdown(peer);
  } else {
    peer.out.parts.is_shutdown_behind = true;
  }
  pump(peer);
}

void Outbound::add_shutdown(Peer& peer) {
  if (peer.out.open == nullptr || peer.out.open->used + sizeof(Record) > kGatherBytes) {
    queue_open(peer);
    peer.out.open = packets_.take(peer);
  }
  append(*peer.out.open, Header{}, kShutdown, 0);
  peer.out.open->needs_completion = true;
  peer.out.is_open_due = true;
}

bool Outbound::connect(Peer& peer) {
  if (!peers_.connect(peer)) return false;
  if (!peer.session.has_asked) send_hello(peer);
  return true;
}

void Outbound::send_hello(Peer& peer) {
  peer.session.has_asked = true;
  const transport::Hello& hello = peer.session.out.hello(setup_, transport::Network::ofi, peer.pe);
  queue_handshake(peer, kHello, std::as_bytes(std::span(&hello, 1)));
}

void Outbound::send_challenge(Peer& peer, const transport::Challenge& challenge) {
  if (!connect(peer) || peer.is_lost) return;
  queue_handshake(peer, kChallenge, std::as_bytes(std::span(&challenge, 1)));
}

// Handshakes overtake everything else, but not each other.
void Outbound::queue_handshake(Peer& peer, HandshakeKind kind, Bytes content) {
  Packet* const packet = packets_.take(peer);
  packet->is_control = packet->needs_completion = true;
  packet->handshake = kind;
  const std::size_t padded = round_up(content.size(), transport::kRecordAlign);
  std::memset(packet->bytes + packet->used, 0, padded);
  copy_block(packet->bytes + packet->used, content.data(), content.size());
  packet->used += static_cast<std::uint32_t>(padded);
  const auto behind = std::find_if(peer.out.control.begin(), peer.out.control.end(),
                                   [](const Packet* other) { return other->handshake == 0; });
  peer.out.control.insert(behind, packet);
  pump(peer);
}

void Outbound::flush() {
  std::vector<Peer*> due;
  due.swap(gathering_);
  for (Peer* peer : due) {
    peer->out.is_gathering = false;
    if (peer->out.open == nullptr) continue;
    peer->out.is_open_due = true;
    pump(*peer);
  }
}

// Makes `open` a packet with room for one more record. Returns false if too many packets are queued.
bool Outbound::has_room(Peer& peer, std::size_t content_bytes) {
  const std::size_t bytes = transport::record_bytes(content_bytes);
  if (peer.out.open != nullptr && peer.out.open->used + bytes <= kGatherBytes) return true;
  if (peer.out.queue.size() >= kQueuedPackets && (pump(peer), peer.out.queue.size() >= kQueuedPackets)) return false;
  if (peer.out.open != nullptr) {
    queue_open(peer);
    pump(peer);
  }
  if (peer.out.open == nullptr) peer.out.open = packets_.take(peer);
  return true;
}

std::byte* Outbound::append(Packet& packet, const Header& fixed, RecordKind kind, std::size_t bytes) {
  std::byte* at = packet.bytes + packet.used;
  const Record record{fixed, static_cast<std::uint32_t>(bytes), kind};
  std::memcpy(at, &record, sizeof record);
  packet.used += static_cast<std::uint32_t>(transport::record_bytes(bytes));
  return at + sizeof record;
}

void Outbound::queue_open(Peer& peer) {
  if (peer.out.open == nullptr) return;
  peer.out.queue.push_back(peer.out.open);
  peer.out.open = nullptr;
  peer.out.is_open_due = false;
}

// Hands packets to the provider. Returns true if something has left. Packets that wait for the provider's completions,
// or for the peer, go on with those. Packets that the provider refuses now are tried again by retry().
bool Outbound::pump(Peer& peer) {
  bool moved = false;
  while (!peer.is_lost && !peer.out.is_stalled) {
    std::deque<Packet*>& queue = peer.out.control.empty() ? peer.out.queue : peer.out.control;
    if (queue.empty()) {
      if (peer.out.posted >= kPostedPackets) break;
      const bool has_part = peer.out.open == nullptr && !peer.out.parts.rest.empty();
      if (has_part && peer.session.out.is_open()) add_part(peer);
      if (peer.out.open == nullptr || !peer.out.is_open_due) break;
      queue_open(peer);
      continue;
    }
    Packet& next = *queue.front();
    if (next.handshake == 0 && !peer.session.out.is_open()) break;
    if (!next.is_control && peer.out.posted >= kPostedPackets) break;
    Packet* const packet = packets_.sendable(next);
    if (packet != nullptr) queue.front() = packet;
    const std::int64_t result = packet != nullptr ? post(*packet) : -FI_EAGAIN;
    if (result == -FI_EAGAIN) {
      stall(peer);
      break;
    }
    queue.pop_front();
    if (result != 0) {
      packets_.give_back(*packet);
      peers_.fail(peer, fabric_.failure("send", result).text);
      break;
    }
    moved = true;
  }
  return moved;
}

std::int64_t Outbound::post(Packet& packet) {
  Peer& peer = *packet.peer;
  PacketHeader packet_header{0, me_ | kHandshake, packet.handshake};
  if (packet.handshake == 0) {
    const std::uint32_t kind = packet.is_control ? kControl : 0;
    const std::uint64_t number = packet.is_control ? peer.session.control_out + 1 : peer.out.sequence;
    const std::size_t bytes = round_up(packet.used + packet.tail.size(), transport::kRecordAlign);
    packet_header = {peer.session.out.proof_of({kind, number, bytes}), me_ | kind, static_cast<std::uint32_t>(number)};
  }
  std::memcpy(packet.bytes, &packet_header, sizeof packet_header);
  const bool injects = !packet.needs_completion && packet.tail.empty() && packet.used <= inject_bytes_;
  if (const std::int64_t result = hand_over(packet, injects); result != 0) return result;
  if (packet.is_control && packet.handshake == 0) ++peer.session.control_out;
  if (!packet.is_control) ++peer.out.sequence;
  if (injects) {
    packets_.give_back(packet);
  } else {
    ++peer.out.posted;
  }
  return 0;
}

// Sends one packet. An injected packet is the provider's at once and has no completion. Control packets are not
// injected, so that a broken path shows as an error of a certain peer. Shutdown packets are not, so that close() knows
// when all packets have left.
std::int64_t Outbound::hand_over(Packet& packet, bool injects) {
  fid_ep* ep = fabric_.ep.get();
  const fi_addr_t to = packet.peer->address;
  if (injects) return fi_inject(ep, packet.bytes, packet.used, to);
  if (packet.tail.empty()) return fi_send(ep, packet.bytes, packet.used, packet.place.descriptor, to, &packet.context);
  // The end of the packet's own memory, unused behind a header, pads the payload.
  std::byte* filler = packet.bytes + kPacketBytes - transport::kRecordAlign;
  std::memset(filler, 0, transport::kRecordAlign);
  const std::size_t bytes = packet.used + packet.tail.size();
  const std::size_t padded = round_up(bytes, transport::kRecordAlign);
  void* descriptors[] = {packet.place.descriptor, packet.tail_place.descriptor, packet.place.descriptor};
  const iovec parts[] = {{packet.bytes, packet.used},
                         {const_cast<std::byte*>(packet.tail.data()), packet.tail.size()},
                         {filler, padded - bytes}};
  const std::size_t count = padded == bytes ? 2 : 3;
  return fi_sendv(ep, parts, descriptors, count, to, &packet.context);
}

void Outbound::stall(Peer& peer) {
  peer.out.is_stalled = true;
  stalled_.push_back(&peer);
}

bool Outbound::retry() {
  if (stalled_.empty()) return false;
  std::vector<Peer*> again;
  again.swap(stalled_);
  bool moved = false;
  for (Peer* peer : again) {
    peer->out.is_stalled = false;
    moved = pump(*peer) || moved;
  }
  return moved;
}

void Outbound::on_sent(Packet& packet) {
  Peer& peer = *packet.peer;
  --peer.out.posted;
  packets_.give_back(packet);
  pump(peer);
}

bool Outbound::on_finished(Peer& peer, std::uint64_t id) {
  const auto found = std::find_if(peer.out.long_sends.begin(), peer.out.long_sends.end(),
                                  [&](const LongSend& payload) { return payload.id == id; });
  if (found == peer.out.long_sends.end()) return false;
  set_done(found->outgoing);
  peer.out.long_sends.erase(found);
  --payloads_;
  pump(peer);
  return true;
}

void Outbound::drop(Peer& peer) {
  queue_open(peer);
  for (Packet* packet : peer.out.queue) packets_.give_back(*packet);
  peer.out.queue.clear();
  // A PE that has left waits for an answer, which needs a session.
  std::erase_if(peer.out.control, [&](Packet* packet) {
    if (packet->handshake != 0 && !peer.is_lost) return false;
    packets_.give_back(*packet);
    return true;
  });
  for (const LongSend& payload : peer.out.long_sends) set_done(payload.outgoing);
  set_done(std::exchange(peer.out.parts, {}).outgoing);
  payloads_ -= peer.out.long_sends.size();
  peer.out.long_sends.clear();
}

bool Outbound::is_idle(const Peer& peer) noexcept {
  return peer.out.open == nullptr && peer.out.queue.empty() && peer.out.control.empty() && peer.out.posted == 0 &&
         peer.out.long_sends.empty() && peer.out.parts.rest.empty();
}

}  // namespace shmemx::ofi
