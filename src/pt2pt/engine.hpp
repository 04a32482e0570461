// Two-sided messages of one PE: puts matching, eager messages, rendezvous and LMTs together. All functions are called
// under the endpoint's lock. Nothing here waits.
#pragma once

#include "pt2pt/eager/eager.hpp"
#include "pt2pt/lmt/transfers.hpp"
#include "pt2pt/matching.hpp"
#include "pt2pt/pieces.hpp"
#include "pt2pt/rendezvous/rendezvous.hpp"
#include "pt2pt/send_queue.hpp"

namespace shmemx::pt2pt {

struct SendMode {
  bool synchronous = false;
  bool blocking = false;  // to this PE: the message is copied, since nobody could receive it meanwhile
};

class Engine final : private Pusher {
 public:
  constexpr Engine() noexcept = default;
  void start(Platform& platform, const Settings& settings) noexcept;
  // Forgets everything that is open.
  void stop() noexcept;

  // Returns true if a message to that PE may be sent past the engine, as one eager message: nothing else waits to be
  // sent.
  bool is_clear(int pe, std::size_t bytes) const noexcept {
    return bytes <= one_message_bytes_ && send_queue_.is_empty() && pe != settings_.me;
  }
  // Returns true if no message and no receive could be matched before another one.
  bool is_bare() const noexcept { return matching_.program().is_bare(); }

  // Start a request, which may be complete at once. It ends with give_back(). Return null if there is no memory.
  SendRequest* send(const Cursor& source, int pe, int tag, SendMode mode) noexcept;
  [[gnu::always_inline]] ReceiveRequest* receive(const Cursor& dest, Key key, bool blocking) noexcept {
    ReceiveRequest* const receive = requests_.receives.take();
    if (receive == nullptr) [[unlikely]]
      return nullptr;
    receive->begin(dest, key.source, key.tag);
    Matching& matching = matching_.of(key.tag);
    if (Unexpected* const message = matching.find(key)) {
      take(*receive, *message);
    } else {
      matching.post(*receive, key, blocking);
    }
    return receive;
  }
  // Receives an unexpected message at once. Returns false, without an effect, if none fits that has arrived whole.
  bool take_unexpected(Key key, Place dest, Result& out) noexcept;
  // Returns the request of a message that has been sent past the engine; null if there is no memory.
  SendRequest* note_sent(int pe, int tag, std::size_t bytes) noexcept;
  // Returns false if the receive has been matched already.
  bool cancel(ReceiveRequest& receive) noexcept { return matching_.program().cancel(receive); }
  // Returns the oldest unexpected message of the program that fits; null if there is none.
  const Unexpected* probe(Key key) noexcept { return matching_.program().find(key); }
  // Returns the oldest unexpected message of the library's own collectives that fits; null if there is none.
  const Unexpected* probe_internal(Key key) noexcept { return matching_.of(key.tag).find(key); }
  // Opens a request that a higher layer completes by complete(), as for a collective. It cannot be cancelled. `group`
  // is a number of that layer's. Returns null if there is no memory.
  Operation* open_operation(std::uint32_t group) noexcept;
  // Returns how many such requests are open, complete ones included: of all groups, or of one.
  std::size_t open_operations() const noexcept { return requests_.operations.live(); }
  std::size_t open_operations_of(std::uint32_t group) const noexcept;

  bool has_progress() const noexcept { return !transfers_.is_empty() || !send_queue_.is_empty(); }
  // Returns true if something has moved.
  bool progress() noexcept { return has_progress() && progress_some(); }

  Request* find(RequestId id) noexcept { return requests_.find(id); }
  void give_back(Request& request) noexcept { requests_.give_back(request); }
  std::size_t open_requests() const noexcept { return requests_.live(); }

  // Handle messages of the endpoint.
  void on_eager(int source, Payload payload) noexcept { eager_.on_eager(source, payload); }
  void on_rts(int source, Payload payload) noexcept { rendezvous_.on_rts(source, payload); }
  void on_cts(int source, Payload payload) noexcept { rendezvous_.on_cts(source, payload); }
  void on_cookie(int source, Payload payload) noexcept { rendezvous_.on_cookie(source, payload); }
  void on_done(int source, Payload payload) noexcept { rendezvous_.on_done(source, payload); }
  void on_data(int source, Payload payload) noexcept;
  // As Eager::placement and Eager::placed.
  std::byte* eager_placement(int source, Payload header, std::size_t bytes) noexcept {
    return eager_.placement(source, header, bytes);
  }
  void eager_placed(int source, std::size_t bytes) noexcept { eager_.placed(source, bytes); }
  // As Rendezvous::offer_placement and Rendezvous::offer_placed.
  std::byte* offer_placement(int source, Payload header, std::size_t bytes) noexcept {
    return rendezvous_.offer_placement(source, header, bytes);
  }
  void offer_placed(int source, std::size_t bytes) noexcept { rendezvous_.offer_placed(source, bytes); }
  // As Rendezvous::placement and Rendezvous::placed.
  std::byte* placement(int source, Payload header, std::size_t bytes) noexcept {
    return rendezvous_.placement(source, header, bytes);
  }
  void placed(int source, Payload header, std::size_t bytes) noexcept { rendezvous_.placed(source, header, bytes); }

 private:
  Step push(Request& request) noexcept override;
  void pushed(Request& request) noexcept override;
  // Gives an unexpected message to a receive.
  void take(ReceiveRequest& receive, Unexpected& message) noexcept;
  [[gnu::noinline, gnu::cold]] bool progress_some() noexcept;

  Platform* platform_ = nullptr;
  Settings settings_;
  std::size_t one_message_bytes_ = 0;
  Requests requests_;
  MatchingContexts matching_;
  SendQueue send_queue_;
  Pieces pieces_;
  Transfers transfers_;
  Eager eager_;
  Rendezvous rendezvous_;
};

}  // namespace shmemx::pt2pt
