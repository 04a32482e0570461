// Makes connections: dials, takes those in that others have dialed, and moves those that work to another interface.
//
// A connection that moves is dialed like one that follows a broken one, but on the chosen interface only, and it stays
// if that does not succeed soon. As soon as the other socket is there, both sides continue their streams on it
// (resume.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/common/nh_hash.hpp"
#include "transport/tcp/acceptor.hpp"
#include "transport/tcp/parts.hpp"
#include "transport/tcp/peers.hpp"

namespace shmemx::tcp {

class Connector final : private Acceptor::Owner {
 public:
  explicit Connector(const Parts& parts) noexcept;
  Status open();
  std::string own_address() const;
  void set_addresses(const transport::EndpointAddresses& addresses) noexcept { addresses_ = &addresses; }
  void close() noexcept;

  // Connects to a peer that has never been in contact, unless that is about to connect.
  void connect(Peer& peer) noexcept;
  // Connects again: this PE has something to send, the other side is connecting, or the last socket has ended.
  void reconnect(Peer& peer) noexcept;
  void start_dial(Peer& peer) noexcept;
  void stop_dial(Peer& peer) noexcept;
  // Moves the connection to an interface, away from one, or (for tests) to any other socket.
  void move_to(Peer& peer, const std::string& interface) noexcept;
  void move_off(Peer& peer, const std::string& interface) noexcept;
  bool move(int pe) noexcept;

  // Returns whether nothing can follow the last socket of this peer. A second rail that has never been up is tried
  // again.
  bool is_over(const Peer& peer) const noexcept;
  // As of the acceptor.
  bool holds(const Peer& peer) const noexcept { return acceptor_.holds(peer.pe); }
  bool knows(const Peer& peer) const noexcept { return acceptor_.knows(peer.pe); }
  void forget(const Peer& peer) noexcept { acceptor_.forget(peer.pe); }
  // Returns the interfaces that lead to a PE.
  std::vector<std::string> links_to(int pe) const;
  bool has_several_links() const noexcept;  // this machine
  // Looks at the interfaces of this machine. Returns whether they are others than at the last look.
  bool look(std::uint64_t now) noexcept { return share_.own.look(now); }

  // ---- events ----
  void accept_some() noexcept { acceptor_.accept_some(); }
  void on_acceptor_event(int fd) noexcept { acceptor_.on_event(fd); }
  void on_dial_event(Peer& peer) noexcept {
    if (peer.dial) step_dial(peer);
  }
  void on_timer() noexcept;
  void use_room() noexcept;
  bool is_dialing() const noexcept { return !dialing_.empty(); }
  bool needs_timer() const noexcept { return is_dialing() || acceptor_.has_deadlines(); }

 private:
  Acceptor::Answer may_answer(int pe, std::uint64_t connections) noexcept override;
  std::uint64_t connections_with(int pe) noexcept override;
  void arrived(int pe, NetworkFd connection, std::uint64_t number, const ConnectionKeys& keys) noexcept override;
  void left(int pe) noexcept override;
  bool kept_waiting(int pe) noexcept override;
  bool no_descriptors() noexcept override;

  void connected(Peer& peer, Connected made, bool was_dialed) noexcept;
  void note_path(Peer& peer) noexcept;
  bool find_endpoint(int pe, EndpointAddress& endpoint) const;
  std::vector<Candidate> candidates_to(const Peer& peer, const EndpointAddress& endpoint) const;
  void begin_dial(Peer& peer) noexcept;
  void step_dial(Peer& peer) noexcept;
  void add_paths(Peer& peer) noexcept;
  std::string failure_of(const Peer& peer) const;
  template <class MayUse>
  void move(Peer& peer, const MayUse& may_use) noexcept;

  const Parts& parts_;
  const transport::EndpointAddresses* addresses_ = nullptr;
  Acceptor acceptor_;
  std::uint64_t machine_ = 0;
  Dial::Share share_;
  std::unique_ptr<transport::NhHash> hash_;  // for records, if SHMEMX_NET_MAC is on
  std::vector<Peer*> dialing_;
};

}  // namespace shmemx::tcp
