// Messages to and from PEs of other nodes, over transports, and the counts that tell a sender how many of its messages
// have been executed. Messages may be long; those of one source are executed in the order of sending.
//
// Which of several networks leads to a PE is found by PathProbe, which sources have to be acknowledged is kept by
// AckTracker, and short messages that travel as one are collected by Coalescer. Messages that another network may have
// to take over are kept by KeptMessages.
//
// Small messages for which nobody waits (SendOptions::gathers) gather by themselves. One to an idle PE leaves at once.
// While a counted message to the PE is not acknowledged, further ones are put into a batch. It leaves
//  - when it is full,
//  - when everything counted has been acknowledged,
//  - before any other message to the PE, such as one that expects a reply,
//  - at each poll of a thread that waits, and at a flush,
//  - when it is about 100 microseconds old, by the networks' progress thread. Without that thread small messages do not
//    gather, but for those of sessions (SendOptions::held) and of try_send_coalesced().
//
// Messages of a burst (SendOptions::in_burst) are not acknowledged, so the network gathers them (Urgency::gather). The
// first one to a PE leaves at once. Another one gathers if it follows within NetSetup::burst_ns and no thread has
// waited between the two. They leave when the network has enough of them, with the next other message to the PE, at
// each poll of a thread that waits, at flush_networks(), or by the networks' progress thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/ack_tracker.hpp"
#include "am/coalescer.hpp"
#include "am/dispatch.hpp"
#include "am/handlers.hpp"
#include "am/kept_messages.hpp"
#include "am/path_probe.hpp"
#include "am/pending_places.hpp"
#include "base/contact_table.hpp"
#include "nemesis/unflushed_pes.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

// transport::Header::flags: no flush waits for this message, so its acknowledgement need not travel alone.
inline constexpr std::uint8_t kUncounted = 0x01;

// The number of fences that this process has called. What a thread sends from now on takes effect after what it has
// sent before. Handlers run in that order anyway; the number keeps the payloads of long messages in it, too.
inline constinit std::atomic<std::uint32_t> fences{0};
inline void note_fence() noexcept {
  fences.fetch_add(1, std::memory_order_relaxed);
}  // read by the same thread's sends

// What this process knows of a PE of another node.
struct NetPeer {
  nemesis::Number sent = 0;          // messages sent to it that it acknowledges: all but replies
  nemesis::Number executed = 0;      // of those, how many we know it has executed
  nemesis::Number last_counted = 0;  // the last one that a flush waits for
  std::uint32_t fences = 0;          // am::fences when the last message left
  bool is_unflushed = false;         // in the list of unflushed PEs
  bool is_contact = false;           // in the list of contacts
  bool has_path = false;             // it is known which network leads there
  bool was_reached = false;          // it has been known
  bool has_left = false;             // it needs no messages any more, or is lost
  std::uint32_t burst_turn = 0;      // poll_.turn when the last message of a burst left at once
  std::uint32_t gathered_turn = 0;   // poll_.turn when one gathered last
  std::uint64_t burst_ns = 0;        // time of the former
};

// How a message leaves.
struct NetSend {
  HandlerId id;
  SendOptions options = {};
  transport::Urgency urgency = transport::Urgency::now;
  bool more = false;  // another counted message follows soon, whose acknowledgement covers this one
  transport::Outgoing* outgoing = nullptr;  // null: the payload is copied or sent before send() returns
};

struct NetSetup {
  PathProbe::Setup paths;
  Dispatch* dispatch;
  nemesis::UnflushedPes* unflushed;
  void (*lost)(int pe, const std::string& cause);      // a PE cannot be reached any more; may be null
  transport::Urgency least = transport::Urgency::now;  // no message is more urgent
  std::uint64_t burst_ns = 20'000;  // the longest time between two messages of a burst: a few system calls
};

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

// Under the endpoint's lock. Never destroyed: threads may still poll while the process exits.
class NetChannel final : public transport::Sink {
 public:
  void open(const NetSetup& setup);

  // ---- sending; these return false, or Sent::no, if the message cannot leave now ----
  transport::Sent send(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept;
  bool try_send(int pe, HandlerId id, Bytes header, Bytes payload, SendOptions options) noexcept {
    const bool gathers =
        options.in_burst && header.size() + payload.size() < transport::kLongBytes && follows_burst(pe);
    const auto urgency = gathers ? transport::Urgency::gather : transport::Urgency::now;
    return send(pe, {id, options, urgency}, header, payload) != transport::Sent::no;
  }
  // For a long payload that stays as it is until a flush, such as symmetric memory.
  bool try_send_lasting(int pe, HandlerId id, Bytes header, Bytes payload, SendOptions options) noexcept;
  // For a small message (is_small()) without a reply. Requires gathers(). It goes into the batch for `pe`, if one has
  // been begun and has room.
  [[gnu::always_inline]] bool try_append(int pe, HandlerId id, Bytes header, Bytes payload) noexcept {
    return coalescer_.try_append(pe, id, header, payload);
  }
  // The same; sends it at once if `pe` is idle, and begins a batch otherwise.
  SmallSent try_send_small(int pe, HandlerId id, Bytes header, Bytes payload, SendOptions options) noexcept;
  // Returns whether an acknowledgement that has not been received yet may let small messages to `pe` leave at once.
  bool may_have_become_idle(int pe) const noexcept;
  static constexpr bool is_small(std::size_t bytes) noexcept { return Coalescer::takes(bytes); }
  // For a short message that may leave together with others even if `pe` is idle.
  [[gnu::always_inline]] bool try_send_coalesced(int pe, HandlerId id, Bytes header, Bytes payload,
                                                 SendOptions options = {}) noexcept {
    if (coalescer_.try_append(pe, id, header, payload)) [[likely]]
      return true;
    return begin_batch(pe, {.id = id, .options = options, .urgency = transport::Urgency::gather}, header, payload);
  }
  // Sends the batch for `pe`, or all batches. Returns whether none is left.
  bool send_batch(int pe, const NetSend& how) noexcept;
  bool send_batches() noexcept;
  // Sends the batches that have become old, and what the networks hold. To be called at intervals. Returns false if
  // there was nothing.
  bool send_old_batches(std::uint64_t now_ns) noexcept;
  // Sends all that has been gathered, here and in the networks.
  void flush_gathered() noexcept;
  // Sends what the networks have gathered.
  void flush_networks() noexcept {
    if (poll_.gathered) flush_networks_slow();
  }
  // Returns whether small messages with these options may gather.
  static bool gathers(SendOptions options) noexcept;
  const GatherCounts& counts() const noexcept { return counts_; }
  // Of all networks together.
  transport::FrameCounts frames() const noexcept;

  // ---- flush ----
  // Returns whether `pe` has executed what was sent to it, up to message `number`.
  bool has_executed(int pe, nemesis::Number number) const noexcept {
    // By the distance from the last message: billions of others may have followed the one in question.
    const NetPeer& peer = peers_[pe];
    return peer.sent - peer.executed <= peer.sent - number;
  }
  nemesis::Number last_counted(int pe) const noexcept { return peers_[pe].last_counted; }
  // The number of messages to `pe` that it acknowledges, and of those of `pe` that have been executed here.
  nemesis::Number sent_to(int pe) const noexcept { return peers_[pe].sent; }
  nemesis::Number executed_of(int pe) const noexcept { return acks_.executed(pe); }
  // For UnflushedPes::drop().
  bool drop_if_flushed(int pe) noexcept;

  // ---- receiving ----
  // Polls the networks. `expected`: the PE that the caller waits for, -1: any. `polls` counts the calls of the caller.
  // Returns true if anything has arrived or moved.
  bool poll(int expected, std::uint32_t polls) noexcept;
  // From now on polls are of a thread that waits for nothing, or of one that waits again: then they send all batches.
  void set_waiting(bool waiting) noexcept { poll_.waiting = waiting; }
  void deliver(int source, const transport::Header& header, Bytes message) noexcept override;
  // Delivers the items of a batch, each as a message of its own.
  void deliver_batch(const Message& message) noexcept;
  std::byte* placement(int source, const transport::Header& fixed, Bytes header,
                       std::size_t payload_bytes) noexcept override;
  void placed(int source, const transport::Header& fixed, Bytes header, std::size_t payload_bytes) noexcept override;
  void lost(int pe, const std::string& cause) noexcept override;

  // ---- networks ----
  // Returns whether it is known which network leads to `pe`. Otherwise that is being probed: poll and try again.
  [[gnu::always_inline]] bool has_path(int pe) noexcept { return peer_of(pe).has_path || find_path(pe); }
  // Returns the network to `pe`; another one may take its place until has_path().
  transport::Transport& network_of(int pe) const noexcept {
    return *networks_[std::atomic_ref(route_[pe]).load(std::memory_order_relaxed)];
  }
  // Returns whether that network has followed one that failed.
  bool has_followed(int pe) const noexcept { return probe_.has_followed(pe); }
  // Returns whether another network takes over if that one fails.
  bool has_reserve(int pe) const noexcept { return probe_.needs_kept(pe); }
  // Returns null if this PE has no network of that name.
  transport::Transport* network_called(std::string_view name) const noexcept;
  // The PEs with which messages have been exchanged, in the order of contact. The list grows at its end.
  const std::vector<std::int32_t>& contacts() const noexcept { return contacts_; }
  // Returns whether messages have been exchanged with `pe`, so that it is worth sending it the stage of this PE.
  bool has_exchanged(int pe) const noexcept { return peers_[pe].is_contact && peers_[pe].was_reached; }
  // Returns true if a thread may sleep on the descriptors: poll() would find nothing, and nothing is held back here.
  // `leaves_batches`: the thread comes back for what is held back, by send_old_batches().
  bool arm(bool leaves_batches = false) noexcept;
  std::vector<int> descriptors() const;
  // `pe` has passed the end of its job, or is back.
  void note_left(int pe, bool has_left) noexcept { peer_of(pe).has_left = has_left; }
  // Waits until the PEs of other nodes have executed all messages, or have left themselves. For jobs in which a network
  // may have to take over what another one has lost. From now on PEs may be lost.
  void finish(std::uint32_t patience_ms) noexcept;
  bool keeps_any() const noexcept { return probe_.keeps_any(); }
  void close(std::uint32_t patience_ms) noexcept;

 private:
  NetPeer& peer_of(int pe) noexcept { return peers_[pe]; }
  void note_contact(int pe, NetPeer& peer) noexcept {
    if (peer.is_contact) return;
    peer.is_contact = true;
    contacts_.push_back(pe);
  }
  bool find_path(int pe) noexcept;
  void check_path(int pe) noexcept { peers_[pe].has_path = peers_[pe].has_path && probe_.is_open(pe); }
  transport::Sent send_kept(int pe, const NetSend& how, transport::Header fixed, Bytes header, Bytes payload) noexcept;
  bool try_send_mark(int pe) noexcept;
  bool resend(int pe, std::uint64_t received, bool is_first) noexcept;
  void keep_going() noexcept;
  void lose(int pe, const std::string& cause) noexcept;
  std::byte* find_place(int source, const transport::Header& fixed, Bytes header, std::size_t payload_bytes) noexcept;
  void receive_probe(int source, const transport::Header& header, Bytes message) noexcept;
  transport::Sent send_now(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept;
  [[gnu::noinline]] bool begin_batch(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept;
  transport::Sent send_alone(int pe, NetSend how, const Batch& batch) noexcept;
  bool send_contents(int pe, const NetSend& how, const Batch& batch) noexcept;
  template <class IsDue>
  bool send_due_batches(IsDue&& is_due) noexcept;
  void send_batches_of_idle() noexcept;
  [[gnu::noinline]] void flush_networks_slow() noexcept;
  [[gnu::noinline]] bool follows_burst(int pe) noexcept;
  bool is_idle(int pe) const noexcept { return has_executed(pe, last_counted(pe)); }
  void note_unflushed(int pe) noexcept;
  void note_header(int source, const transport::Header& header) noexcept;
  void note_executed(int source, const transport::Header& header, std::size_t bytes) noexcept;
  bool acknowledge(AckTracker::Scope scope) noexcept;
  void acknowledge_at_poll(std::uint32_t polls) noexcept;

  std::vector<transport::Transport*> networks_;
  std::uint8_t* route_ = nullptr;  // by PE: its index in networks_, or kNodeRoute
  ContactTable<NetPeer> peers_;
  std::vector<std::int32_t> contacts_;
  AckTracker acks_;
  Coalescer coalescer_;
  PathProbe probe_;
  KeptMessages kept_;
  PendingPlaces places_;
  std::vector<std::int32_t> unmarked_;                         // PEs that have to acknowledge replies
  std::vector<std::unique_ptr<transport::Outgoing>> lasting_;  // payloads that transports still read
  Dispatch* dispatch_ = nullptr;
  nemesis::UnflushedPes* unflushed_ = nullptr;
  std::uint64_t burst_ns_ = 0;
  bool any_resumes_ = false;  // a network sends again what gets lost, at times that arm() prepares
  void (*lost_)(int pe, const std::string& cause) = nullptr;
  transport::Urgency least_ = transport::Urgency::now;
  struct {
    unsigned network = 0;          // the one that is polled
    std::uint32_t received = 0;    // messages that the last poll brought
    bool gathered = false;         // a network holds messages for flush()
    bool waiting = true;           // by a thread that waits
    bool is_acknowledged = false;  // a PE for which there is a batch has executed all that was sent
    std::uint32_t turn = 1;        // counts waits, and flushes of the networks: ends of bursts
  } poll_;
  GatherCounts counts_;
  std::uint64_t looked_ns_ = 0;  // when batches were last looked at for their age
  bool is_finishing_ = false;
  bool closed_ = false;
};

// The channel of this process, which exists from the first call on: transports are opened with it before the endpoint.
NetChannel& net_channel() noexcept;
inline transport::Sink& network_sink() noexcept { return net_channel(); }

// The progress thread of the networks, as this layer sees it.
struct NetworkThread {
  std::atomic<bool> runs{false};         // so batches leave without a call of the program
  std::atomic<bool> sleeps_long{false};  // it notices by itself neither what is held back nor what is sent
  void (*wake)() = nullptr;              // set by runtime before the thread starts
};
inline constinit NetworkThread network_thread;

inline bool NetChannel::gathers(SendOptions options) noexcept {
  const bool leaves = network_thread.runs.load(std::memory_order_relaxed);  // set at init, cleared at the end
  return options.counted && (options.held || (options.gathers && leaves));
}

inline bool NetChannel::may_have_become_idle(int pe) const noexcept {
  return network_thread.sleeps_long.load(std::memory_order_relaxed) &&  // a hint
         !is_idle(pe) && !coalescer_.holds(pe);
}

// Returns the number of batches that have been begun, a hint for any thread.
std::uint32_t gathered_batches() noexcept;
// The time between two looks at the age of batches.
inline constexpr std::uint64_t kLookIntervalNs = 50'000;

}  // namespace shmemx::am
