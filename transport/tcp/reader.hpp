// Reads from sockets, and passes what arrives to the decoders.
#pragma once

#include "transport/tcp/parts.hpp"
#include "transport/tcp/peers.hpp"

namespace shmemx::tcp {

class Reader {
 public:
  explicit Reader(const Parts& parts) noexcept : parts_(parts) {}

  // Reads from a peer that is connected. Returns whether anything has happened.
  bool receive(Peer& peer) noexcept;
  // Reads from the peers that are likely to have sent something. `turn`: number of this poll.
  bool receive_likely(int expected, std::uint64_t turn) noexcept;
  // A decoder goes on, and nothing else may report what has been read for it before.
  void note_unread() noexcept { some_unread_ = true; }
  bool read_unread() noexcept { return some_unread_ && read_noted(); }

 private:
  bool has_ended(Peer& peer, ssize_t got) noexcept;
  bool take(Peer& peer, std::size_t bytes) noexcept;
  bool drain(Peer& peer) noexcept;
  bool read_noted() noexcept;

  const Parts& parts_;
  bool some_unread_ = false;
};

}  // namespace shmemx::tcp
