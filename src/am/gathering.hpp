// Small messages to PEs of other nodes that wait for each other and leave as one: decides which of them wait, and when
// a batch leaves. Under the endpoint's lock.
//
// Small messages for which nobody waits (SendOptions::gathers) gather by themselves. One to an idle PE leaves at once.
// While a counted message to the PE is not acknowledged, further ones are put into a batch. It leaves
//  - when it is full,
//  - when everything counted has been acknowledged,
//  - before any other message to the PE, such as one that expects a reply,
//  - at each poll of a thread that waits, and at a flush,
//  - when it is about 100 microseconds old, by the networks' progress thread. Without that thread small messages do not
//    gather, but for those of sessions (SendOptions::held) and of try_send_coalesced().
#pragma once

#include <cstdint>

#include "am/coalescer.hpp"
#include "am/net_peers.hpp"
#include "am/net_sender.hpp"
#include "am/network_thread.hpp"

namespace shmemx::am {

// Small messages and batches that have been sent, and the payloads and headers in them.
struct GatherCounts {
  std::uint64_t operations = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

// What try_send_small() has done.
enum class SmallSent : std::uint8_t {
  no,      // nothing: there is no room
  yes,     // the message is sent, or waits in a batch
  filled,  // the same, and a full batch has left: the program sends a stream
};

// The time between two looks at the age of batches.
inline constexpr std::uint64_t kLookIntervalNs = 50'000;

class Gathering {
 public:
  Gathering(NetPeers& peers, NetSender& sender) noexcept : peers_(peers), sender_(sender) {}
  void open(std::size_t n_pes) { coalescer_.open(n_pes); }

  // Longer messages gain nothing: they leave alone.
  static constexpr bool is_small(std::size_t bytes) noexcept { return Coalescer::takes(bytes); }
  // Returns whether small messages with these options may gather.
  static bool gathers(SendOptions options) noexcept {
    const bool leaves = network_thread.runs.load(std::memory_order_relaxed);  // set at init, cleared at the end
    return options.counted && (options.held || (options.gathers && leaves));
  }
  // Puts the message into the batch for `pe`, if one has been begun and has room.
  [[gnu::always_inline]] bool try_append(int pe, HandlerId id, Bytes header, Bytes payload) noexcept {
    return coalescer_.try_append(pe, id, header, payload);
  }
  // For a small message that may gather: sends it at once if `pe` is idle, and begins a batch otherwise.
  SmallSent try_send_small(int pe, HandlerId id, Bytes header, Bytes payload, SendOptions options) noexcept;
  // Begins a batch with a small message, even if `pe` is idle. Sends a longer one.
  [[gnu::noinline]] bool begin(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept;
  // Returns whether an acknowledgement that has not been received yet may let small messages to `pe` leave at once.
  bool may_have_become_idle(int pe) const noexcept {
    return network_thread.sleeps_long.load(std::memory_order_relaxed) &&  // a hint
           !peers_.is_idle(pe) && !coalescer_.holds(pe);
  }

  // Sends the batch for `pe`, or all batches. Returns whether none is left.
  bool send(int pe, const NetSend& how) noexcept;
  bool send_all() noexcept;
  // Sends the batches that have become old. To be called at intervals.
  void send_old(std::uint64_t now_ns) noexcept;
  bool holds(int pe) const noexcept { return coalescer_.holds(pe); }
  bool is_empty() const noexcept { return coalescer_.is_empty(); }
  // `pe` has executed more. Its batch leaves at send_of_idle() if that was all.
  void note_executed(int pe) noexcept {
    if (coalescer_.holds(pe) && peers_.is_idle(pe)) is_acknowledged_ = true;
  }
  void send_of_idle() noexcept {
    if (is_acknowledged_) send_of_idle_slow();
  }
  const GatherCounts& counts() const noexcept { return counts_; }

 private:
  transport::Sent send_alone(int pe, NetSend how, const Batch& batch) noexcept;
  bool send_contents(int pe, const NetSend& how, const Batch& batch) noexcept;
  template <class IsDue>
  bool send_due(IsDue&& is_due) noexcept;
  void send_of_idle_slow() noexcept;

  NetPeers& peers_;
  NetSender& sender_;
  Coalescer coalescer_;
  GatherCounts counts_;
  std::uint64_t looked_ns_ = 0;   // when batches were last looked at for their age
  bool is_acknowledged_ = false;  // a PE for which there is a batch has executed all that was sent
};

}  // namespace shmemx::am
