// Sending: records are gathered into packets, and packets wait in the queue of their peer until the provider takes
// them. Each peer has its own queue, so a peer that takes nothing delays no other.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/packet_pool.hpp"
#include "transport/ofi/peer.hpp"

namespace shmemx::ofi {

// The arguments of Transport::send().
struct Message {
  const Header& fixed;
  Bytes header;
  Bytes payload;
  Outgoing* outgoing;
  Urgency urgency;
};

class Outbound {
 public:
  Outbound(Fabric& fabric, Memory& memory, Peers& peers, const Setup& setup);

  // Makes what has to be registered while the provider registers memory.
  Status open() { return packets_.open(); }

  Sent send(Peer& peer, const Message& message);
  // Sends a control record. It overtakes waiting packets and is never refused.
  void send_control(Peer& peer, RecordKind kind, std::uint64_t value);
  void send_shutdown(Peer& peer);
  // Begins the session to the peer, before anything else leaves.
  void send_hello(Peer& peer);
  // Answers the hello of the peer.
  void send_challenge(Peer& peer, const transport::Challenge& challenge);
  // The session is open: sends what has waited for it.
  bool pump(Peer& peer);
  void flush();

  // Tries again for peers whose packets the provider did not take. Returns true if something has left.
  bool retry();
  void on_sent(Packet& packet);
  // The peer has read a payload. Returns false if no such payload was announced to it.
  bool on_finished(Peer& peer, std::uint64_t id);
  // Drops all that waits for a peer that is lost or has left.
  void drop(Peer& peer);
  static bool is_idle(const Peer& peer) noexcept;
  // Returns true if there are payloads that peers have not read yet.
  bool is_read_from() const noexcept { return payloads_ != 0; }

 private:
  Sent send_short(Peer& peer, const Message& message);
  Sent send_eager(Peer& peer, const Message& message);
  Sent send_announcement(Peer& peer, const Message& message);
  Sent send_parts(Peer& peer, const Message& message);
  void add_part(Peer& peer);
  void add_shutdown(Peer& peer);
  bool has_room(Peer& peer, std::size_t content_bytes);
  std::byte* append(Packet& packet, const Header& fixed, RecordKind kind, std::size_t bytes);
  bool connect(Peer& peer);
  void queue_handshake(Peer& peer, HandshakeKind kind, Bytes content);
  std::int64_t post(Packet& packet);
  std::int64_t hand_over(Packet& packet, bool injects);
  void stall(Peer& peer);
  void queue_open(Peer& peer);

  Fabric& fabric_;
  Memory& memory_;
  Peers& peers_;
  const Setup& setup_;
  std::uint32_t me_;
  std::size_t payloads_ = 0;  // long sends of all peers
  std::size_t inject_bytes_;
  bool has_tails_;  // the provider sends from three places at once
  PacketPool packets_;
  std::vector<Peer*> gathering_;
  std::vector<Peer*> stalled_;
};

}  // namespace shmemx::ofi
