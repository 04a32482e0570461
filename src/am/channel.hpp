// The channel: ordered messages between PEs, each run by a handler at the receiver. Between PEs of a node short
// messages go through fastboxes, others through cells; there a message always fits one cell (max_payload_bytes()). To
// PEs of other nodes ("internode" ones) messages go through a network (transport/), and may be long.
//
// One endpoint for each PE. Whoever sends or polls holds its lock; handlers run under it, in the order in which one
// source sent. Messages of different sources have no order.
//
// Back-pressure: send() polls until there is a cell, so everybody may send to everybody. Handlers never wait: they use
// Endpoint::reply(), which keeps what finds no room. A handler may also use try_send() and return Verdict::later if it
// fails: then the message keeps its cell, the handler runs again on a later poll, and later messages of the same source
// overtake it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/batch.hpp"
#include "am/handlers.hpp"
#include "am/layout.hpp"
#include "am/reply_queue.hpp"
#include "base/cpu_pause.hpp"
#include "base/doorbell.hpp"
#include "bootstrap/wire.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

// Tells PEs of other nodes how far this PE is: `running` again, `departed`, `finalized` or `ending`.
struct StageNote {
  bootstrap::PePhase phase;
  std::uint32_t reserved = 0;
  std::uint64_t collectives = 0;  // departed: PeRecord::collectives
};

enum class Verdict : std::uint8_t { done, later };

struct Message {
  int source;                          // PE
  std::span<const std::byte> payload;  // valid while the handler runs; 16-byte aligned
};

// In front of the payload in a box; fits nemesis::BoxSlot::head.
struct BoxHead {
  nemesis::Number ack;  // how many of the receiver's messages the sender has finished
  std::uint8_t handler;
  std::uint8_t flags;  // 0
  std::uint16_t bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(BoxHead) == sizeof(nemesis::BoxSlot::head));

template <class T>
Bytes bytes_of(const T& object) noexcept {
  return {reinterpret_cast<const std::byte*>(&object), sizeof(T)};
}

class Endpoint;
using Handler = Verdict (*)(Endpoint&, const Message&);

// Registers the handler of an id. Each layer calls it at init, before the first message can arrive.
void set_handler(HandlerId id, Handler handler, HandlerTraits traits = {}) noexcept;
// Bodies of at least transport::kLongBytes from PEs of other nodes can be received at the place they are for.
// `placement` says where, or null: then the message is delivered whole. `placed` is called when the body lies there, in
// the message's turn. Under the lock, like handlers; placement() may end the job when the header is rubbish.
//
// With HandlerTraits::place_early, `placement` may be called before `placed` of long messages in front. It is never
// called before short ones in front have been handled, and never across a fence of the sender.
struct Placement {
  std::byte* (*placement)(int source, Bytes header, std::size_t body_bytes);
  void (*placed)(Endpoint&, int source, Bytes header, std::size_t body_bytes);
};
void set_placement(HandlerId id, Placement placement) noexcept;
// Called at the end of each poll, under the lock: for senders that have something left over. True: it has moved.
void add_progress(bool (*progress)(Endpoint&)) noexcept;

// What this process remembers of a peer. Zero until first contact.
struct PeerState {
  nemesis::Number sent;      // messages sent to it
  nemesis::Number known;     // of those, how many we know it has finished
  nemesis::Number received;  // messages of it that we have finished
  union {
    nemesis::BoxWriter writer;  // node peer
    std::uint32_t fences;       // internode: so many had been called when the last message went there
  };
  union {
    nemesis::BoxReader reader;  // node peer
    nemesis::Number concerned;  // internode: the last message sent to it that quiet is about
  };
  union {
    std::uint32_t cells_under_way;  // node peer: ours, sent to it and not yet given back
    nemesis::Number told;           // internode: so many of its messages it knows that we have finished
  };
  bool dirty;       // in the list of peers that may have something unfinished
  bool writes_box;  // it has heard that we use our box
  bool reads_box;   // it has said that it uses its box
  // internode
  bool owed : 1;     // in the list of those that may have to be told
  bool waits : 1;    // it may wait for that: we have finished a message of it that quiet is about
  bool untried : 1;  // several networks may lead there, and it is not known which does (am/trials.hpp)
};
static_assert(sizeof(PeerState) <= kCacheLine);

// One process's end of the channel. All members but the constructor want the lock (see Locked).
class Endpoint {
 public:
  // False: no cell is free. `header` and `body` follow each other in the payload.
  [[nodiscard, gnu::always_inline]] bool try_send(int pe, HandlerId id, Bytes header, Bytes body = {},
                                                  SendOptions options = {}) noexcept {
    if (header.size() + body.size() <= nemesis::kBoxPayloadBytes && send_in_box(pe, id, header, body)) [[likely]]
      return true;
    return send_in_cell(pe, id, header, body, options);
  }
  // The same through the box only: false where it is full, not yet in use, or the message does not fit.
  [[nodiscard, gnu::always_inline]] bool try_send_short(int pe, HandlerId id, Bytes header, Bytes body) noexcept {
    return header.size() + body.size() <= nemesis::kBoxPayloadBytes && send_in_box(pe, id, header, body);
  }
  // The same for a body that stays where it is, such as symmetric memory: it may be read later.
  [[nodiscard]] bool try_send_lasting(int pe, HandlerId id, Bytes header, Bytes body) noexcept;
  // To a PE of another node, for who wants to know when the body has been read: at once, or when `outgoing` is done.
  [[nodiscard]] transport::Sent send_tracked(int pe, HandlerId id, Bytes header, Bytes body,
                                             transport::Outgoing& outgoing, SendOptions options = {}) noexcept {
    return send_internode(pe, {id, options, transport::Urgency::now, &outgoing}, header, body);
  }
  // A short message that may leave together with others, at the next poll or before anything else that goes there. Many
  // of them become one message.
  [[nodiscard, gnu::always_inline]] bool try_send_coalesced(int pe, HandlerId id, Bytes header, Bytes body) noexcept {
    if (!is_internode(pe)) return try_send(pe, id, header, body);
    const std::size_t bytes = header.size() + body.size();
    Batch* const batch = batches_[pe];
    if (batch == nullptr || batch->is_empty() || !batch->has_room(bytes)) [[unlikely]]
      return gather_slow(pe, id, header, body);
    batch->append(id, header, body);
    return true;
  }
  // Sends a message of a handler, or keeps it until there is room (reply_queue.hpp). Ends the job if more is kept than
  // SHMEMX_PENDING_MAX allows.
  void reply(const Reply& reply) noexcept;
  // The same, but returns false, and does nothing, if more would be kept than allowed.
  [[nodiscard]] bool try_reply(const Reply& reply) noexcept;
  const ReplyQueue& replies() const noexcept;
  // Of a batch: runs its handler, or keeps it for later.
  void run_item(int source, unsigned handler, Bytes payload) noexcept;
  // What has been gathered leaves now.
  void flush_gathered() noexcept;
  // On another node?
  bool is_internode(int pe) const noexcept { return via_ != nullptr && number_of_network(pe) != 0; }
  // Of a PE of another node; another one may take its place until the first message has gone there.
  transport::Transport& network_of(int pe) const noexcept { return *networks_[number_of_network(pe) - 1U]; }
  // Internode: is it known which network leads there? Otherwise it is being tried; poll.
  [[gnu::always_inline]] bool has_way(int pe) noexcept { return !peers_[pe].untried || try_way(pe); }
  // Null when this PE has none of that name.
  transport::Transport* network_called(std::string_view name) const noexcept;
  // Runs handlers of what has arrived. True when there was something. `expected`: the PE that we wait for, -1: any.
  // Who waits for one PE and gets something from it looks at the rest now and then only.
  bool poll(int expected = -1) noexcept {
    const std::uint32_t polls = polls_.load(std::memory_order_relaxed) + 1;  // written under the lock
    polls_.store(polls, std::memory_order_relaxed);
    if (expected >= 0 && polls % kPollsForOne != 0 && poll_box(expected)) return true;
    return poll_all(expected, polls);
  }
  // Past the handlers: where the next message of `source` lies in its box and is for `id`, take(payload) may take it. A
  // waiter that knows what must come next saves the dispatch. False: it is left for poll().
  template <class Take>
  [[gnu::always_inline]] bool take_next(int source, HandlerId id, Take take) noexcept {
    PeerState& peer = peers_[source];
    BoxHead head;
    nemesis::BoxSlot* const slot = next_in_box(source, peer, head);
    if (slot == nullptr) return false;
    if (head.handler != id || head.bytes > nemesis::kBoxPayloadBytes || !take(Bytes{slot->payload, head.bytes}))
      return false;
    leave_box(source, peer);
    return true;
  }
  // Does anything lie in the receive queue? Boxes are not looked at.
  bool has_cells() noexcept { return !parts_.control(me_).receive.maybe_empty(); }
  // Has `pe` finished what was sent to it, up to message `number`?
  bool is_flushed(int pe, nemesis::Number number) noexcept;
  // What quiet waits for.
  nemesis::Number number_to_flush(int pe) const noexcept {
    return is_internode(pe) ? peers_[pe].concerned : peers_[pe].sent;
  }
  // Sends what is held back for `pe` to leave together with others. Returns whether nothing is held back any more.
  bool try_send_held(int pe) noexcept { return send_batch(pe, transport::Urgency::now); }
  // The PEs to which something was sent that may not have been executed yet: how many, the i-th of them (-1: the list
  // has become shorter), and taking off the list those where all has been executed.
  std::size_t unflushed_count() noexcept;
  int unflushed_pe(std::size_t i) const noexcept;
  void drop_flushed() noexcept;
  // Grows with each poll; a hint for the progress threads.
  std::uint32_t activity() const noexcept { return polls_.load(std::memory_order_relaxed); }
  // Consumer's side: is there anything that poll() would look at?
  bool has_work() noexcept;
  int me() const noexcept { return me_; }
  int n_pes() const noexcept { return n_pes_; }
  std::size_t pending_max() const noexcept { return pending_max_; }
  bool has_networks() const noexcept { return network_count_ != 0; }
  Doorbell& doorbell_of(int pe) const noexcept {
    return *reinterpret_cast<Doorbell*>(doorbell0_ + pe * doorbell_step_);
  }

 private:
  friend void set_up(const struct Setup&) noexcept;
  friend class NetworkSink;
  friend void connect_networks(const struct Setup&) noexcept;
  friend bool is_quiet_for_sleep() noexcept;
  friend void tell_stage(const StageNote&, std::span<const int>, std::uint32_t) noexcept;
  friend void leave_networks(bootstrap::PePhase, std::uint32_t) noexcept;
  friend void rest(bool) noexcept;
  friend std::vector<int> network_descriptors();

  static constexpr std::uint32_t kPollsForOne = 16;

  // sending
  [[gnu::always_inline]] bool send_in_box(int pe, HandlerId id, Bytes header, Bytes body) noexcept {
    PeerState& peer = peers_[pe];
    if (!peer.writes_box) [[unlikely]]
      return false;
    nemesis::BoxSlot* const slot = peer.writer.try_claim(box_to(pe), consumed_by(pe), peer.known);
    if (slot == nullptr) return false;
    const BoxHead head{peer.received, id, 0, static_cast<std::uint16_t>(header.size() + body.size()), 0};
    std::memcpy(slot->head, &head, sizeof head);
    copy_short(slot->payload, header.data(), header.size());
    copy_short(slot->payload + header.size(), body.data(), body.size());
    note_sent(pe, peer);
    peer.writer.publish(*slot, peer.sent);
    wake(doorbell_of(pe));
    return true;
  }
  [[gnu::noinline]] bool send_in_cell(int pe, HandlerId id, Bytes header, Bytes body, SendOptions options) noexcept;
  // How a message goes to a PE of another node.
  struct Way {
    HandlerId id;
    SendOptions options;
    transport::Urgency urgency;
    transport::Outgoing* outgoing;  // null: the body is not going to stay
  };
  transport::Sent send_internode(int pe, const Way& way, Bytes header, Bytes body) noexcept;
  [[gnu::noinline]] bool try_way(int pe) noexcept;
  // 0 for PEs of this node, else one more than an index of networks_.
  std::uint8_t number_of_network(int pe) const noexcept {
    return std::atomic_ref(via_[pe]).load(std::memory_order_relaxed);
  }
  [[gnu::noinline]] bool gather_slow(int pe, HandlerId id, Bytes header, Bytes body) noexcept;
  // True when nothing waits there any more.
  bool send_batch(int pe, transport::Urgency urgency) noexcept;
  bool has_batch(int pe) const noexcept;
  bool send_batches() noexcept;
  bool send_reply(const Reply& reply) noexcept;
  bool send_kept_replies() noexcept;
  bool poll_networks(int expected, std::uint32_t polls) noexcept;
  enum class Tell : std::uint8_t { waiting_now, waiting, all };  // now: unless messages stream in
  bool tell_owed(Tell whom) noexcept;
  void take_internode(int source, const transport::Header& head, Bytes payload) noexcept;
  void finish_internode(int source, const transport::Header& head) noexcept;
  void note_returned(nemesis::Cell* cell) noexcept;
  void collect_cells() noexcept;
  nemesis::Cell* find_cell() noexcept;
  bool may_take(const PeerState& peer) const noexcept;
  struct CellHead* take_cell(int pe) noexcept;
  void note_sent(int pe, PeerState& peer) noexcept {
    ++peer.sent;
    if (!peer.dirty) [[unlikely]]
      note_dirty(pe);
  }
  void note_dirty(int pe) noexcept;
  // receiving
  // Where the next message of `source` lies in its box, and its head; null when it does not.
  [[gnu::always_inline]] nemesis::BoxSlot* next_in_box(int source, PeerState& peer, BoxHead& head) noexcept {
    if (!peer.reads_box) return nullptr;
    nemesis::BoxSlot* const slot = peer.reader.find(boxes_[source], peer.received + 1);
    if (slot == nullptr) return nullptr;
    std::memcpy(&head, slot->head, sizeof head);
    if (nemesis::reached(head.ack, peer.known)) peer.known = head.ack;
    return slot;
  }
  [[gnu::always_inline]] void leave_box(int source, PeerState& peer) noexcept {
    peer.reader.release();
    finish(source, peer);
  }
  bool poll_box(int source) noexcept;
  bool poll_all(int expected, std::uint32_t polls) noexcept;
  bool poll_boxes() noexcept;
  bool poll_queue() noexcept;
  void take_in(struct CellHead* cell) noexcept;
  Verdict run(int source, unsigned handler, Bytes payload) noexcept;
  void finish(int source, PeerState& peer) noexcept {
    ++peer.received;
    consumed_[source].count.store(peer.received, std::memory_order_release);  // done
    wake(doorbell_of(source));
  }
  void give_back(struct CellHead* cell) noexcept;
  void keep_copy(int source, unsigned handler, Bytes payload) noexcept;
  bool run_later() noexcept;

  nemesis::Fastbox& box_to(int pe) const noexcept {
    return *reinterpret_cast<nemesis::Fastbox*>(boxes_to_ + static_cast<std::size_t>(pe) * part_bytes_);
  }
  const nemesis::Consumed& consumed_by(int pe) const noexcept {
    return *reinterpret_cast<nemesis::Consumed*>(consumed_by_ + static_cast<std::size_t>(pe) * part_bytes_);
  }

  // What every message needs, together.
  PeerState* peers_ = nullptr;
  nemesis::Fastbox* boxes_ = nullptr;      // of this PE, by source
  nemesis::Consumed* consumed_ = nullptr;  // by this PE, by source
  std::byte* boxes_to_ = nullptr;          // the box from this PE in the part of PE 0
  std::byte* consumed_by_ = nullptr;       // the count for this PE in the part of PE 0
  std::size_t part_bytes_ = 0;
  std::byte* doorbell0_ = nullptr;
  std::ptrdiff_t doorbell_step_ = 0;
  std::atomic<std::uint32_t> polls_{0};
  bool in_handler_ = false;
  bool resting_ = false;

  std::uint8_t* via_ = nullptr;  // see number_of_network()
  transport::Transport* networks_[transport::kMaxTransports] = {};
  std::uint32_t network_count_ = 0;
  std::uint32_t taken_ = 0;    // messages that the last poll of the networks brought
  bool gathered_ = false;      // something waits for a flush
  Batch** batches_ = nullptr;  // by PE; null before first use

  Parts parts_;
  int me_ = 0;
  int n_pes_ = 0;
  nemesis::Offset free_cells_ = nemesis::kNull;  // a stack of own cells
  std::size_t cells_under_way_ = 0;              // sent, and not yet seen to be back
  std::size_t fresh_cells_ = 0;                  // so many were used at least once
  std::size_t cells_for_answers_ = 0;            // kept for what handlers send
  std::uint32_t cells_for_one_ = 0;              // no peer may hold more of our cells
  std::size_t pending_max_ = 0;
};

inline constinit Endpoint own_endpoint;

// A process with one thread in the library has no lock to take.
class EndpointLock {
 public:
  void lock() noexcept {
    if (shared_ && held_.exchange(true, std::memory_order_acquire)) lock_slow();  // endpoint
  }
  bool try_lock() noexcept { return !shared_ || !held_.exchange(true, std::memory_order_acquire); }  // endpoint
  void unlock() noexcept {
    if (shared_) held_.store(false, std::memory_order_release);  // endpoint
  }
  // Called while nobody holds it, or again when others share it already: then it writes nothing.
  void share() noexcept {
    if (!shared_) shared_ = true;
  }
  // Grows when a thread has to wait for the lock; a hint for the agents.
  std::uint32_t contention() const noexcept { return contention_.load(std::memory_order_relaxed); }
  bool is_shared() const noexcept { return shared_; }

 private:
  [[gnu::noinline, gnu::cold]] void lock_slow() noexcept;

  bool shared_ = false;
  alignas(kCacheLine) std::atomic<bool> held_{false};
  alignas(kCacheLine) std::atomic<std::uint32_t> contention_{0};
};
inline constinit EndpointLock endpoint_lock;

// The process's endpoint with its lock held. Not recursive; never constructed inside a handler.
class Locked {
 public:
  Locked() noexcept { endpoint_lock.lock(); }
  ~Locked() { endpoint_lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  Endpoint* operator->() const noexcept { return &own_endpoint; }
  Endpoint& operator*() const noexcept { return own_endpoint; }
};

// ThreadSanitizer does not see that a barrier of processes orders what the threads of one of them do: for it alone, the
// lock says so.
inline void order_for_sanitizer() noexcept {
#if defined(__SANITIZE_THREAD__)
  const Locked endpoint;
#endif
}

// The largest header plus body: to a PE of this node, and to `pe`.
std::size_t max_payload_bytes() noexcept;
inline constexpr std::size_t kMaxInternodeBytes = std::size_t{1} << 30;
inline bool has_networks() noexcept { return own_endpoint.has_networks(); }
inline bool is_internode(int pe) noexcept { return own_endpoint.is_internode(pe); }
inline std::size_t max_payload_bytes(int pe) noexcept {
  return is_internode(pe) ? kMaxInternodeBytes : max_payload_bytes();
}

// Polls once, unless another thread is at it. True when something was handled.
inline bool poll(int expected = -1) noexcept {
  if (!endpoint_lock.try_lock()) return false;
  const bool any = own_endpoint.poll(expected);
  endpoint_lock.unlock();
  // Another thread of this PE may sleep until what has just been handled.
  if (any && endpoint_lock.is_shared()) wake(own_endpoint.doorbell_of(own_endpoint.me()));
  return any;
}

// What this thread sends from now on takes effect after what it has sent before. Handlers run in that order anyway; the
// count keeps the bytes of long messages in it, too (send_internode).
inline constinit std::atomic<std::uint32_t> fences{0};
inline void note_fence() noexcept {
  fences.fetch_add(1, std::memory_order_relaxed);
}  // read by the same thread's sends

// The networks' part of a job: for the agent, at the end, and for people.
// True when all networks can be slept on now: nothing lies in them that poll() would look at.
bool is_quiet_for_sleep() noexcept;
// Tells PEs of other nodes that this one has exchanged messages with, and `also`, how far this PE is. Tries for at most
// `patience_ms` to get the messages on their way.
void tell_stage(const StageNote& note, std::span<const int> also, std::uint32_t patience_ms) noexcept;
inline void tell_stage(bootstrap::PePhase phase, std::uint32_t patience_ms) noexcept {
  tell_stage({phase}, {}, patience_ms);
}
// Tells it for the last time, and closes the networks.
void leave_networks(bootstrap::PePhase phase, std::uint32_t patience_ms) noexcept;
// Between shmem_finalize and the next shmem_init: what comes waits, since there is nothing that it could be for.
void rest(bool resting) noexcept;

// By runtime, at init.
struct Setup {
  Parts parts;
  int me;
  int n_pes;
  std::byte* doorbell0;  // the Doorbell that PE 0 sleeps on; the others' follow at doorbell_step
  std::ptrdiff_t doorbell_step;
  bool many_threads;        // may several threads be in the library at once?
  std::size_t pending_max;  // bytes that handlers may leave unsent
  // By PE: 0, or one more than an index of `networks`, the first that could lead there. Null where there is one node.
  // Changed where another one takes its place. Stays.
  std::uint8_t* route = nullptr;
  // By PE: all that could, one bit each; null: `route` is all there is. Stays.
  const std::uint8_t* paths = nullptr;
  std::span<transport::Transport* const> networks = {};
  std::uint32_t trial_ms = 0;  // so long may each of several take to show that it leads to a PE
  void (*lost)(int pe, const std::string& cause) = nullptr;   // a PE of another node cannot be reached any more
  void (*stage_of)(int pe, const StageNote& note) = nullptr;  // a PE of another node has said how far it is
};
void set_up(const Setup& setup) noexcept;

}  // namespace shmemx::am
