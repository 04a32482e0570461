// What jobs need in which one network may take over from another in mid-job (PathProbe::keeps_any()): messages that
// are kept until they have been executed, and places of long messages that are not complete. Other jobs have none of
// it. Under the endpoint's lock.
//
// Replies are not acknowledged. Behind some of them an empty message follows that is: a mark.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "am/ack_tracker.hpp"
#include "am/kept_messages.hpp"
#include "am/net_peers.hpp"
#include "am/path_probe.hpp"
#include "am/pending_places.hpp"

namespace shmemx::am {

class Reserve {
 public:
  Reserve(NetPeers& peers, AckTracker& acks, PathProbe& paths, std::size_t n_pes)
      : peers_(peers), acks_(acks), paths_(paths) {
    kept_.open(n_pes);
  }
  // A sender waits when so much is kept, so the receiver acknowledges before.
  static constexpr AckLimits kAckLimits{KeptMessages::kAckedMessages, KeptMessages::kAckedBytes};

  // Sends a message and keeps it. Returns Sent::later for a long payload that stays in use until it has been executed.
  transport::Sent send(int pe, const transport::Header& fixed, Bytes header, Bytes payload,
                       transport::Outgoing* outgoing, transport::Urgency urgency) noexcept;
  // Drops what `pe` has executed.
  void drop_executed(int pe) noexcept { kept_.drop_executed(pe, peers_[pe].executed, peers_[pe].sent); }
  // Returns whether `pe` has still to execute something, or to say that it has.
  bool is_unfinished(int pe) const noexcept {
    const NetPeer& peer = peers_[pe];
    return !peer.has_left && (peer.executed != peer.sent || kept_.holds(pe));
  }

  // Returns the place of the next long message of `source`: find() names it once, whichever networks ask.
  template <class Find>
  std::byte* place_of(int source, unsigned network, Find&& find) {
    std::byte* place = nullptr;
    if (places_.find(source, network, place)) return place;
    place = find();
    places_.note(source, network, place);
    return place;
  }
  void note_complete(int source) { places_.note_complete(source); }

  // To be called at each poll. Sends once more what PEs lack to which another network leads now, and marks by
  // send_mark(pe), which returns false if there is no room. Calls lose(pe, cause) for a PE that cannot be helped.
  template <class SendMark, class Lose>
  void progress(SendMark&& send_mark, Lose&& lose) {
    paths_.resume([&](int pe, std::uint64_t received, bool is_first) {
      if (!is_first || rewind(pe, received)) return resend(pe);
      lose(pe, "it lacks messages that are not kept any more, or were never sent");
      return false;
    });
    for (const std::int32_t pe : std::exchange(unmarked_, {})) {
      if (kept_.needs_mark(pe) && !send_mark(pe)) unmarked_.push_back(pe);
    }
    kept_.release_lent();
  }
  // Returns whether polls have to bring something to an end, for which no descriptor becomes readable.
  bool is_busy() const noexcept { return !unmarked_.empty() || paths_.is_busy(); }

 private:
  bool rewind(int pe, std::uint64_t received) noexcept;
  bool resend(int pe) noexcept;

  NetPeers& peers_;
  AckTracker& acks_;
  PathProbe& paths_;
  KeptMessages kept_;
  PendingPlaces places_;
  std::vector<std::int32_t> unmarked_;  // PEs that have to acknowledge replies
};

}  // namespace shmemx::am
