// Packets for reuse. Where the provider demands registered memory, some were registered at the start: packets that
// could not be registered later leave by way of those.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/bulk_copy.hpp"
#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/peer.hpp"

namespace shmemx::ofi {

class PacketPool {
 public:
  PacketPool(const Fabric& fabric, Memory& memory) noexcept
      : memory_(memory), needs_registered_(fabric.wants(FI_MR_LOCAL)) {}

  Status open() {
    if (!needs_registered_ || !spare_.empty()) return {};
    for (Packet& packet : spare_packets_ = std::vector<Packet>(kSpare)) {
      SHMEMX_TRY_ASSIGN(place, memory_.open_to_me(Bytes(packet.bytes, kPacketBytes)));
      packet.place = std::move(place);
      spare_.push_back(&packet);
    }
    return {};
  }

  Packet* take(Peer& peer) {
    if (free_.empty()) free_.push_back(make());
    Packet* const packet = free_.back();
    free_.pop_back();
    packet->peer = &peer;
    packet->used = sizeof(PacketHeader);
    packet->is_control = packet->needs_completion = false;
    packet->handshake = 0;
    return packet;
  }

  void give_back(Packet& packet) {
    set_done(std::exchange(packet.outgoing, nullptr));
    packet.tail = {};
    packet.own_tail.reset();
    packet.tail_place = Place{};
    (is_spare(packet) ? spare_ : free_).push_back(&packet);
  }

  // Returns a packet with the same content that the provider can send, in place of this one. Null if there is none now.
  Packet* sendable(Packet& packet) {
    const bool is_registered = packet.place.region != nullptr || packet.place.descriptor != nullptr;
    if (!needs_registered_ || is_registered) return &packet;
    if (spare_.empty()) return nullptr;
    Packet& other = *spare_.back();
    spare_.pop_back();
    copy_block(other.bytes, packet.bytes, packet.used);
    other.peer = packet.peer;
    other.used = packet.used;
    other.is_control = packet.is_control;
    other.needs_completion = packet.needs_completion;
    other.handshake = packet.handshake;
    other.tail = packet.tail;
    other.outgoing = std::exchange(packet.outgoing, nullptr);
    other.own_tail = std::move(packet.own_tail);
    other.tail_place = std::move(packet.tail_place);
    give_back(packet);
    return &other;
  }

 private:
  static constexpr std::size_t kSpare = 8;

  bool is_spare(const Packet& packet) const noexcept {
    return !spare_packets_.empty() && &packet >= spare_packets_.data() && &packet <= &spare_packets_.back();
  }
  Packet* make() {
    all_.push_back(std::make_unique<Packet>());
    Packet& made = *all_.back();
    if (auto place = memory_.open_to_me(Bytes(made.bytes, kPacketBytes))) made.place = std::move(*place);
    return &made;
  }

  Memory& memory_;
  const bool needs_registered_;
  std::vector<std::unique_ptr<Packet>> all_;
  std::vector<Packet*> free_;
  std::vector<Packet> spare_packets_;
  std::vector<Packet*> spare_;
};

}  // namespace shmemx::ofi
