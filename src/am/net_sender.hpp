// Hands messages to the network that leads to their PE: writes the fixed part of the header, with the acknowledgement
// of what that PE has sent, and counts. When they leave is decided by Gathering. Under the endpoint's lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "am/ack_tracker.hpp"
#include "am/net_peers.hpp"
#include "am/outgoing_message.hpp"
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

class NetSender {
 public:
  NetSender(NetPeers& peers, AckTracker& acks, PathProbe& paths) noexcept : peers_(peers), acks_(acks), paths_(paths) {}
  // `reserve`: null if no network takes over from another one. `least`: no message is more urgent.
  void open(Reserve* reserve, transport::Urgency least);

  // Returns false if the message cannot leave now.
  bool try_send(const OutgoingMessage& message, transport::Urgency urgency = transport::Urgency::now) noexcept;
  // Forgets the payloads that stay until a flush and that networks have read.
  void release_lasting() noexcept {
    std::erase_if(lasting_, [](const std::unique_ptr<transport::Outgoing>& outgoing) { return outgoing->done; });
  }

  // Returns whether a network holds messages for flush().
  bool is_holding() const noexcept { return is_holding_; }
  // Sends what the networks have gathered.
  void flush() noexcept {
    if (is_holding_) flush_slow();
  }

  // Returns whether it is known which network leads to `pe`. Otherwise that is being probed: poll and try again.
  [[gnu::always_inline]] bool has_path(int pe) noexcept { return peers_[pe].path == NetPath::open || find_path(pe); }
  // Looks again whether the path to `pe` is still open, after a network has lost the PE.
  void check_path(int pe) noexcept {
    if (peers_[pe].path == NetPath::open && !paths_.is_open(pe)) peers_[pe].path = NetPath::interrupted;
  }

 private:
  bool find_path(int pe) noexcept;
  bool try_send_lasting(const OutgoingMessage& message, transport::Urgency urgency) noexcept;
  void note_urgency(Leave leave, transport::Urgency wanted, transport::Urgency given) noexcept;
  [[gnu::noinline]] void flush_slow() noexcept;

  NetPeers& peers_;
  AckTracker& acks_;
  PathProbe& paths_;
  Reserve* reserve_ = nullptr;
  std::vector<std::unique_ptr<transport::Outgoing>> lasting_;  // payloads that transports still read
  transport::Urgency least_ = transport::Urgency::now;
  bool any_resumes_ = false;  // a network sends again what gets lost, at times that arm() prepares
  bool is_holding_ = false;
};

}  // namespace shmemx::am
