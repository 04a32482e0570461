// What is kept of a PE once it has been reached, and the table of those that have.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/wire.hpp"
#include "transport/transport.hpp"

namespace shmemx::ofi {

struct Peer;

// On its way out. A tail is a payload that is sent from where it lies.
struct Packet : Operation {
  Packet() noexcept : Operation(Kind::packet) {}

  Peer* peer = nullptr;
  std::uint32_t used = 0;
  bool is_control = false;
  bool is_watched = false;  // its completion matters
  Bytes tail;
  Outgoing* outgoing = nullptr;
  std::unique_ptr<std::byte[]> own_tail;
  Place tail_place;
  Place place;
  alignas(kAlign) std::byte bytes[kPacketBytes];
};

// A payload that waits until the peer has read it.
struct LongSend {
  std::uint64_t id;
  Outgoing* outgoing;
  std::unique_ptr<std::byte[]> own_payload;
  Place place;
};

// A packet that has to wait: for one that was sent before it, or for the payload of a long message.
struct Held {
  std::uint32_t sequence;
  std::size_t size;
  std::size_t offset;  // what lies before has been consumed
  std::unique_ptr<std::byte[]> bytes;
};

struct Transfer;

// A payload that is being read.
struct Placement {
  Announcement what;
  Header fixed;
  std::byte header[kMaxHeaderBytes];
  std::unique_ptr<std::byte[]> own_memory;  // header and payload, where the sink has no place for it
  Transfer* transfer = nullptr;
};

struct Peer {
  int pe = -1;
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  std::string name;  // of its endpoint
  std::uint64_t token_in = 0;
  std::uint64_t token_out = 0;

  bool is_lost = false;
  bool has_left = false;       // its farewell is here
  bool has_seen_ours = false;  // it has our farewell

  // Out. `open` is the packet that records are added to; `is_open_due`: it leaves as soon as it can.
  Packet* open = nullptr;
  bool is_open_due = false;
  bool is_gathering = false;  // in the list of those that flush() looks at
  bool is_stalled = false;    // in the list of those to try again
  std::deque<Packet*> queue;
  std::deque<Packet*> control;
  std::uint32_t posted = 0;         // packets the provider has
  std::uint32_t posted_behind = 0;  // since the last news of a long send
  std::uint32_t sequence_out = 0;
  std::deque<LongSend> long_sends;
  std::uint64_t next_long = 0;

  // In.
  std::uint32_t sequence_in = 0;
  std::deque<Held> held;
  std::unique_ptr<Placement> placement;

  // Life.
  bool is_heard = false;  // since the last look
  std::uint64_t heard_ms = 0;
  std::uint64_t pinged_ms = 0;  // 0: not since it was heard
};

class Peers {
 public:
  Peers(Fabric& fabric, const Setup& setup);

  void set_addresses(const EndpointAddresses& addresses) noexcept { addresses_ = &addresses; }
  std::string own_address() const;

  Peer* find(int pe) const noexcept { return table_[static_cast<std::size_t>(pe)].get(); }
  // Makes it known; its address is looked up when something is sent there.
  Peer& reach(int pe);
  // False when it cannot be; it has failed then.
  bool connect(Peer& peer);
  const std::vector<Peer*>& reached() const noexcept { return reached_; }

  // From now on it is lost; what it holds is freed and the sink hears of it in poll().
  void fail(Peer& peer, std::string cause);
  std::vector<Peer*> take_newly_lost();
  bool report(bool is_closing);
  // Something to take, or to report.
  bool has_news() const noexcept { return !newly_lost_.empty() || !failures_.empty(); }

 private:
  struct Failure {
    Peer* peer;
    std::string cause;
  };

  Status insert(Peer& peer);

  Fabric& fabric_;
  const Setup& setup_;
  const EndpointAddresses* addresses_ = nullptr;
  std::vector<std::unique_ptr<Peer>> table_;
  std::vector<Peer*> reached_;
  std::vector<Failure> failures_;
  std::vector<Peer*> newly_lost_;
};

}  // namespace shmemx::ofi
