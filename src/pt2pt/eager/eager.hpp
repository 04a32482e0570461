// Eager messages: they leave before their receive is known. One message of the endpoint where that is long enough, else
// several, which are never mixed with others to the same PE.
#pragma once

#include <cstddef>

#include "base/contact_table.hpp"
#include "pt2pt/matching.hpp"
#include "pt2pt/pieces.hpp"
#include "pt2pt/platform.hpp"
#include "pt2pt/request.hpp"
#include "pt2pt/send_queue.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {

class Eager {
 public:
  void start(Platform& platform, const Settings& settings, MatchingContexts& matching, Pieces& pieces) noexcept;
  // Forgets messages that have not arrived completely.
  void clear() noexcept;

  // ---- sender ----
  // Returns true if a message of that shape to that PE is sent eagerly.
  bool takes(int pe, const Shape& shape) noexcept {
    if (shape.bytes <= kEagerBytesOfRange) return true;
    if (!may_arrive(pe, shape.bytes)) return false;
    return shape.kind != Shape::Kind::contiguous || settings_->crowded || settings_->lmt == LmtChoice::queue ||
           platform_->is_internode(pe);
  }
  // Sends what there is room for.
  Step push(Request& send) noexcept;
  // Sends to this PE itself. With `copied` the message is copied if it finds no receive, so the send completes.
  void send_to_self(SendRequest& send, bool copied) noexcept;

  // ---- receiver ----
  // Returns true if an eager message to or from that PE can be so long.
  bool may_arrive(int pe, std::size_t bytes) noexcept {
    return bytes <= kEagerBytes || (bytes <= kInternodeEagerBytes && platform_->is_internode(pe));
  }
  void on_eager(int source, Payload payload) noexcept;
  // Returns where the data of a long message of another node belong if a receive waits for it whose memory is one
  // range; null: the message is to be delivered. The network reports the end by placed().
  std::byte* placement(int source, Payload header, std::size_t bytes) noexcept;
  void placed(int source, std::size_t bytes) noexcept;
  // The next bytes of the message that `source` has begun.
  void on_more(int source, std::uint64_t offset, Payload data) noexcept;
  // Gives an unexpected message, eager or of this PE itself, to a receive.
  void take(ReceiveRequest& receive, Unexpected& message) noexcept;

 private:
  // A message of several parts that has begun to arrive from a PE: for a receive, or unexpected.
  struct Arrival {
    ReceiveRequest* receive = nullptr;
    Unexpected* message = nullptr;
    std::size_t total = 0;  // 0: none
    std::size_t received = 0;
    bool is_placed = false;  // the network writes it to the receive's memory
  };

  Arrival& arrival(int pe) noexcept { return arrivals_[pe]; }
  void take_whole(ReceiveRequest& receive, int source, int tag, Payload data) noexcept;
  void take_begin(ReceiveRequest& receive, int source, const EagerHeader& header, Payload data) noexcept;
  void begin_arrival(int source, const EagerHeader& header, Payload data) noexcept;
  void take_own(SendRequest& send, ReceiveRequest& receive) noexcept;

  Platform* platform_ = nullptr;
  const Settings* settings_ = nullptr;
  MatchingContexts* matching_ = nullptr;
  Pieces* pieces_ = nullptr;
  ContactTable<Arrival> arrivals_;
};

}  // namespace shmemx::pt2pt
