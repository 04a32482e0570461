// Messages over frames that the network may lose, duplicate, change in order, or change. It knows a port, a clock and
// the sink, but no sockets, so that tests run it over simulated links.
//
// Three classes of messages: small ones are records of one frame, with others if they gather; medium ones are cut into
// parts, which are records, too; the payloads of large ones are announced by a record and pulled by the receiver.
#pragma once

#include <span>
#include <string>

#include "transport/ethernet/receiver.hpp"

namespace shmemx::ethernet {

class Engine final {
 public:
  using Clock = PollClock::Function;
  using Settings = ethernet::Settings;
  // `ports`: one for each interface.
  Engine(const transport::Setup& setup, const Settings& settings, std::span<Port* const> ports, Clock clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void set_addresses(const transport::EndpointAddresses& addresses) noexcept { peers_.set_addresses(addresses); }

  // As in transport::Transport.
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing, Urgency urgency) noexcept {
    return sender_.send(pe, fixed, header, payload, outgoing, urgency);
  }
  void flush() noexcept { sender_.flush(); }

  // As Receiver::take().
  void take(Bytes frame, std::uint8_t interface) noexcept { receiver_.take(frame, interface); }
  // As PathKeeper::note_failure().
  void note_failure(unsigned interface, int error) noexcept { paths_.note_failure(interface, error); }
  // Sends acknowledgements and what is overdue, and reports losses. To be called at each poll, after take().
  // `has_more`: further frames have arrived, which may be those that seem to be overdue.
  void run(bool has_more = false) noexcept;
  // Returns whether anything has moved since the last call.
  bool take_progress() noexcept { return peers_.take_progress(); }
  // To be called before a sleep: sends what run() would send within a short time. Returns false if it has to run now.
  bool send_pending() noexcept;
  // When run() has to be called even if nothing is received; ~0 if never.
  std::uint64_t deadline_ns() const noexcept;

  // The end: sends shutdown records; from now on the sink gets nothing.
  void begin_close() noexcept;
  // Returns whether the peers have acknowledged everything.
  bool is_drained() noexcept;
  // Sends once more what was not acknowledged, and forgets all peers.
  void end_close() noexcept;

  const FrameCounts& counts() const noexcept { return counts_; }
  const PathKeeper& paths() const noexcept { return paths_; }
  const Peer* find(int pe) const noexcept { return peers_.find(pe); }
  const transport::EndpointAddresses* addresses() const noexcept { return peers_.addresses(); }

 private:
  using State = Peer::State;

  void check_time(std::uint64_t now) noexcept;
  void expire(Peer& peer, std::uint64_t now) noexcept;
  void end_keepalive_round() noexcept;
  void send_gone() noexcept;

  transport::Setup setup_;
  Settings settings_;
  FrameCounts counts_;
  PollClock clock_;
  Peers peers_;
  PathKeeper paths_;
  FrameWriter writer_;
  Sender sender_;
  Receiver receiver_;
  transport::Keepalive keepalive_;
  std::uint64_t check_ns_ = 0;  // when to look for what is overdue
  unsigned turn_ = 0;
};

}  // namespace shmemx::ethernet
