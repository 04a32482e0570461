// Long payloads that this PE pulls from one peer, straight to their places. A payload is requested in blocks of
// packets. Several blocks are outstanding; a block of which packets are overdue is requested again, and only what is
// missing. The packets that are outstanding have a window of their own, which is halved when some were lost. As TCP's
// it grows as long as none are, or a TCP connection would take almost all of a link that both share. The caller passes
// the time, and sends the requests.
//
// A second path takes blocks in turn with the first one, from payloads of 256 KiB on: where a speed is known, a block
// goes only over a path that has it before the other one has all the rest. A second path that is four times slower, or
// brings nothing, is left alone for a while.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "transport/common/inbound_queue.hpp"
#include "transport/ethernet/frame.hpp"
#include "transport/ethernet/pull_lane.hpp"
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
    bool has_second = false;      // there may be a second path
    std::uint64_t resend_ns = 1'000'000;
  };
  Pulls(const Settings& settings, PacketBudget& budget) noexcept;
  ~Pulls() { clear(); }
  Pulls(const Pulls&) = delete;
  Pulls& operator=(const Pulls&) = delete;

  // `pushed`: the number of packets, the first ones, that come without a request.
  void begin(std::uint64_t handle, transport::InboundMessage& message, std::uint32_t pushed = 0,
             std::uint64_t now_ns = 0);
  // Returns the next request to send, if one is due and the window allows it. `has_all`: all packets that have arrived
  // were taken, so that those that are late are missing.
  struct Request {
    std::uint64_t handle;
    PullRequest what;
    bool is_repeated;
    bool is_second = false;  // over the second path
  };
  std::optional<Request> next_request(std::uint64_t now_ns, RoundTrip& round_trip, bool has_all = true);

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
    std::uint32_t overtakers = 0;  // packets that were requested later over the same path, and are here
    bool is_second = false;
  };
  struct Pull {
    std::uint64_t handle;
    transport::InboundMessage* message;
    std::uint32_t packets;   // of the whole payload
    std::uint32_t next = 0;  // not requested yet
    std::deque<Block> blocks;
  };

  std::optional<Request> repeated(std::uint64_t now_ns, RoundTrip& round_trip, bool has_all);
  std::optional<Request> new_block(std::uint64_t now_ns);
  std::optional<Request> block_over(bool is_second, Pull& pull, std::uint64_t now_ns);
  void add_block(Pull& pull, std::uint32_t packets, bool is_second, std::uint64_t now_ns);
  bool may_use_second(const Pull& pull, std::uint64_t now_ns) noexcept;
  void compare_paths(bool is_second) noexcept;
  bool is_worth(bool is_second, std::uint32_t packets, std::uint32_t rest) const noexcept;
  void note_second_late(std::uint64_t now_ns) noexcept;
  void leave_second(std::uint64_t now_ns) noexcept;
  std::uint64_t late_ns(const Block& block, const RoundTrip& round_trip) const noexcept;
  PullLane& lane(bool is_second) noexcept { return lanes_[is_second ? 1 : 0]; }
  static void measure(Block& block, std::uint32_t number, std::uint64_t now_ns, RoundTrip& round_trip) noexcept;
  void note_packet(const Pull& pull, const Block& block, std::uint32_t number) noexcept;
  void note_block(Pull& pull, std::size_t index) noexcept;

  static constexpr double kUnknown = -1;

  Settings settings_;
  PacketBudget& budget_;
  PullLane lanes_[2];                 // of the first path and the second one
  RoundTrip second_trip_;             // of the second path
  double share_ = kUnknown;           // of the second path, of all packets that arrive while both are in use
  std::uint32_t sampled_ = 0;         // packets for the next measurement of it
  std::uint32_t sampled_second_ = 0;  // those of the second path
  std::uint64_t second_from_ = 0;     // packets over the first path when the last one over the second came
  std::uint64_t second_late_ns_ = 0;  // when its blocks were overdue for the last time
  std::uint64_t alone_ns_ = 0;        // until then the second path is left alone
  unsigned second_failures_ = 0;      // one behind the other
  std::uint32_t requests_ = 0;
  std::uint64_t newest_ = 0;  // the highest handle so far
  std::uint64_t early_ = 0;   // a later one of which packets were dropped, since it was not known yet
  std::deque<Pull> pulls_;
};

}  // namespace shmemx::ethernet
