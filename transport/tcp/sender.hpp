// Writes messages to sockets: at once, with others, or when the kernel takes more.
#pragma once

#include <vector>

#include "transport/tcp/parts.hpp"
#include "transport/tcp/peers.hpp"

namespace shmemx::tcp {

class Sender {
 public:
  explicit Sender(const Parts& parts) noexcept : parts_(parts) {}

  // As Transport::send(), to a peer whose connection has not ended.
  Sent send(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing, Urgency urgency) noexcept;
  void flush() noexcept;
  // Writes what waits for the peer. Returns true if nothing waits any more.
  bool write(Peer& peer) noexcept;
  // Goes on with a peer that was blocked.
  void write_more(Peer& peer) noexcept;
  // Tells the other side that this PE has taken its socket, and where its stream goes on.
  void send_resume(Peer& peer) noexcept;

  // The peer sends a payload from where it lies.
  void lend(Peer& peer) noexcept;
  bool is_lending() const noexcept { return !lending_.empty(); }
  // Finds payloads that are not in use any more.
  void release_lent() noexcept;

  std::uint64_t writes() const noexcept { return writes_; }
  // All that the first `writes` calls have written is known to have arrived at the other kernels.
  void note_acknowledged(std::uint64_t writes) noexcept { acknowledged_writes_ = writes; }
  bool has_unacknowledged() const noexcept { return writes_ != acknowledged_writes_; }
  void clear() noexcept;

 private:
  Sent send_large(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                  Urgency urgency) noexcept;
  void gather(Peer& peer) noexcept;
  void fail(Peer& peer, int error) noexcept;

  const Parts& parts_;
  std::vector<Peer*> gathered_;
  std::vector<Peer*> lending_;             // send payloads from where they lie, or have sent them
  std::uint64_t writes_ = 0;               // to sockets
  std::uint64_t acknowledged_writes_ = 0;  // of those, all that are known to have arrived
};

}  // namespace shmemx::tcp
