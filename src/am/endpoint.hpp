// The endpoint: ordered messages between PEs, each executed by a handler at the receiver. PEs of this node are reached
// through nemesis::ShmChannel, where a message always fits a cell (max_payload_bytes()); PEs of other nodes
// ("internode" ones) through NetChannel, where messages may be long.
//
// One endpoint for each PE. Whoever sends or polls holds its lock, and reaches it through Locked; handlers run under
// the lock, in the order in which one source sent. Messages of different sources have no order.
//
// Back-pressure: progress::send() polls until there is a cell, so all PEs may send to all. Handlers never wait: they
// use Endpoint::reply(), which keeps the messages that find no room. A handler may also use try_send() and return
// Verdict::later if it fails: then the message keeps its cell, the handler runs again on a later poll, and later
// messages of the same source overtake it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/dispatch.hpp"
#include "am/endpoint_lock.hpp"
#include "am/handlers.hpp"
#include "am/net_channel.hpp"
#include "am/reply_queue.hpp"
#include "am/stage.hpp"
#include "base/doorbell.hpp"
#include "nemesis/shm_channel.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

template <class T>
Bytes bytes_of(const T& object) noexcept {
  return {reinterpret_cast<const std::byte*>(&object), sizeof(T)};
}

// Registers a function that is called at the end of each poll, under the lock: for senders that have something left
// over. It returns true if it has sent any of that.
void add_progress(bool (*progress)(Endpoint&)) noexcept;

// What runtime opens the endpoint with, at init. All that is named here stays.
struct Setup {
  nemesis::Parts parts;
  int me;
  int n_pes;
  Doorbells doorbells;
  bool many_threads;        // may several threads be in the library at once?
  std::size_t pending_max;  // bytes that handlers may leave unsent
  // By PE: kNodeRoute for PEs of this node, 0 for others. Null if there is one node. See PathProbe.
  std::uint8_t* route = nullptr;
  std::uint8_t (*paths_of)(int pe) = nullptr;
  std::span<transport::Transport* const> networks = {};
  std::uint32_t probe_ms = 0;  // how long each of several networks may take to show that it leads to a PE
  bool net_bypass = true;      // messages to other nodes need not wait for the next poll
  void (*lost)(int pe, const std::string& cause) = nullptr;   // a PE of another node cannot be reached any more
  void (*stage_of)(int pe, const StageNote& note) = nullptr;  // a PE of another node has sent its stage
};
void set_up(const Setup& setup) noexcept;

// Of looks at one network alone, and polls of all.
inline constexpr std::uint32_t kLooksPerPoll = 64;

// Const members need no lock; all others but open() require it. Never destroyed: other threads may still poll while the
// process exits.
class Endpoint {
 public:
  // By set_up().
  void open(const Setup& setup) noexcept;

  // ---- sending ----
  // Returns false if there is no room, or if it is not known yet which network leads to the PE: poll and try again. May
  // poll for messages that gather (Leave::idle, Leave::session), so handlers send none.
  [[nodiscard, gnu::always_inline]] bool try_send(const OutgoingMessage& message) noexcept {
    if (message.leave >= Leave::followed && is_internode(message.pe)) {
      if (Gathering::joins(message) && net_->try_append(message)) [[likely]]
        return true;
      return send_between_nodes(message);
    }
    if (try_send_in_box(message)) [[likely]]
      return true;
    return send_beside_box(message);
  }
  // Sends through the box only. Returns false if it is full, not yet in use, or if the message does not fit.
  [[nodiscard, gnu::always_inline]] bool try_send_in_box(const OutgoingMessage& message) noexcept {
    return shm_.try_send_in_box(message.pe, message.handler, message.header, message.payload);
  }
  // Sends for a caller that keeps nothing in memory (ShmChannel::send_at_once).
  template <class Fill>
  [[nodiscard, gnu::always_inline]] Doorbell* send_at_once(int pe, HandlerId id, std::size_t bytes,
                                                           Fill fill) noexcept {
    return shm_.send_at_once(pe, id, bytes, fill);
  }
  // Sends a message of a handler, or keeps it until there is room (reply_queue.hpp). Ends the job if more is kept than
  // SHMEMX_PENDING_MAX allows.
  void reply(const OutgoingMessage& reply) noexcept;
  // Does what reply() does, but returns false, without an effect, if more would be kept than allowed.
  [[nodiscard]] bool try_reply(const OutgoingMessage& reply) noexcept;
  const ReplyQueue& replies() noexcept { return *replies_; }
  std::size_t pending_max() noexcept { return replies_->limit_bytes(); }
  // Sends all that has been gathered to leave together.
  void flush_gathered() noexcept;
  // Sends what networks hold back while the program sends without waiting (Leave::burst).
  void flush_networks() noexcept {
    if (has_networks_) net_->gathering().flush_networks();
  }

  // ---- PEs of other nodes ----
  bool is_internode(int pe) const noexcept {
    return route_ != nullptr && std::atomic_ref(route_[pe]).load(std::memory_order_relaxed) != kNodeRoute;
  }
  bool has_networks() const noexcept { return has_networks_; }
  // Null in a job of one node.
  NetChannel* net() noexcept { return net_; }
  // See NetChannel.
  bool has_path(int pe) noexcept { return net_->has_path(pe); }
  transport::Transport& network_of(int pe) noexcept { return net_->network_of(pe); }
  bool has_followed(int pe) noexcept { return net_->has_followed(pe); }
  bool has_reserve(int pe) noexcept { return net_->has_reserve(pe); }
  // To be called before functions of transport::Rma that may receive messages, with network_number() of a PE that the
  // network leads to.
  void begin_operations(unsigned network) noexcept { net_->begin_operations(network); }
  // Counts a look at one network alone as a poll, in activity(). Returns true if a poll is due.
  [[gnu::always_inline]] bool note_look() noexcept {
    const std::uint32_t polls = polls_.load(std::memory_order_relaxed) + 1;  // written under the lock
    polls_.store(polls, std::memory_order_relaxed);
    return polls % kLooksPerPoll == 0;
  }
  unsigned network_number(int pe) const noexcept { return net_->network_number(pe); }
  transport::Transport* network_called(std::string_view name) noexcept {
    return net_ == nullptr ? nullptr : net_->network_called(name);
  }
  void close_networks(std::uint32_t patience_ms) noexcept;
  void set_resting(bool resting) noexcept { dispatch_->set_resting(resting); }

  // ---- receiving ----
  // Runs the handlers of messages that have arrived. Returns true if there was something. `expected` is the PE that the
  // caller waits for, -1 if any: while that PE keeps delivering, other sources are polled only occasionally. While
  // fastboxes deliver, everything else is.
  bool poll(int expected = -1) noexcept {
    const std::uint32_t polls = polls_.load(std::memory_order_relaxed) + 1;  // written under the lock
    polls_.store(polls, std::memory_order_relaxed);
    if (expected >= 0 && polls % kPollsOfExpected != 0 && poll_box(expected)) return true;
    return poll_all(expected, polls);
  }
  // Polls for a thread that does not wait: it leaves batches to fill.
  bool poll_in_passing() noexcept;
  // Calls take(payload) if the next message of `source` lies in its box and is for `id`, without its handler: a waiter
  // that knows which message must come next saves the dispatch. A message that is not taken is left for poll().
  template <class Take>
  [[gnu::always_inline]] nemesis::Taken take_next(int source, HandlerId id, Take take) noexcept {
    return shm_.take_next(source, id, take);
  }
  // Takes for a caller that keeps nothing in memory (ShmChannel::take_at_once).
  template <class Take>
  [[gnu::always_inline]] Doorbell* take_at_once(int source, HandlerId id, std::uint16_t bytes, Take take) noexcept {
    return shm_.take_at_once(source, {id, 0, bytes}, take);
  }
  // Returns whether the receive queue holds anything.
  bool has_cells() noexcept { return shm_.has_cells(); }
  // For a thread that has registered as a sleeper of the doorbell: sends what handlers have left, and runs the progress
  // functions, since what they wait for may have come before. Returns false if something could be done, or if poll()
  // would find a message of this node: then it must not sleep.
  bool arm() noexcept;
  // Returns the number of polls, a hint for the progress threads.
  std::uint32_t activity() const noexcept { return polls_.load(std::memory_order_relaxed); }

  // ---- flush ----
  // Returns whether `pe` has executed what was sent to it, up to message `number`.
  bool is_flushed(int pe, nemesis::Number number) noexcept {
    return is_internode(pe) ? net_->has_executed(pe, number) : shm_.has_executed(pe, number);
  }
  // Returns the number of the last message to `pe` that a flush waits for.
  nemesis::Number number_to_flush(int pe) noexcept {
    return is_internode(pe) ? net_->last_counted(pe) : shm_.last_sent(pe);
  }
  // Sends what is held back for `pe`, of another node, to leave together with others. Returns whether nothing is held
  // back any more.
  bool try_send_held(int pe) noexcept { return net_->gathering().send_batch(pe); }
  // The PEs to which messages were sent that may not have been executed yet: their number, and the i-th of them (-1 if
  // the list has become shorter). drop_flushed() removes those where all has been executed.
  std::size_t unflushed_count() noexcept;
  int unflushed_pe(std::size_t i) noexcept { return unflushed_->at(i); }
  void drop_flushed() noexcept;

  int me() const noexcept { return shm_.me(); }
  int n_pes() const noexcept { return shm_.n_pes(); }
  std::size_t max_payload_bytes() const noexcept { return shm_.max_payload_bytes(); }
  Doorbell& doorbell_of(int pe) const noexcept { return shm_.doorbell_of(pe); }

 private:
  static constexpr std::uint32_t kPollsOfExpected = 16;

  // By value, so that the callers, whose inlined part needs none of it in memory, keep it in registers.
  [[gnu::noinline]] bool send_between_nodes(OutgoingMessage message) noexcept;
  [[gnu::noinline]] bool send_beside_box(OutgoingMessage message) noexcept;
  bool send_kept_replies() noexcept;
  bool run_progress() noexcept;
  bool poll_box(int source) noexcept;
  bool poll_all(int expected, std::uint32_t polls) noexcept;
  bool poll_networks(int expected, std::uint32_t polls) noexcept;

  nemesis::ShmChannel shm_;
  std::atomic<std::uint32_t> polls_{0};
  bool has_networks_ = false;
  std::uint8_t* route_ = nullptr;  // see Setup
  NetChannel* net_ = nullptr;
  Dispatch* dispatch_ = nullptr;
  ReplyQueue* replies_ = nullptr;
  nemesis::UnflushedPes* unflushed_ = nullptr;
};

// The process's endpoint with its lock held. Not recursive; never constructed inside a handler.
class Locked {
 public:
  Locked() noexcept { endpoint_lock.lock(); }
  ~Locked() { endpoint_lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  Endpoint* operator->() const noexcept { return &own_; }
  Endpoint& operator*() const noexcept { return own_; }
  // For what runs under the lock and is handed no endpoint.
  static Endpoint& held() noexcept { return own_; }

 private:
  friend const Endpoint& own_endpoint() noexcept;
  friend void set_up(const Setup& setup) noexcept;
  static constinit Endpoint own_;
};
inline constinit Endpoint Locked::own_;

// Holds the lock if no other thread does.
class TryLocked {
 public:
  TryLocked() noexcept : is_held_(endpoint_lock.try_lock()) {}
  ~TryLocked() {
    if (is_held_) endpoint_lock.unlock();
  }
  TryLocked(const TryLocked&) = delete;
  TryLocked& operator=(const TryLocked&) = delete;
  explicit operator bool() const noexcept { return is_held_; }
  Endpoint* operator->() const noexcept { return &Locked::held(); }
  Endpoint& operator*() const noexcept { return Locked::held(); }

 private:
  bool is_held_;
};

// What needs no lock.
inline const Endpoint& own_endpoint() noexcept { return Locked::own_; }

// Takes and releases the lock, for ThreadSanitizer alone: it does not see that a barrier of processes, or a lock in
// memory that they share, orders what the threads of one of them do.
inline void order_for_sanitizer() noexcept {
#if defined(__SANITIZE_THREAD__)
  const Locked endpoint;
#endif
}

// Return the largest header plus payload: to a PE of this node, and to `pe`.
std::size_t max_payload_bytes() noexcept;
inline constexpr std::size_t kMaxInternodeBytes = std::size_t{1} << 30;
inline bool has_networks() noexcept { return own_endpoint().has_networks(); }
inline bool is_internode(int pe) noexcept { return own_endpoint().is_internode(pe); }
// Returns whether a message of this length to that PE is one that may gather with others (Leave).
inline bool may_gather(int pe, std::size_t bytes) noexcept { return is_internode(pe) && Gathering::is_small(bytes); }
inline std::size_t max_payload_bytes(int pe) noexcept {
  return is_internode(pe) ? kMaxInternodeBytes : max_payload_bytes();
}

// Releases the lock after a poll that has handled something if `any`.
inline bool end_poll(bool any) noexcept {
  endpoint_lock.unlock();
  // Another thread of this PE may sleep until what has just been handled.
  if (any && endpoint_lock.is_shared()) wake(own_endpoint().doorbell_of(own_endpoint().me()));
  return any;
}

// Polls once, unless another thread does. Returns true if something was handled.
inline bool poll(int expected = -1) noexcept {
  return endpoint_lock.try_lock() && end_poll(Locked::held().poll(expected));
}
// Polls for a thread that does not wait (Endpoint::poll_in_passing).
inline bool poll_in_passing() noexcept {
  return endpoint_lock.try_lock() && end_poll(Locked::held().poll_in_passing());
}

// For the networks' progress thread. Returns true if a thread may sleep on the descriptors of all networks; false also
// if another thread uses the endpoint, perhaps for as long as a network takes to copy a long message: it will look
// after what is left.
// `leaves_batches`: it comes back for open batches, by send_old_batches().
bool is_quiet_for_sleep(bool leaves_batches = false) noexcept;
// Sends the batches that have become old, unless another thread uses the endpoint. Returns false if none were found.
bool send_old_batches() noexcept;
// Returns the descriptors to sleep on, at most transport::kMaxTransports.
std::vector<int> network_descriptors();

}  // namespace shmemx::am
