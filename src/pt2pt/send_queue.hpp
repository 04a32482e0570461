// Requests that have something to send: one queue in order for each peer. What finds no cell stays queued and leaves in
// drain(), so nothing here waits.
//
// A queue of deferred messages would not do. A request is queued here: its data stay with the user and leave in as many
// messages as there is room for. Two requests to the same peer may take turns.
#pragma once

#include <vector>

#include "base/contact_table.hpp"
#include "pt2pt/request.hpp"

namespace shmemx::pt2pt {

enum class Step : std::uint8_t {
  blocked,  // no room
  sent,     // all that was to be sent
  rotate    // a part: the others of the same peer are next
};

// Sends for the queue. The engine's own distributes the calls among eager, rendezvous and LMT.
class Pusher {
 public:
  // Sends what `request.next` says, as much as there is room for.
  virtual Step push(Request& request) noexcept = 0;
  // Goes on with a request after Step::sent.
  virtual void pushed(Request& request) noexcept = 0;

 protected:
  ~Pusher() = default;
};

class SendQueue {
 public:
  void start(int n_pes, Pusher& pusher) noexcept;
  void clear() noexcept;

  // Appends the request to the queue of its peer. Sends at once if it is the first there.
  void enqueue(Request& request, Next next) noexcept;
  bool is_empty() const noexcept { return active_.empty(); }
  // Sends what there is room for. Returns true if something was sent.
  bool drain() noexcept;

 private:
  struct PeerQueue {
    Request* first = nullptr;
    Request* last = nullptr;
    bool is_active = false;  // in `active_`
  };

  PeerQueue& queue(int pe) noexcept { return queues_[pe]; }
  bool drain_peer(int pe) noexcept;

  Pusher* pusher_ = nullptr;
  ContactTable<PeerQueue> queues_;
  std::vector<int> active_;  // peers whose queue is not empty, or was not at the last look
};

}  // namespace shmemx::pt2pt
