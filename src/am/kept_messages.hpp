// Messages to PEs of other nodes that are kept until they have been executed, so that another network can take them
// over when the one that carries them fails in mid-job. Only where a pair of PEs has such a network, and the one in use
// does not itself continue after a failure (transport::Capabilities::resumes).
//
// Both sides count the messages of a direction, over all networks: the PE that sends knows the number of each, and the
// PE that receives says how many it has had. Those behind are sent once more, in order, so each is executed once.
//
// Short messages are copied. A long payload that its sender leaves in place stays in use until the message has been
// executed. Under the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/contact_table.hpp"
#include "nemesis/fastbox.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

using transport::Bytes;

struct KeptMessage {
  transport::Header fixed;
  nemesis::Number after;        // once the PE has executed this many, the message has been executed, too
  std::vector<std::byte> copy;  // the header; behind it the payload, unless it is used in place
  Bytes in_place;
  transport::Outgoing* outgoing = nullptr;  // of the sender of a payload in place
  transport::Outgoing lent;                 // what the network says about the payload
  bool is_lent = false;                     // to the network, until `lent` is done

  // Hands it to a network.
  transport::Sent send(transport::Transport& network, int pe, transport::Urgency urgency);
  Bytes header() const noexcept { return Bytes(copy).first(fixed.header_bytes); }
  Bytes payload() const noexcept { return outgoing != nullptr ? in_place : Bytes(copy).subspan(fixed.header_bytes); }
};

class KeptMessages {
 public:
  // For one PE; then the sender waits. A receiver acknowledges each kAckedMessages or kAckedBytes, also while its
  // program computes, so that a sender depends on its progress thread only.
  static constexpr std::size_t kMostMessages = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;
  static constexpr nemesis::Number kAckedMessages = kMostMessages / 4;
  static constexpr std::size_t kAckedBytes = kMostBytes / 4;

  void open(std::size_t n_pes) { peers_.open(n_pes); }

  // Returns whether another message to `pe` may be kept. Otherwise acknowledgements have to come first.
  bool has_room(int pe) const noexcept;
  // Returns whether messages are kept that `pe` may not have executed.
  bool holds(int pe) const noexcept {
    const Peer* const peer = peers_.find(pe);
    return peer != nullptr && !peer->messages.empty();
  }
  // Makes a message, to be handed to a network and then kept or dropped.
  static std::unique_ptr<KeptMessage> make(const transport::Header& fixed, Bytes header, Bytes payload,
                                           transport::Outgoing* outgoing);
  // Keeps a message that has left. `sent`: the number of messages to the PE that it acknowledges, with this one.
  void keep(int pe, std::unique_ptr<KeptMessage> message, nemesis::Number sent, bool is_reply);
  // Returns whether so much has been kept since the last message that the PE acknowledges that it should get one.
  bool needs_mark(int pe) const noexcept;
  // The PE has executed `executed` of `sent` messages.
  void drop_executed(int pe, nemesis::Number executed, nemesis::Number sent) noexcept;
  // Finds payloads that networks have been late to release.
  void release_lent() noexcept;

  // ---- another network takes over ----
  // The PE has had `received` messages. Returns false if messages that it lacks are not kept.
  bool rewind(int pe, std::uint64_t received) noexcept;
  // Sends what is behind by try_send(message), which may refuse. Returns whether all have left.
  template <class TrySend>
  bool resend(int pe, TrySend&& try_send) {
    Peer& peer = *peers_.find(pe);
    while (peer.resent < peer.messages.size()) {
      if (!try_send(*peer.messages[peer.resent])) return false;
      ++peer.resent;
    }
    return true;
  }

 private:
  struct Peer {
    std::deque<std::unique_ptr<KeptMessage>> messages;
    std::uint64_t first = 0;  // number of the first one
    std::size_t resent = 0;   // of those kept, by the network that has taken over
    std::size_t bytes = 0;    // copied
    std::size_t replies = 0;  // since the last message that is acknowledged
    std::size_t reply_bytes = 0;
  };
  void drop_first(Peer& peer) noexcept;

  Contacts<Peer> peers_;
  std::vector<std::unique_ptr<KeptMessage>> lent_;  // executed, but a network has not released the payload
};

}  // namespace shmemx::am
