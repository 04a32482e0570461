// Sockets that close although both PEs go on: when descriptors become few, the connection that was idle longest is
// suspended, and the next message opens it again.
//
// A side that suspends a connection sends a suspend frame as its last one, and reads on. The other side closes when it
// reads the frame: it has everything then. What it has sent itself, and the first side's kernel has not acknowledged
// yet, is sent once more on another socket, as after one that has broken (resume.hpp); so is what the first side has
// to send meanwhile. If neither side has anything, none follows. If both suspend the connection at once, the PE with
// the lower number closes the socket.
#pragma once

#include "transport/tcp/parts.hpp"
#include "transport/tcp/peers.hpp"

namespace shmemx::tcp {

class Suspension {
 public:
  explicit Suspension(const Parts& parts) noexcept : parts_(parts) {}

  // Suspends the connection that was idle longest, but not that of `spared`.
  void make_room(const Peer* spared) noexcept;
  // Suspends the connection to `pe`. Returns false if it is not idle.
  bool suspend(int pe) noexcept;
  // The other side has suspended the connection.
  void heed(Peer& peer) noexcept;
  // The socket has ended because one side has suspended the connection, this one if `has_left`. Another one follows if
  // there is something to send: what the other side may lack, but not this side's suspend frame alone.
  void end(Peer& peer, bool has_left) noexcept;
  // Uses descriptors that have become free.
  void use_room() noexcept;

 private:
  void close_acknowledged() noexcept;
  void leave(Peer& peer) noexcept;

  const Parts& parts_;
  bool has_room_ = false;  // a socket was closed since others waited for descriptors
};

}  // namespace shmemx::tcp
