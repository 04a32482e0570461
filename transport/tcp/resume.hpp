// Sockets that end in mid-job: another one follows, on the same path or on another one, and the streams of both sides
// continue where the other side has stopped to receive.
//
// What has been sent is kept until the kernel of the other side has acknowledged it, since a PE reads all that its
// kernel has, also from a socket that has broken. So no acknowledgements travel, and no more is kept than the kernel
// itself keeps. Before a PE answers on the next socket, it lets the kernel drop what still arrives on the last one,
// reads that to its end, and closes it. The first frame on the next socket then says how many bytes of the other side's
// stream have been received so far, and what lies behind them is sent once more. Thus each byte is taken once, in
// order, and a message that was cut in two is completed.
//
// A PE that has answered several connections of the other side takes one, and drops the others with what their senders
// may have sent already. Acknowledgements count only after the resume frame of the other side, which whoever accepts
// sends on the first socket of a pair, too; nothing waits for that one.
//
// A side that has had no acknowledgement for a moment does not wait for the kernel to give up: it connects on another
// path, and the two sides move to the new socket. If the old one recovers first, it stays.
#pragma once

#include <string>

#include "transport/tcp/parts.hpp"
#include "transport/tcp/peers.hpp"

namespace shmemx::tcp {

class Resume {
 public:
  explicit Resume(const Parts& parts) noexcept : parts_(parts) {}

  // Returns the cause of a loss. ETIMEDOUT comes from the times that tune() has set.
  std::string cause_of(int error) const;
  // The socket has ended, and everything that has arrived on it has been read. `error`: 0 if the other side has closed.
  void ended(Peer& peer, int error) noexcept;
  // Ends the connection for good. An empty cause: the peer has shut down in order.
  void lose(Peer& peer, const std::string& cause) noexcept;
  // Closes the socket.
  void close_socket(Peer& peer) noexcept;
  // Reads a socket to its end that another one follows, and closes it. Returns false if that one is not needed, either.
  bool replace(Peer& peer) noexcept;
  // Reads the other side's resume frame. After a former socket sends once more what the other side does not have.
  // Returns whether anything has happened.
  bool read_resume(Peer& peer) noexcept;

  // There is no way to connect to the PE any more. This alone decides so, and handle_failing() reports it, unless the
  // PE is heard again before.
  void give_up(Peer& peer) noexcept;
  // Looks at the peers that cannot be written to, or not be reached. Only poll() may call it.
  void handle_failing() noexcept;
  // Finds connections on which nothing is acknowledged any more. Does nothing if it has done so a moment ago.
  void check_links(std::uint64_t now) noexcept;
  // Returns how a dial is to follow the last socket.
  Dial::Resumed resumed(const Peer& peer) const;

  // Resets the connection to `pe`, as a machine between the two may do. Returns false if there is none. For tests.
  bool reset(int pe) noexcept;

  static constexpr long kLinksNs = 50'000'000;  // between two looks at links while something is under way

 private:
  void interrupted(Peer& peer, bool was_closed, const std::string& cause) noexcept;
  void check_link(Peer& peer) noexcept;

  const Parts& parts_;
  std::uint64_t checked_ns_ = 0;  // time of the last check_links()
};

}  // namespace shmemx::tcp
