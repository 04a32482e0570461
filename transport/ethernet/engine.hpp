// Messages over frames that the network may lose, duplicate, change in order, or change. It knows a port, a clock and
// the sink, but no sockets, so that tests run it over simulated links.
//
// Three classes of messages: small ones are records of one frame, with others if they gather; medium ones are cut into
// parts, which are records, too; the payloads of large ones are announced by a record and pulled by the receiver.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/contact_table.hpp"
#include "transport/ethernet/peer_list.hpp"
#include "transport/ethernet/port.hpp"

namespace shmemx::ethernet {

using transport::FrameCounts;
using transport::Outgoing;
using transport::Sent;
using transport::Urgency;

class Engine final : private Inbound::Owner {
 public:
  using Clock = std::uint64_t (*)() noexcept;
  struct Settings {
    EndpointAddress own;
    std::array<std::string, kMostInterfaces> names;  // of the interfaces
    std::uint32_t block_packets = 32;
    std::uint32_t blocks = 4;
    std::uint32_t most_blocks = 32;
    std::uint64_t resend_ns = 1'000'000;
    std::uint32_t ring_frames = 1024;  // of the ring that receives
  };
  // `ports`: one for each interface.
  Engine(const transport::Setup& setup, const Settings& settings, std::span<Port* const> ports, Clock clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void set_addresses(const transport::EndpointAddresses& addresses) noexcept { addresses_ = &addresses; }

  // As in transport::Transport.
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing, Urgency urgency) noexcept;
  void flush() noexcept;

  // Takes what follows the Ethernet header of a frame that has arrived at an interface. Its memory is aligned to 16
  // bytes.
  void take(Bytes frame, std::uint8_t interface) noexcept;
  // An interface cannot send. Paths over others are used, if there are any.
  void note_failure(unsigned interface, int error) noexcept;
  // Sends acknowledgements and what is overdue, and reports losses. To be called at each poll, after take().
  // `has_more`: further frames have arrived, which may be those that seem to be overdue.
  void run(bool has_more = false) noexcept;
  // Returns whether anything has moved since the last call.
  bool take_progress() noexcept { return std::exchange(is_active_, false); }
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
  // Lists the paths to a peer. `states`: with the state of each, as the cause of a loss; else with the one in use.
  std::string paths_text(const Paths& paths, const EndpointAddress& address, bool states) const;
  const Settings& settings() const noexcept { return settings_; }
  const Peer* find(int pe) const noexcept { return peers_.find(pe); }
  const transport::EndpointAddresses* addresses() const noexcept { return addresses_; }

 private:
  using State = Peer::State;
  static constexpr unsigned kFramesAtOnce = 32;
  struct Piece {
    RecordKind kind;
    std::size_t content_bytes;
    std::size_t whole_bytes = 0;
  };

  // engine.cpp
  Peer* contact(int pe) noexcept;
  void lose(Peer& peer, const std::string& cause) noexcept;
  void report_lost() noexcept;
  void look_at_clock() noexcept;
  void check_time(std::uint64_t now) noexcept;
  void expire(Peer& peer, std::uint64_t now) noexcept;
  void end_keepalive_round() noexcept;
  void send_gone() noexcept;
  bool fetch(transport::InboundMessage& message) noexcept override;
  void discard(transport::InboundMessage&) noexcept override {}
  void out_of_memory(int source, std::size_t bytes) noexcept override;
  void ended_loan(int source, std::uint64_t handle) noexcept override;

  // pathing.cpp
  unsigned failing_interfaces() const noexcept;
  void leave_failing_paths() noexcept;
  void note_other_path(Peer& peer, Path path, const FrameHeader& header) noexcept;
  void send_pings(Peer& peer) noexcept;
  std::size_t give_to_port(Path path, std::span<const OutgoingFrame> frames) noexcept;
  std::size_t note_refusal(Path path, std::size_t taken, std::size_t all) noexcept;
  void note_blocked(Peer& peer) noexcept;
  void retry_blocked() noexcept;
  void resume(Peer& peer) noexcept;

  // sending.cpp
  Sent send_parts(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Urgency urgency) noexcept;
  Sent announce(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing) noexcept;
  static std::byte* append(Peer& peer, const Header& fixed, const Piece& piece) noexcept;
  static bool has_room(const Peer& peer, std::size_t content_bytes) noexcept;
  bool append_note(Peer& peer, RecordKind kind, Bytes content) noexcept;
  void append_notes(Peer& peer) noexcept;
  // What transmit() sends: frames of a message of which `before` have left, and whether more of it follow.
  struct Burst {
    std::size_t before = 0;
    bool goes_on = false;
    bool ignores_window = false;
  };
  std::size_t transmit(Peer& peer, Burst burst) noexcept;
  void transmit(Peer& peer) noexcept { transmit(peer, Burst{}); }
  OutgoingFrame records_frame(Peer& peer, std::uint64_t number, const Burst& burst) noexcept;
  void send_now(Peer& peer) noexcept;
  Bytes finish_frame(Peer& peer, Path path, std::byte* memory, FrameHeader header,
                     const FrameProof::Digest& content) noexcept;
  bool send_control(Peer& peer, Path path, FrameKind kind, std::uint8_t flags) noexcept;
  void send_acks(bool all, std::uint64_t now) noexcept;
  void send_block(Peer& peer, Path path, std::uint64_t handle, const PullRequest& what) noexcept;
  void send_requests(Peer& peer, bool has_all) noexcept;
  bool send_request(Peer& peer, const Pulls::Request& request) noexcept;

  // receiving.cpp
  Peer* authenticate(Frame& frame) noexcept;
  void note_newest(Peer& peer, Path path, const FrameHeader& header) noexcept;
  void add_source() noexcept;
  void take_acknowledgement(Peer& peer, const FrameHeader& header) noexcept;
  void take_records(Peer& peer, const Frame& frame) noexcept;
  bool take_next(Peer& peer, Bytes records) noexcept;
  void take_request(Peer& peer, Path path, const Frame& frame) noexcept;
  void take_packet(Peer& peer, const Frame& frame) noexcept;
  void list_for_acks(Peer& peer) noexcept;
  void leave(Peer& peer) noexcept;

  transport::Setup setup_;
  Settings settings_;
  struct Outlet {
    Port* port = nullptr;
    std::uint64_t refused_ns = 0;  // since when it has taken no frame; 0: it takes them
    int error = 0;                 // why frames cannot leave, as errno; 0: they can
  };
  std::array<Outlet, kMostInterfaces> outlets_;  // by interface
  Clock clock_;
  const transport::EndpointAddresses* addresses_ = nullptr;
  FrameProof proof_;
  FramePool pool_;
  PacketBudget budget_;
  std::uint32_t n_sources_ = 0;  // peers that have sent records
  std::uint32_t window_;         // FrameHeader::window
  Contacts<Peer> peers_;
  PeerList gathered_{Peer::List::gathered};
  PeerList unacknowledged_{Peer::List::unacknowledged};
  PeerList blocked_{Peer::List::blocked};
  struct Loss {
    int pe;
    std::string cause;
  };
  std::vector<Loss> lost_;                           // for run(), which may call the sink
  std::array<OutgoingFrame, kFramesAtOnce> frames_;  // of one call of the port
  transport::Keepalive keepalive_;
  FrameCounts counts_;
  std::uint64_t now_ns_;        // of the last look at the clock
  std::uint64_t check_ns_ = 0;  // when to look for what is overdue
  unsigned turn_ = 0;
  bool is_timely_ = false;  // the clock has been read in this poll
  bool is_active_ = false;
  bool is_closing_ = false;
  bool is_failing_ = false;  // an interface has begun to fail
};

}  // namespace shmemx::ethernet
