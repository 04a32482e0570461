// What is kept of a PE from the first contact on, and the table of these PEs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/contact_table.hpp"
#include "base/result.hpp"
#include "transport/common/inbound_queue.hpp"
#include "transport/common/keepalive.hpp"
#include "transport/common/reorder_window.hpp"
#include "transport/common/sent_behind.hpp"
#include "transport/common/session.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/wire.hpp"
#include "transport/transport.hpp"

namespace shmemx::ofi {

struct Peer;

// Tells the sender of a payload that its memory is free.
inline void set_done(Outgoing* outgoing) noexcept {
  if (outgoing != nullptr) outgoing->done = true;
}

// A packet to be sent. Its tail is a payload that is sent from where it lies.
struct Packet : Operation {
  Packet() noexcept : Operation(Kind::packet) {}

  Peer* peer = nullptr;
  std::uint32_t used = 0;
  bool is_control = false;
  std::uint32_t handshake = 0;    // a HandshakeKind: the packet is not part of a session
  bool needs_completion = false;  // must not be injected
  Bytes tail;
  Outgoing* outgoing = nullptr;
  std::unique_ptr<std::byte[]> own_tail;
  Place tail_place;
  Place place;
  alignas(transport::kRecordAlign) std::byte bytes[kPacketBytes];
};

// A long payload until the peer has read it.
struct LongSend {
  std::uint64_t id;
  Outgoing* outgoing;
  std::unique_ptr<std::byte[]> own_payload;
  Place place;
  std::uint64_t position;  // in the stream of messages to the peer
};

// A long payload that nobody can register: its bytes leave in packets, and no other message until its end.
struct PartsOut {
  Bytes rest;  // empty: there is none
  Outgoing* outgoing = nullptr;
  std::unique_ptr<std::byte[]> own_payload;
  bool is_shutdown_behind = false;  // the shutdown record follows
};

// The rest of a message that comes in parts.
struct PartsIn {
  std::size_t missing = 0;    // bytes; 0: there is none
  std::byte* next = nullptr;  // where the next ones go; null: nowhere
  Header fixed{};
  std::vector<std::byte> header;
  std::size_t payload_bytes = 0;
  transport::AlignedMemory own;  // header and payload, if the payload has no place
};

// A packet that arrived before its turn.
struct EarlyPacket {
  std::size_t bytes = 0;
  transport::AlignedMemory memory;
};

// The proofs of who a peer is, and the numbers of the control packets with it.
struct Session {
  transport::OutgoingSession out;
  transport::IncomingSession in;
  bool has_asked = false;     // the hello is sent, or queued
  std::uint64_t control_out;  // number of the last control packet
  std::uint64_t control_in;

  explicit Session(std::uint64_t first_number) noexcept : control_out(first_number), control_in(first_number) {}
};

// What is on the way to a peer. `open` is the packet that records are added to. If `is_open_due`, it leaves as soon as
// it can.
struct Sending {
  Packet* open = nullptr;
  bool is_open_due = false;
  bool is_gathering = false;  // listed for flush()
  bool is_stalled = false;    // listed for retry()
  std::deque<Packet*> queue;
  std::deque<Packet*> control;
  std::uint32_t posted = 0;         // packets that the provider has
  std::uint64_t sequence;           // number of the next packet
  std::deque<LongSend> long_sends;  // in the order of sending
  PartsOut parts;
  transport::SentBehind sent;
  std::uint64_t next_long = 0;

  explicit Sending(std::uint64_t first_number) noexcept : sequence(first_number) {}
};

// What arrives from a peer.
struct Receiving {
  static constexpr std::uint32_t kMostAhead = 4096;  // packets that may arrive before one that is missing

  transport::ReorderWindow<EarlyPacket> window;
  transport::InboundQueue queue;
  std::uint32_t payloads_read = 0;  // long payloads that this PE reads now
  PartsIn parts;
  std::map<std::uint64_t, UsableKey> keys;  // raw ones of announced payloads, by their id

  Receiving(int pe, const Setup& setup, transport::InboundSource& source, bool& active) noexcept
      : window(kMostAhead, setup.first_number),
        queue(*setup.sink, source,
              {.source = pe, .most_under_way = 1, .active = &active, .places = !setup.has_reserve}) {}
};

// How far the end of the connection has come, where the peer is not lost.
struct Ending {
  bool is_shutdown_due = false;    // its shutdown record waits for the messages in front of it
  bool has_left = false;           // its shutdown record has been taken
  bool has_seen_shutdown = false;  // it has taken our shutdown record
  bool is_abandoned = false;       // another network has taken over
  std::uint64_t abandoned_ns = 0;  // since then
};

struct Peer {
  Peer(int number, const Setup& setup, transport::InboundSource& source, bool& active) noexcept
      : pe(number), session(setup.first_number), out(setup.first_number), in(number, setup, source, active) {}

  int pe;
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  std::string name;  // of its endpoint
  bool is_lost = false;
  Session session;
  Sending out;
  Receiving in;
  Ending end;
  transport::Keepalive::Peer keepalive;
};

class Peers {
 public:
  Peers(Fabric& fabric, const Setup& setup);

  // Names the reader of announced payloads. To be called before the first contact.
  void set_source(transport::InboundSource& source) noexcept { source_ = &source; }

  void set_addresses(const EndpointAddresses& addresses) noexcept { addresses_ = &addresses; }
  std::string own_address() const;
  bool has_reserve() const noexcept { return setup_.has_reserve; }

  Peer* find(int pe) const noexcept { return peers_.find(pe); }
  // Returns what is kept of `pe`; makes it at the first contact.
  Peer& contact(int pe);
  // Makes its address known to the provider. Returns false if that fails; the peer is lost then.
  bool connect(Peer& peer);
  const std::vector<Peer*>& contacts() const noexcept { return peers_.list(); }

  // Marks the peer as lost. report() tells the sink, inside poll().
  void fail(Peer& peer, std::string cause);
  std::vector<Peer*> take_newly_lost();
  bool report(bool is_closing);
  // Returns true if there is something to take, or to report.
  bool has_news() const noexcept { return !newly_lost_.empty() || !failures_.empty(); }

 private:
  struct Failure {
    Peer* peer;
    std::string cause;
  };

  Status insert(Peer& peer);

  Fabric& fabric_;
  const Setup& setup_;
  transport::InboundSource* source_ = nullptr;
  const EndpointAddresses* addresses_ = nullptr;
  Contacts<Peer> peers_;
  std::vector<Failure> failures_;
  std::vector<Peer*> newly_lost_;
  bool active_ = false;  // the sink was called
};

}  // namespace shmemx::ofi
