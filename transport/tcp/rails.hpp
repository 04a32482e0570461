// Two links between two machines: a pair of PEs that exchange long payloads makes a second connection on another
// interface, its second rail. Everything travels on the first one, but of a long payload the second rail carries a
// part, as large as its share of the speed of both. A slow one is left alone. The first one moves to the second one's
// interface if that is much faster (connector.hpp).
//
// To the rest of this transport a rail is a peer of its own, numbered behind all PEs: it connects, is suspended and
// resumed as any other. It carries the second parts of split messages. The first connection waits at a split message
// until its second part is there, so all messages stay in order; the second one waits at a part whose message has not
// begun.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/tcp/parts.hpp"
#include "transport/tcp/peers.hpp"

namespace shmemx::tcp {

class Rails {
 public:
  explicit Rails(const Parts& parts) noexcept : parts_(parts) {}
  // This machine has several interfaces, perhaps not all of them ready.
  void open() noexcept { may_split_ = true; }
  void close() noexcept;

  bool may_split() const noexcept { return may_split_; }
  // Sends a payload on both rails. Returns false if the first one is to take it alone.
  bool send_split(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing& outgoing) noexcept;
  // Notes which split payloads are not in use any more.
  void release_splits() noexcept;
  void measure_all() noexcept;
  // Lets the decoders of both rails go on as far as they have what they need of each other.
  void match_parts(Peer& one) noexcept;
  // Puts the addresses to try for a second rail in order: it takes an interface that the first one does not use.
  void arrange(const Peer& rail, std::vector<Candidate>& candidates) const;
  std::string text(int pe) const;

  // Opens a second rail to `pe` on any interface. Returns true when it is there. For tests.
  bool open_on_any(int pe) noexcept;

 private:
  struct Split {
    Outgoing first;
    Outgoing second;
    Outgoing* whole;
  };

  Peer* begin(Peer& peer) noexcept;
  Peer* rail_to(Peer& peer) noexcept;
  void arrange_links(Peer& peer, Peer& rail) noexcept;
  static std::size_t share_of(Peer& peer, Peer& rail, std::size_t bytes) noexcept;
  void begin_measuring(Peer& peer, std::uint64_t now) noexcept;
  void match(Peer& first, Peer& rail) noexcept;

  const Parts& parts_;
  std::vector<std::unique_ptr<Split>> splits_;  // under way
  std::vector<Peer*> measured_;                 // send parts of payloads, and are not acknowledged yet
  bool may_split_ = false;
  bool takes_any_ = false;  // for tests: any interface
};

}  // namespace shmemx::tcp
