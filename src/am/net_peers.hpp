// What this process knows of the PEs of other nodes: whether they are reached, how many messages it has sent to each,
// and how many of those have been executed there. Under the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/contact_table.hpp"
#include "nemesis/fastbox.hpp"
#include "nemesis/unflushed_pes.hpp"

namespace shmemx::am {

// Whether messages to a PE may leave:
//   unknown      no message could be sent yet   -> open, once a network leads there
//   open         messages leave                 -> interrupted, when that network fails and another one may follow
//   interrupted  messages wait for it           -> open, once it has taken over
enum class NetPath : std::uint8_t { unknown, interrupted, open };

struct NetPeer {
  nemesis::Number sent = 0;          // messages sent to it that it acknowledges: all but replies
  nemesis::Number executed = 0;      // of those, how many we know it has executed
  nemesis::Number last_counted = 0;  // the last one that a flush waits for
  std::uint32_t fences = 0;          // am::fences when the last message left
  NetPath path = NetPath::unknown;
  bool is_unflushed = false;  // in the list of unflushed PEs
  bool is_contact = false;    // in the list of contacts
  bool has_left = false;      // it needs no messages any more, or is lost
};

class NetPeers {
 public:
  void open(std::size_t n_pes, nemesis::UnflushedPes* unflushed) {
    peers_.open(n_pes);
    unflushed_ = unflushed;
  }
  NetPeer& operator[](int pe) noexcept { return peers_[pe]; }
  const NetPeer& operator[](int pe) const noexcept { return peers_[pe]; }

  // Returns whether `pe` has executed what was sent to it, up to message `number`.
  bool has_executed(int pe, nemesis::Number number) const noexcept {
    // By the distance from the last message: billions of others may have followed the one in question.
    const NetPeer& peer = peers_[pe];
    return peer.sent - peer.executed <= peer.sent - number;
  }
  // Returns whether it has executed all messages that a flush waits for.
  bool is_idle(int pe) const noexcept { return has_executed(pe, peers_[pe].last_counted); }
  // Notes that a message that `pe` acknowledges has left. `counted`: a flush waits for it.
  void note_sent(int pe, NetPeer& peer, bool counted) {
    ++peer.sent;
    note_contact(pe, peer);
    if (!counted) return;
    peer.last_counted = peer.sent;
    note_unflushed(pe, peer);
  }
  // Notes how many messages `pe` has executed. Returns false, and does nothing, if it is known to have executed more.
  bool note_executed(int pe, nemesis::Number executed) noexcept {
    NetPeer& peer = peers_[pe];
    if (!nemesis::reached(executed, peer.executed)) return false;
    peer.executed = executed;
    return true;
  }
  void note_contact(int pe, NetPeer& peer) {
    if (peer.is_contact) return;
    peer.is_contact = true;
    contacts_.push_back(pe);
  }
  // Notes that a flush has to wait for `pe`.
  void note_unflushed(int pe, NetPeer& peer) {
    if (peer.is_unflushed) return;
    peer.is_unflushed = true;
    unflushed_->add(pe);
  }
  // The PEs with which messages have been exchanged, in the order of contact. The list grows at its end.
  const std::vector<std::int32_t>& contacts() const noexcept { return contacts_; }

 private:
  ContactTable<NetPeer> peers_;
  std::vector<std::int32_t> contacts_;
  nemesis::UnflushedPes* unflushed_ = nullptr;
};

}  // namespace shmemx::am
