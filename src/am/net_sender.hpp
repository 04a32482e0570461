// Hands messages to the network that leads to their PE: writes the fixed part of the header, with the acknowledgement
// of what that PE has sent, and counts. Under the endpoint's lock.
//
// Messages of a burst (SendOptions::in_burst) are not acknowledged, so the network gathers them (Urgency::gather). The
// first one to a PE leaves at once. Another one gathers if it follows within NetSetup::burst_ns and no thread has
// waited between the two. They leave when the network has enough of them, with the next other message to the PE, at
// each poll of a thread that waits, at flush(), or by the networks' progress thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "am/ack_tracker.hpp"
#include "am/bursts.hpp"
#include "am/handlers.hpp"
#include "am/net_peers.hpp"
#include "am/path_probe.hpp"
#include "am/reserve.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

// The number of fences that this process has called. What a thread sends from now on takes effect after what it has
// sent before. Handlers run in that order anyway; the number keeps the payloads of long messages in it, too.
inline constinit std::atomic<std::uint32_t> fences{0};
inline void note_fence() noexcept {
  fences.fetch_add(1, std::memory_order_relaxed);
}  // read by the same thread's sends

// How a message leaves.
struct NetSend {
  HandlerId id;
  SendOptions options = {};
  transport::Urgency urgency = transport::Urgency::now;
  bool more = false;  // another counted message follows soon, whose acknowledgement covers this one
  transport::Outgoing* outgoing = nullptr;  // null: the payload is copied or sent before send() returns
};

class NetSender {
 public:
  NetSender(NetPeers& peers, AckTracker& acks, PathProbe& paths) noexcept : peers_(peers), acks_(acks), paths_(paths) {}
  struct Setup {
    std::size_t n_pes;
    Reserve* reserve;          // null if no network takes over from another one
    transport::Urgency least;  // no message is more urgent
    std::uint64_t burst_ns;
  };
  void open(const Setup& setup);

  // Returns Sent::no if the message cannot leave now.
  transport::Sent send(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept;
  // Returns when a short message leaves that may be part of a burst.
  transport::Urgency urgency_in_burst(int pe, std::size_t bytes) noexcept {
    return bytes < transport::kLongBytes && bursts_.follows(pe) ? transport::Urgency::gather : transport::Urgency::now;
  }
  // For a long payload that stays as it is until a flush: keeps `outgoing` while the network uses it.
  void keep(std::unique_ptr<transport::Outgoing> outgoing) { lasting_.push_back(std::move(outgoing)); }
  void release_lasting() noexcept {
    std::erase_if(lasting_, [](const std::unique_ptr<transport::Outgoing>& outgoing) { return outgoing->done; });
  }

  // Returns whether a network holds messages for flush().
  bool is_holding() const noexcept { return is_holding_; }
  // Sends what the networks have gathered.
  void flush() noexcept {
    if (is_holding_) flush_slow();
  }
  void end_bursts() noexcept { bursts_.end(); }

  // Returns whether it is known which network leads to `pe`. Otherwise that is being probed: poll and try again.
  [[gnu::always_inline]] bool has_path(int pe) noexcept { return peers_[pe].path == NetPath::open || find_path(pe); }
  // Looks again whether the path to `pe` is still open, after a network has lost the PE.
  void check_path(int pe) noexcept {
    if (peers_[pe].path == NetPath::open && !paths_.is_open(pe)) peers_[pe].path = NetPath::interrupted;
  }

 private:
  bool find_path(int pe) noexcept;
  transport::Sent hand_over(int pe, const NetSend& how, const transport::Header& fixed, Bytes header,
                            Bytes payload) noexcept;
  void note_urgency(const NetSend& how, transport::Urgency urgency) noexcept;
  [[gnu::noinline]] void flush_slow() noexcept;

  NetPeers& peers_;
  AckTracker& acks_;
  PathProbe& paths_;
  Reserve* reserve_ = nullptr;
  Bursts bursts_;
  std::vector<std::unique_ptr<transport::Outgoing>> lasting_;  // payloads that transports still read
  transport::Urgency least_ = transport::Urgency::now;
  bool any_resumes_ = false;  // a network sends again what gets lost, at times that arm() prepares
  bool is_holding_ = false;
};

}  // namespace shmemx::am
