// Handlers: what layers register for each id, and running the handler of a message that has arrived.
//
// A handler never waits. If it cannot do its work now it returns Verdict::later: the message is kept, the handler runs
// again on a later poll, and later messages of the same source overtake it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/handlers.hpp"
#include "base/bytes.hpp"
#include "nemesis/message.hpp"

namespace shmemx::am {

using shmemx::Bytes;
class Endpoint;

enum class Verdict : std::uint8_t { done, later };

struct Message {
  int source;                   // PE
  Bytes payload;                // valid while the handler runs; 16-byte aligned, 8-byte in a batch
  bool is_one_of_many = false;  // handlers of others run in the same poll: replies may leave together
};

using Handler = Verdict (*)(Endpoint&, const Message&);

// Registers the handler of an id. Each layer calls it at init, before the first message can arrive; at a later init of
// the process it writes nothing, since the progress threads may be reading.
void set_handler(HandlerId id, Handler handler, HandlerTraits traits = {}) noexcept;

// Payloads of at least transport::kLongBytes from PEs of other nodes can be received at their final place. `placement`
// returns that place, or null: then the message is delivered whole. `placed` is called when the payload is complete
// there, in the message's turn. Both run under the lock, like handlers. placement() may end the job if the header is
// damaged.
//
// With HandlerTraits::place_early, `placement` may be called before `placed` of long messages in front. It is never
// called before short ones in front have been handled, and never across a fence of the sender.
struct Placement {
  std::byte* (*placement)(int source, Bytes header, std::size_t payload_bytes) = nullptr;
  void (*placed)(Endpoint&, int source, Bytes header, std::size_t payload_bytes) = nullptr;

  bool operator==(const Placement&) const = default;
};
void set_placement(HandlerId id, Placement placement) noexcept;

struct HandlerEntry {
  Handler handler = nullptr;
  HandlerTraits traits;
  Placement placement;
};
inline constinit HandlerEntry handler_table[kHandlerIds] = {};

// Return what is registered for an id of a message: the defaults if it is not valid.
inline const HandlerTraits& traits_of(unsigned handler) noexcept {
  static constexpr HandlerTraits kDefault{};
  return handler < kHandlerIds ? handler_table[handler].traits : kDefault;
}
inline const Placement& placement_of(unsigned handler) noexcept {
  static constexpr Placement kNone{};
  return handler < kHandlerIds ? handler_table[handler].placement : kNone;
}

// Under the endpoint's lock. Never destroyed: threads may still poll while the process exits.
class Dispatch {
 public:
  explicit Dispatch(Endpoint& endpoint) noexcept : endpoint_(endpoint) {}

  // Runs the handler of a message of this node. Returns false if the message's cell is kept.
  bool deliver(const nemesis::ShmMessage& message) noexcept {
    if (run(message.source, message.handler, message.payload) == Verdict::done) [[likely]]
      return true;
    return defer(message);
  }
  // Runs the handler of a message whose payload is valid during the call only.
  void deliver(int source, unsigned handler, Bytes payload) noexcept {
    deliver(nemesis::ShmMessage{source, handler, payload, nullptr});
  }
  // Runs the handler of an item of a batch, which is valid during the call only.
  void deliver_item(int source, unsigned handler, Bytes payload) noexcept {
    in_batch_ = true;
    deliver(source, handler, payload);
    in_batch_ = false;
  }
  // Calls `placed` of a handler that has a placement.
  void deliver_placed(int source, unsigned handler, Bytes header, std::size_t payload_bytes) noexcept;
  bool has_deferred() const noexcept { return !deferred_.empty(); }
  // Runs the handlers of kept messages again, in the order in which they came; give_back(cell) returns a cell. Returns
  // whether any has been done.
  template <class GiveBack>
  bool run_deferred(GiveBack&& give_back) noexcept {
    std::vector<Deferred> list;
    list.swap(deferred_);  // handlers may add to it
    in_batch_ = list.size() > 1;
    std::size_t kept = 0;
    for (Deferred& message : list) {
      if (run_again(message) == Verdict::later) {
        if (&list[kept] != &message) list[kept] = std::move(message);
        ++kept;
      } else if (message.cell != nullptr) {
        give_back(message.cell);
      }
    }
    in_batch_ = false;
    const bool any = kept != list.size();
    list.resize(kept);
    for (Deferred& added : deferred_) list.push_back(std::move(added));
    deferred_.swap(list);
    return any;
  }

  // Does a handler run? Its messages may use what is reserved for replies.
  bool is_in_handler() const noexcept { return in_handler_; }
  // Calls work() as a handler.
  template <class Work>
  auto as_handler(Work&& work) noexcept {
    in_handler_ = true;
    const auto result = work();
    in_handler_ = false;
    return result;
  }
  // While resting, all messages but those of stages (stage.hpp) are deferred.
  bool is_resting() const noexcept { return resting_; }
  void set_resting(bool resting) noexcept { resting_ = resting; }

 private:
  struct Deferred {
    int source = 0;
    unsigned handler = 0;
    nemesis::Cell* cell = nullptr;  // holds the payload; null: `copy` does
    Bytes in_cell;
    std::vector<std::byte> copy;
  };

  Verdict run(int source, unsigned handler, Bytes payload) noexcept {
    if (resting_ && handler != kStage) [[unlikely]]
      return Verdict::later;
    if (handler >= kHandlerIds || handler_table[handler].handler == nullptr) [[unlikely]]
      reject(source, handler);
    return as_handler([&] { return handler_table[handler].handler(endpoint_, Message{source, payload, in_batch_}); });
  }
  Verdict run_again(const Deferred& message) noexcept {
    return run(message.source, message.handler, message.cell != nullptr ? message.in_cell : Bytes(message.copy));
  }
  [[gnu::cold, gnu::noinline]] bool defer(const nemesis::ShmMessage& message) noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] static void reject(int source, unsigned handler) noexcept;

  Endpoint& endpoint_;
  bool in_handler_ = false;
  bool in_batch_ = false;  // see Message::is_one_of_many
  bool resting_ = false;
  std::vector<Deferred> deferred_;
};

}  // namespace shmemx::am
