// Messages to and from PEs of other nodes, over transports, and the counts that tell a sender how many of its messages
// have been executed. Messages may be long; those of one source are executed in the order of sending.
//
// It puts its parts together: PathProbe finds which of several networks leads to a PE, Gathering decides when
// messages leave, NetSender hands messages to networks, AckTracker knows which sources have to be
// acknowledged. Reserve exists only where one network may take over from another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "am/ack_tracker.hpp"
#include "am/dispatch.hpp"
#include "am/gathering.hpp"
#include "am/net_peers.hpp"
#include "am/net_sender.hpp"
#include "am/network_thread.hpp"
#include "am/path_probe.hpp"
#include "am/reserve.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

struct NetSetup {
  PathProbe::Setup paths;
  Dispatch* dispatch;
  nemesis::UnflushedPes* unflushed;
  void (*lost)(int pe, const std::string& cause);      // a PE cannot be reached any more; may be null
  transport::Urgency least = transport::Urgency::now;  // no message is more urgent
  std::uint64_t burst_ns = 20'000;  // the longest time between two messages of a burst: a few system calls
};

// Under the endpoint's lock. Never destroyed: threads may still poll while the process exits.
class NetChannel final : public transport::Sink {
 public:
  void open(const NetSetup& setup);

  // ---- sending ----
  // Returns false if the message cannot leave now, and does not gather.
  bool try_send(const OutgoingMessage& message) noexcept { return gathering_.try_send(message); }
  // Puts the message into the batch for its PE, if one has been begun and has room. For what leaves soon, or gathers.
  [[gnu::always_inline]] bool try_append(const OutgoingMessage& message) noexcept {
    return gathering_.try_append(message);
  }
  Gathering& gathering() noexcept { return gathering_; }
  const GatherCounts& counts() const noexcept { return gathering_.counts(); }
  // Of all networks together.
  transport::FrameCounts frames() const noexcept;

  // ---- flush ----
  // Returns whether `pe` has executed what was sent to it, up to message `number`.
  bool has_executed(int pe, nemesis::Number number) const noexcept { return peers_.has_executed(pe, number); }
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
  // What is delivered from now on comes from this network: it is called outside of poll(), for its own operations. The
  // next poll acknowledges it.
  void begin_operations(unsigned network) noexcept { network_ = network; }
  // From now on polls are of a thread that waits for nothing, or of one that waits again: then they send all batches.
  void set_waiting(bool waiting) noexcept { is_waiting_ = waiting; }
  void deliver(int source, const transport::Header& header, Bytes message) noexcept override;
  // Delivers the items of a batch, each as a message of its own.
  void deliver_batch(const Message& message) noexcept;
  std::byte* placement(int source, const transport::Header& fixed, Bytes header,
                       std::size_t payload_bytes) noexcept override;
  void placed(int source, const transport::Header& fixed, Bytes header, std::size_t payload_bytes) noexcept override;
  void lost(int pe, const std::string& cause) noexcept override;
  void copies(const char* network, std::size_t bytes, const std::string& cause) noexcept override;

  // ---- networks ----
  // Returns whether it is known which network leads to `pe`. Otherwise that is being probed: poll and try again.
  [[gnu::always_inline]] bool has_path(int pe) noexcept { return sender_.has_path(pe); }
  // Returns the network to `pe`; another one may take its place until has_path().
  transport::Transport& network_of(int pe) const noexcept { return paths_.network_to(pe); }
  // Its number, from 0 on.
  unsigned network_number(int pe) const noexcept { return paths_.network_of(pe); }
  // Returns whether that network has followed one that failed.
  bool has_followed(int pe) const noexcept { return paths_.has_followed(pe); }
  // Returns whether another network takes over if that one fails.
  bool has_reserve(int pe) const noexcept { return paths_.needs_kept(pe); }
  // Returns null if this PE has no network of that name.
  transport::Transport* network_called(std::string_view name) const noexcept;
  // As NetPeers::contacts().
  const std::vector<std::int32_t>& contacts() const noexcept { return peers_.contacts(); }
  // Returns whether messages have been exchanged with `pe`, so that it is worth sending it the stage of this PE.
  bool has_exchanged(int pe) const noexcept { return peers_[pe].is_contact && peers_[pe].path != NetPath::unknown; }
  // Returns true if a thread may sleep on the descriptors: poll() would find nothing, and nothing is held back here.
  // `leaves_batches`: the thread comes back for what is held back, by Gathering::send_old().
  bool arm(bool leaves_batches = false) noexcept;
  std::vector<int> descriptors() const;
  // `pe` has passed the end of its job, or is back.
  void note_left(int pe, bool has_left) noexcept { peers_[pe].has_left = has_left; }
  // Waits until the PEs of other nodes have executed all messages, or have left themselves. For jobs in which a network
  // may have to take over what another one has lost. From now on PEs may be lost.
  void finish(std::uint32_t patience_ms) noexcept;
  bool keeps_any() const noexcept { return reserve_ != nullptr; }
  void close(std::uint32_t patience_ms) noexcept;

 private:
  // open -> finishing (finish(): lost PEs are not reported any more) -> closed (close(): nor noticed)
  enum class Stage : std::uint8_t { open, finishing, closed };

  void lose(int pe, const std::string& cause) noexcept;
  std::byte* find_place(int source, const transport::Header& fixed, Bytes header, std::size_t payload_bytes) noexcept;
  bool may_decline(std::size_t payload_bytes) const noexcept;
  void receive_probe(int source, const transport::Header& header, Bytes message) noexcept;
  void note_header(int source, const transport::Header& header) noexcept;
  void note_executed(int source, const transport::Header& header, std::size_t bytes) noexcept;
  bool acknowledge(AckTracker::Scope scope) noexcept;
  void acknowledge_at_poll(std::uint32_t polls) noexcept;
  bool try_send_mark(int pe) noexcept;

  NetPeers peers_;
  AckTracker acks_;
  PathProbe paths_;
  std::unique_ptr<Reserve> reserve_;  // null: no network takes over from another one
  NetSender sender_{peers_, acks_, paths_};
  Gathering gathering_{peers_, sender_};
  Dispatch* dispatch_ = nullptr;
  void (*lost_)(int pe, const std::string& cause) = nullptr;
  Stage stage_ = Stage::open;
  bool is_waiting_ = true;      // polls are of a thread that waits
  unsigned network_ = 0;        // the one that is polled
  std::uint32_t received_ = 0;  // messages that the last poll brought
};

// The channel of this process, which exists from the first call on: transports are opened with it before the endpoint.
NetChannel& net_channel() noexcept;
inline transport::Sink& network_sink() noexcept { return net_channel(); }

}  // namespace shmemx::am
