// Long payloads that this PE pulls from one peer, straight to their places. A payload is requested in blocks of
// packets. Several blocks are outstanding; a block of which packets are overdue is requested again, and only what is
// missing. The packets that are outstanding have a window of their own, which is halved when some were lost. As TCP's
// it grows as long as none are, or a TCP connection would take almost all of a link that both share. The caller passes
// the time, and sends the requests.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "transport/common/inbound_queue.hpp"
#include "transport/ethernet/frame.hpp"
#include "transport/ethernet/round_trip.hpp"

namespace shmemx::ethernet {

// Packets outstanding from all peers, so that they fit into the ring that receives them.
struct PacketBudget {
  std::uint32_t most = 0;
  std::uint32_t used = 0;
};

class Pulls {
 public:
  struct Settings {
    std::size_t packet_bytes;
    std::uint32_t block_packets;  // at most kMostBlockPackets
    std::uint32_t blocks;         // outstanding at first
    std::uint32_t most_blocks;    // outstanding where no packets are lost
  };
  Pulls(const Settings& settings, PacketBudget& budget) noexcept
      : settings_(settings), budget_(budget), window_(settings.block_packets * settings.blocks), threshold_(window_) {}
  ~Pulls() { clear(); }
  Pulls(const Pulls&) = delete;
  Pulls& operator=(const Pulls&) = delete;

  void begin(std::uint64_t handle, transport::InboundMessage& message);
  // Returns the next request to send, if one is due and the window allows it.
  struct Request {
    std::uint64_t handle;
    PullRequest what;
    bool is_repeated;
  };
  std::optional<Request> next_request(std::uint64_t now_ns, RoundTrip& round_trip);

  // The request leaves only now.
  void postpone(const Request& request, std::uint64_t now_ns) noexcept;

  enum class Taken : std::uint8_t {
    no,    // not requested, or here already
    yes,   // copied to its place
    last,  // its payload is complete
  };
  // Takes a packet, and measures the round trip of the first one of a block. With Taken::last, `done` is the message;
  // its pull has ended.
  Taken take(const FrameHeader& header, Bytes packet, std::uint64_t now_ns, RoundTrip& round_trip,
             transport::InboundMessage*& done);

  bool is_empty() const noexcept { return pulls_.empty(); }
  // When next_request() has something without a further packet; ~0 if never.
  std::uint64_t deadline_ns(const RoundTrip& round_trip) const noexcept;
  void clear() noexcept;

 private:
  struct Block {
    std::uint32_t first;
    std::uint64_t missing;   // bit i: packet first + i
    std::uint64_t moved_ns;  // when it was requested, or the last packet of it came
    // Numbers and times of its first and its last request, until a packet has measured the round trip.
    struct Asked {
      std::uint32_t number;
      std::uint64_t ns;
    };
    Asked first_asked;
    Asked last_asked;
    bool is_measured = false;
    std::uint32_t overtakers = 0;  // packets that were requested later, and are here
  };
  struct Pull {
    std::uint64_t handle;
    transport::InboundMessage* message;
    std::uint32_t packets;   // of the whole payload
    std::uint32_t next = 0;  // not requested yet
    std::deque<Block> blocks;
  };

  std::optional<Request> repeated(std::uint64_t now_ns, RoundTrip& round_trip);
  std::optional<Request> new_block(std::uint64_t now_ns);
  bool note_loss(std::uint64_t now_ns, const RoundTrip& round_trip) noexcept;
  static void measure(Block& block, std::uint32_t number, std::uint64_t now_ns, RoundTrip& round_trip) noexcept;
  void note_packet(const Pull& pull, const Block& block, std::uint32_t number) noexcept;
  void note_block(Pull& pull, std::size_t index) noexcept;

  Settings settings_;
  PacketBudget& budget_;
  std::uint32_t window_;     // packets
  std::uint32_t threshold_;  // above it the window grows slowly
  std::uint32_t credit_ = 0;
  std::uint32_t outstanding_ = 0;
  std::uint32_t requests_ = 0;
  std::uint64_t halved_ns_ = 0;
  std::deque<Pull> pulls_;
};

}  // namespace shmemx::ethernet
