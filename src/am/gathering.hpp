// When messages to PEs of other nodes leave: at once, as parts of a batch, or when their network has enough of them.
// Decided here and nowhere else, from what the sender says (Leave). Under the endpoint's lock.
//
// Leave::idle: a message to an idle PE leaves at once. While a counted message to the PE is not acknowledged, further
// small ones are put into a batch. It leaves
//  - when it is full,
//  - when everything counted has been acknowledged,
//  - before any other message to the PE, such as one that expects a reply,
//  - at each poll of a thread that waits, and at a flush,
//  - when it is about 100 microseconds old, by the networks' progress thread. Without that thread such messages do not
//    gather.
// Leave::session, soon, followed: the same, but a batch begins even if the PE is idle.
//
// Leave::burst: nothing acknowledges such messages, so the network gathers them (Urgency::gather). The first one to a
// PE leaves at once. Another one gathers if it follows within NetSetup::burst_ns and no thread has waited between the
// two. They leave when the network has enough of them, with the next other message to the PE, at each poll of a thread
// that waits, at flush_networks(), or by the networks' progress thread.
#pragma once

#include <cstdint>

#include "am/bursts.hpp"
#include "am/coalescer.hpp"
#include "am/net_peers.hpp"
#include "am/net_sender.hpp"
#include "am/network_thread.hpp"
#include "am/outgoing_message.hpp"

namespace shmemx::am {

// Small messages and batches that have been sent, and the payloads and headers in them.
struct GatherCounts {
  std::uint64_t operations = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint32_t filled = 0;  // batches that have left since they were full: the program sends a stream
};

// The time between two looks at the age of batches.
inline constexpr std::uint64_t kLookIntervalNs = 50'000;

class Gathering {
 public:
  Gathering(NetPeers& peers, NetSender& sender) noexcept : peers_(peers), sender_(sender) {}
  // `burst_ns`: the longest time between two messages of a burst.
  void open(std::size_t n_pes, std::uint64_t burst_ns) {
    coalescer_.open(n_pes);
    bursts_.open(n_pes, burst_ns);
  }

  // Longer messages gain nothing in a batch: they leave alone.
  static constexpr bool is_small(std::size_t bytes) noexcept { return Coalescer::takes(bytes); }
  // Returns whether a message of that length with these options waits for an acknowledgement or for the end of a
  // session.
  static bool gathers(Leave leave, Counting counting, std::size_t bytes) noexcept {
    const bool runs = network_thread.runs.load(std::memory_order_relaxed);  // set at init, cleared at the end
    return counting == Counting::counted && (leave == Leave::session || (leave == Leave::idle && runs)) &&
           is_small(bytes);
  }
  static bool gathers(const OutgoingMessage& message) noexcept {
    return gathers(message.leave, message.counting, message.bytes());
  }
  // Returns whether the message may be put into a batch that has been begun.
  static bool joins(const OutgoingMessage& message) noexcept {
    const bool leaves_soon = message.leave == Leave::followed || message.leave == Leave::soon;
    return leaves_soon ? is_small(message.bytes()) : gathers(message);
  }

  // Returns false if the message cannot leave now, and can be put into no batch.
  bool try_send(const OutgoingMessage& message) noexcept;
  // Puts the message into the batch for its PE, if one has been begun and has room. For what leaves soon, or gathers.
  [[gnu::always_inline]] bool try_append(const OutgoingMessage& message) noexcept {
    return coalescer_.try_append(message.pe, message.handler, message.header, message.payload);
  }
  // Returns whether an acknowledgement that has not been received yet may let small messages to `pe` leave at once.
  bool may_have_become_idle(int pe) const noexcept {
    return network_thread.sleeps_long.load(std::memory_order_relaxed) &&  // a hint
           !peers_.is_idle(pe) && !coalescer_.holds(pe);
  }

  // Send the batch for `pe`, or all batches. Return whether none is left.
  bool send_batch(int pe, transport::Urgency urgency = transport::Urgency::now,
                  Counting counting = Counting::counted) noexcept;
  bool send_batches() noexcept;
  // Sends the batches that have become old, and what the networks hold. To be called at intervals. Returns false if
  // there was nothing.
  bool send_old(std::uint64_t now_ns) noexcept;
  // Sends all that has been gathered, here and in the networks.
  void flush() noexcept {
    send_batches();
    flush_networks();
  }
  // Sends what the networks hold.
  void flush_networks() noexcept {
    if (!sender_.is_holding()) return;
    bursts_.end();
    sender_.flush();
  }
  void end_bursts() noexcept { bursts_.end(); }
  bool holds(int pe) const noexcept { return coalescer_.holds(pe); }
  // Returns whether nothing waits, here or in the networks.
  bool is_empty() const noexcept { return coalescer_.is_empty() && !sender_.is_holding(); }
  // `pe` has executed more. Its batch leaves at send_of_idle() if that was all.
  void note_executed(int pe) noexcept {
    if (coalescer_.holds(pe) && peers_.is_idle(pe)) is_acknowledged_ = true;
  }
  void send_of_idle() noexcept {
    if (is_acknowledged_) send_of_idle_slow();
  }
  const GatherCounts& counts() const noexcept { return counts_; }

 private:
  bool try_send_gathering(const OutgoingMessage& message) noexcept;
  bool try_send_alone(const OutgoingMessage& message, transport::Urgency urgency = transport::Urgency::now) noexcept;
  bool begin(const OutgoingMessage& message) noexcept;
  bool send_contents(OutgoingMessage message, const Batch& batch, transport::Urgency urgency) noexcept;
  template <class IsDue>
  bool send_due(IsDue&& is_due) noexcept;
  void send_of_idle_slow() noexcept;

  NetPeers& peers_;
  NetSender& sender_;
  Coalescer coalescer_;
  Bursts bursts_;
  GatherCounts counts_;
  std::uint64_t looked_ns_ = 0;   // when batches were last looked at for their age
  bool is_acknowledged_ = false;  // a PE for which there is a batch has executed all that was sent
};

}  // namespace shmemx::am
