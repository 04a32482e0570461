// Two-sided messages of one PE: matching, eager messages, and the sequence of a rendezvous. All functions want the
// channel's lock. Nothing here waits: what cannot be sent yet is queued for its target, in order, and goes out in
// progress().
//
// A rendezvous is a large message transfer (LMT): the sender says that it is ready (RTS), the receive that takes the
// message chooses the way. One side may fetch the bytes by itself (mapped, cma) and says when it is done; or both take
// part (copy, queue, network) and both know. lmt.cpp has a row of functions for each way.
#pragma once

#include <memory>
#include <vector>

#include "pt2pt/matching.hpp"
#include "pt2pt/node.hpp"
#include "pt2pt/request.hpp"

namespace shmemx::pt2pt {

// A message that came before its receive. Data lie behind it, or the offer of a rendezvous.
struct Unexpected {
  enum class Kind : std::uint8_t { eager, offer, own };
  UnexpectedNodes nodes;
  std::int32_t source;
  std::int32_t tag;
  std::size_t bytes;     // of the message
  std::size_t received;  // of them, so far: eager
  std::size_t footprint;
  Request* own_send;  // a send of this PE to itself
  Kind kind;
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

struct Offer {
  RtsHeader rts;
  Section section;
};

struct SendMode {
  bool synchronous = false;
  bool blocking = false;  // to oneself: the message is copied, or nobody could ever receive it
};

class Engine {
 public:
  void start(Node& node, const Settings& settings) noexcept;
  // Forgets everything that is open.
  void stop() noexcept;

  // May a message to that PE be sent past the engine, as one eager message of the channel? No when others wait to be
  // sent, to whomever.
  bool is_clear(int pe, std::size_t bytes) const noexcept {
    return bytes <= one_message_bytes_ && active_.empty() && pe != settings_.me;
  }

  // Is there no message and no receive that could come before another one?
  bool is_bare() const noexcept { return unexpected_.empty() && posted_.size() == 0 && bypass_ == nullptr; }

  // Both may be complete at once. They end with pool().give_back(). Null: no memory.
  Request* send(const Cursor& source, int pe, int tag, SendMode mode) noexcept;
  Request* receive(const Cursor& dest, Key key, bool blocking) noexcept;
  // False when the receive has been matched already.
  bool cancel(Request& receive) noexcept;
  // The oldest message that has come and fits; null: none.
  const Unexpected* probe(Key key) const noexcept {
    QueueNode* const node = unexpected_.find(key);
    return node == nullptr ? nullptr : static_cast<Unexpected*>(node->owner);
  }
  bool has_progress() const noexcept { return movers_ != nullptr || !active_.empty(); }
  // True when something has moved.
  bool progress() noexcept { return has_progress() && progress_some(); }

  RequestPool& pool() noexcept { return pool_; }
  std::size_t unexpected_bytes() const noexcept { return unexpected_bytes_; }
  std::size_t posted() const noexcept { return posted_.size() + (bypass_ != nullptr); }
  std::size_t unexpected() const noexcept { return unexpected_.size(); }

  // What the channel hands over.
  void on_eager(int source, Payload payload) noexcept;
  void on_rts(int source, Payload payload) noexcept;
  void on_cts(int source, Payload payload) noexcept;
  void on_cookie(int source, Payload payload) noexcept;
  void on_done(int source, Payload payload) noexcept;
  void on_data(int source, Payload payload) noexcept;
  // Data from a PE of another node: where the body belongs, null: it is delivered with its header; and that it lies
  // there.
  std::byte* placement(int source, Payload header, std::size_t body_bytes) noexcept;
  void placed(int source, Payload header, std::size_t body_bytes) noexcept;

  // ---- for lmt.cpp ----
  Node& node() noexcept { return *node_; }
  const Settings& settings() const noexcept { return settings_; }
  bool is_internode(int pe) noexcept { return peer(pe).internode; }
  // Puts it behind what else has to go to its peer, and tries at once.
  void enqueue(Request& request, Next next) noexcept;
  void start_moving(Request& request) noexcept;
  void stop_moving(Request& request) noexcept;
  void complete(Request& request) noexcept;
  Request* copy_owner() const noexcept { return copy_owner_; }
  void set_copy_owner(Request* request) noexcept { copy_owner_ = request; }
  // Returns the sender's process number if CMA can read its memory, else 0. Probes once for each sender.
  std::int32_t cma_pid(int source, const RtsHeader& rts) noexcept {
    return peer(source).cma.pid(rts.probe, [this](pid_t pid, Cursor& local, Cursor& remote, std::size_t most) {
      return node_->read_memory(pid, local, remote, most);
    });
  }

 private:
  enum class Step : std::uint8_t { blocked, sent, rotate };

  struct Peer {
    Request* first = nullptr;  // have something to send there
    Request* last = nullptr;
    // The eager message that has begun to arrive from there: for a receive, or unexpected.
    Request* receive = nullptr;
    Unexpected* message = nullptr;
    std::size_t total = 0;  // 0: none
    std::size_t received = 0;
    rma::CmaPeer cma;
    bool internode = false;
  };

  Peer& peer(int pe) noexcept { return peers_[static_cast<std::size_t>(pe)]; }
  Request* take_request(const Cursor& cursor, Role role, int pe, int tag) noexcept;
  Request* match(int source, int tag) noexcept;

  // sending
  Step push(Request& request) noexcept;
  Step push_eager(Request& request) noexcept;
  Step push_data(Request& request) noexcept;
  bool push_rts(Request& request) noexcept;
  bool push_cts(Request& request) noexcept;
  bool push_cookie(Request& request) noexcept;
  bool send_bytes(Request& request, am::HandlerId id, am::Bytes header, std::size_t bytes) noexcept;
  void send_to_self(Request& request, SendMode mode) noexcept;
  bool drain(int pe) noexcept;
  [[gnu::noinline, gnu::cold]] bool progress_some() noexcept;
  void after_push(Request& request) noexcept;

  // receiving
  void take_whole(Request& request, int source, int tag, Payload data) noexcept;
  void take_begin(Request& request, int source, const EagerHeader& header, Payload data) noexcept;
  void take_more(int source, std::uint64_t offset, Payload data) noexcept;
  void take_unexpected(Request& request, Unexpected& message) noexcept;
  void take_own(Request& send, Request& receive) noexcept;
  Unexpected* keep(Key key, std::size_t bytes, std::size_t extra, Unexpected::Kind kind) noexcept;
  void forget(Unexpected& message) noexcept;
  Request* find(int source, RequestId id, Role role) noexcept;
  Request* find_data_taker(int source, const DataHeader& header, std::size_t bytes) noexcept;
  void end_data(Request& request) noexcept;
  std::size_t eager_limit(int pe) noexcept;

  Node* node_ = nullptr;
  Settings settings_;
  std::size_t one_message_bytes_ = 0;
  Request* bypass_ = nullptr;
  PostedQueue posted_;
  UnexpectedQueue unexpected_;
  std::uint64_t stamp_ = 0;
  std::size_t unexpected_bytes_ = 0;
  std::vector<Peer> peers_;
  std::vector<int> active_;  // peers that have something to be sent to them
  Request* movers_ = nullptr;
  Request* copy_owner_ = nullptr;
  RequestPool pool_;
  std::unique_ptr<std::byte[]> staging_;  // as long as the longest eager message
};

// ---- lmt.cpp ----

// One way of moving a long message. The receive side chooses; `start` of a side that has nothing to do is null.
struct Lmt {
  const char* name;
  // Receiver: can it take this message that way?
  bool (*suits)(Engine&, const Request& receive, const Offer&) noexcept;
  // Receiver: what has to be ready before the sender is told, and what it is told.
  void (*pre_receive)(Engine&, Request& receive, const Offer&) noexcept;
  // Receiver: begins; sends a CTS where the sender has to act.
  void (*start_receive)(Engine&, Request& receive) noexcept;
  void (*post_receive)(Engine&, Request& receive) noexcept;
  // Sender: the CTS has come. False: it does not fit the request.
  bool (*start_send)(Engine&, Request& send, const CtsHeader&, const Section&) noexcept;
  // Either: moves a part. True when something moved.
  bool (*move)(Engine&, Request&) noexcept;
};
const Lmt& lmt_of(LmtKind kind) noexcept;

// Sender, before the RTS: what the receiver needs to fetch the message by itself.
void lmt_pre_send(Engine& engine, Request& send, Offer& offer) noexcept;
// Receiver: the message belongs to this receive.
void lmt_begin(Engine& engine, Request& receive, int source, const Offer& offer) noexcept;
// The next part of the description of this side's memory, after what has been described already.
void lmt_describe(Engine& engine, Request& request, Section& out) noexcept;
// The peer's next section has come. False: rubbish.
bool lmt_take_section(Request& mover, const Section& section) noexcept;

}  // namespace shmemx::pt2pt
