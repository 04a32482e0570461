#include "am/net_channel.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/fatal.hpp"

namespace shmemx::am {
namespace {

// If a poll brings no more messages than this, their senders wait for the acknowledgement; with more, it can wait for
// the end of the stream.
constexpr std::uint32_t kFewMessages = 16;
constexpr std::uint32_t kPollsPerAck = 16;      // of sources that may wait for it, although messages stream in
constexpr std::uint32_t kPollsPerAckAll = 512;  // of those too that do not wait for it
constexpr std::uint32_t kPollsPerIdle = 64;     // a poll of networks that no PE uses
constexpr std::uint32_t kPollsPerLook = 64;     // a look for old batches, while messages stream in
constexpr std::size_t kMaxBatches = 256;        // at once, so that their memory does not grow with the job

constinit std::atomic<std::uint32_t> batches_begun{0};

// Wakes the networks' progress thread: something has to leave or may have to be sent again, and this thread may leave
// the library and compute. Edge long_sleep: this thread has queued the message under the lock, then reads whether the
// progress thread sleeps long. That thread announces its long sleep, then looks for messages under the lock.
void wake_network_thread() {
  NetworkThread& thread = network_thread;
  if (thread.sleeps_long.load(std::memory_order_relaxed) &&             // long_sleep
      thread.sleeps_long.exchange(false, std::memory_order_relaxed)) {  // long_sleep: once is enough
    thread.wake();
  }
}

// Delivers each item of a batch as a message of its own.
Verdict handle_batch(Endpoint&, const Message& message) {
  net_channel().deliver_batch(message);
  return Verdict::done;
}

Verdict handle_mark(Endpoint&, const Message&) { return Verdict::done; }

}  // namespace

NetChannel& net_channel() noexcept {
  static NetChannel* const instance = new NetChannel;
  return *instance;
}

std::uint32_t gathered_batches() noexcept { return batches_begun.load(std::memory_order_relaxed); }

void NetChannel::open(const NetSetup& setup) {
  const PathProbe::Setup& paths = setup.paths;
  networks_.assign(paths.networks.begin(), paths.networks.end());
  any_resumes_ = std::any_of(networks_.begin(), networks_.end(),
                             [](const transport::Transport* network) { return network->capabilities().resumes; });
  route_ = paths.route;
  peers_.open(paths.n_pes);
  coalescer_.open(paths.n_pes);
  probe_.open(paths);
  kept_.open(paths.n_pes);
  acks_.open(paths.n_pes,
             probe_.keeps_any() ? AckLimits{KeptMessages::kAckedMessages, KeptMessages::kAckedBytes} : AckLimits{});
  dispatch_ = setup.dispatch;
  unflushed_ = setup.unflushed;
  lost_ = setup.lost;
  least_ = setup.least;
  burst_ns_ = setup.burst_ns;
  set_handler(kBatch, handle_batch);
  set_handler(kMark, handle_mark, {.is_done_at_once = true});
}

// ---- networks ----

bool NetChannel::find_path(int pe) noexcept {
  NetPeer& peer = peer_of(pe);
  peer.has_path = probe_.has_path(pe);
  peer.was_reached = peer.was_reached || peer.has_path;
  return peer.has_path;
}

transport::Transport* NetChannel::network_called(std::string_view name) const noexcept {
  const auto found = std::find_if(networks_.begin(), networks_.end(),
                                  [name](const transport::Transport* network) { return name == network->name(); });
  return found == networks_.end() ? nullptr : *found;
}

transport::FrameCounts NetChannel::frames() const noexcept {
  transport::FrameCounts sum;
  for (const transport::Transport* network : networks_) sum += network->frames();
  return sum;
}

bool NetChannel::arm(bool leaves_batches) noexcept {
  const bool holds_messages = !coalescer_.is_empty() || poll_.gathered;
  if (holds_messages && !leaves_batches) return false;
  if (probe_.keeps_any() && (probe_.is_busy() || !unmarked_.empty())) return false;
  acknowledge(AckTracker::Scope::awaited);
  if (acks_.any_awaited([this](int pe) { return peer_of(pe).has_path; })) return false;
  return closed_ ||
         std::all_of(networks_.begin(), networks_.end(), [](transport::Transport* network) { return network->arm(); });
}

std::vector<int> NetChannel::descriptors() const {
  std::vector<int> found;
  for (const transport::Transport* network : networks_) {
    const int fd = network->descriptor();
    if (fd >= 0) found.push_back(fd);
  }
  return found;
}

void NetChannel::lose(int pe, const std::string& cause) noexcept {
  peer_of(pe).has_left = true;
  if (!is_finishing_ && !closed_ && lost_ != nullptr) lost_(pe, cause);
}

void NetChannel::close(std::uint32_t patience_ms) noexcept {
  closed_ = true;
  for (transport::Transport* network : networks_) network->close(patience_ms);
}

// ---- sending ----

void NetChannel::note_unflushed(int pe) noexcept {
  if (peer_of(pe).is_unflushed) return;
  peer_of(pe).is_unflushed = true;
  unflushed_->add(pe);
}

bool NetChannel::drop_if_flushed(int pe) noexcept {
  NetPeer& peer = peer_of(pe);
  peer.is_unflushed = !has_executed(pe, peer.last_counted) || coalescer_.holds(pe);
  return !peer.is_unflushed;
}

transport::Sent NetChannel::send(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept {
  if (coalescer_.holds(pe)) [[unlikely]] {
    if (!send_batch(pe, {.id = kBatch, .urgency = transport::Urgency::gather})) return transport::Sent::no;
  }
  return send_now(pe, how, header, payload);
}

transport::Sent NetChannel::send_now(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept {
  if (!has_path(pe)) return transport::Sent::no;
  NetPeer& peer = peer_of(pe);
  // The first message behind a fence waits for all in front of it, and those that follow wait for it.
  const std::uint32_t fenced = fences.load(std::memory_order_relaxed);
  const HandlerTraits& traits = traits_of(how.id);
  const bool early = payload.size() >= transport::kLongBytes && traits.place_early && peer.fences == fenced;
  const bool counted = traits.counted && how.options.counted;
  const bool awaited = counted && !how.more;
  const auto flags = static_cast<std::uint8_t>((early ? transport::kPlacedEarly : 0) | (awaited ? 0 : kUncounted));
  const transport::Header fixed{how.id, flags, static_cast<std::uint16_t>(header.size()), acks_.executed(pe)};
  const transport::Urgency urgency = std::max(how.urgency, least_);
  const bool is_kept = probe_.needs_kept(pe);
  const transport::Sent sent = is_kept ? send_kept(pe, how, fixed, header, payload)
                                       : network_of(pe).send(pe, fixed, header, payload, how.outgoing, urgency);
  if (sent == transport::Sent::no) return sent;
  peer.fences = fenced;
  if (urgency == transport::Urgency::gather) {
    poll_.gathered = true;
    if (how.urgency != urgency) [[unlikely]]  // the caller may not poll again
      batches_begun.fetch_add(1, std::memory_order_relaxed);
    if (how.urgency != urgency || how.options.in_burst) wake_network_thread();
  } else if (any_resumes_) {  // the thread sets the network's timer before it sleeps again
    wake_network_thread();
  }
  acks_.note_acknowledged(pe);
  if (traits.role == Role::reply) return sent;
  ++peer.sent;
  note_contact(pe, peer);
  if (counted) {
    peer.last_counted = peer.sent;
    note_unflushed(pe);
  }
  return sent;
}

// The batch that is full has others behind it: the network may send it with them, and nobody waits for its
// acknowledgement.
SmallSent NetChannel::try_send_small(int pe, HandlerId id, Bytes header, Bytes payload, SendOptions options) noexcept {
  if (try_append(pe, id, header, payload)) return SmallSent::yes;
  const bool fills = coalescer_.holds(pe);
  if (fills && !send_batch(pe, {.id = kBatch, .urgency = transport::Urgency::gather, .more = true}))
    return SmallSent::no;
  const NetSend how{.id = id, .options = options};
  if (options.held || fills || !is_idle(pe)) {
    if (!begin_batch(pe, how, header, payload)) return SmallSent::no;
  } else {
    if (send_now(pe, how, header, payload) == transport::Sent::no) return SmallSent::no;
    counts_.operations += 1;
    counts_.messages += 1;
    counts_.bytes += header.size() + payload.size();
  }
  return fills ? SmallSent::filled : SmallSent::yes;
}

bool NetChannel::begin_batch(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept {
  if (!is_small(header.size() + payload.size())) return send(pe, how, header, payload) != transport::Sent::no;
  if (!send_batch(pe, {.id = kBatch, .urgency = transport::Urgency::gather})) return false;
  if (coalescer_.count() == kMaxBatches && !send_batch(coalescer_.oldest(), {.id = kBatch})) return false;
  Batch& batch = coalescer_.begin(pe, how.id, header, payload);
  if (how.options.held) batch.hold();
  note_unflushed(pe);                                     // quiet has to wait for what has not even left
  batches_begun.fetch_add(1, std::memory_order_relaxed);  // a hint for the length of sleeps
  wake_network_thread();
  return true;
}

// A message that is alone in its batch leaves as itself: a batch has its own acknowledgement, whatever is in it.
transport::Sent NetChannel::send_alone(int pe, NetSend how, const Batch& batch) noexcept {
  Bytes rest = batch.whole();
  ItemHeader item{};
  Bytes message;
  static_cast<void>(take_item(rest, item, message));
  how.id = static_cast<HandlerId>(item.handler);
  return send_now(pe, how, {}, message);
}

bool NetChannel::send_contents(int pe, const NetSend& how, const Batch& batch) noexcept {
  const transport::Sent sent = batch.items() == 1 ? send_alone(pe, how, batch) : send_now(pe, how, {}, batch.whole());
  if (sent == transport::Sent::no) return false;
  counts_.operations += batch.items();
  counts_.messages += 1;
  counts_.bytes += batch.whole().size() - batch.items() * sizeof(ItemHeader);
  return true;
}

bool NetChannel::send_batch(int pe, const NetSend& how) noexcept {
  return coalescer_.send(pe, [&](int to, const Batch& batch) { return send_contents(to, how, batch); });
}

template <class IsDue>
bool NetChannel::send_due_batches(IsDue&& is_due) noexcept {
  constexpr NetSend kAlone{.id = kBatch};
  return coalescer_.send_due(is_due, [&](int to, const Batch& batch) { return send_contents(to, kAlone, batch); });
}

bool NetChannel::send_batches() noexcept {
  return send_due_batches([](int, const Batch&) { return true; });
}

void NetChannel::send_batches_of_idle() noexcept {
  poll_.is_acknowledged = false;
  send_due_batches([this](int pe, const Batch& batch) { return !batch.is_held() && is_idle(pe); });
}

bool NetChannel::send_old_batches(std::uint64_t now_ns) noexcept {
  if (coalescer_.is_empty() && !poll_.gathered) return false;
  if (now_ns - looked_ns_ < kLookIntervalNs) return true;
  looked_ns_ = now_ns;
  send_due_batches([](int, Batch& batch) { return batch.is_old_at_look(); });
  flush_networks();
  return true;
}

void NetChannel::flush_gathered() noexcept {
  send_batches();
  flush_networks();
}

void NetChannel::flush_networks_slow() noexcept {
  poll_.gathered = false;
  ++poll_.turn;
  for (transport::Transport* network : networks_) network->flush();
}

// Nothing acknowledges such messages, so how fast they follow each other tells a burst. The clock is read at its first
// and second message only.
bool NetChannel::follows_burst(int pe) noexcept {
  NetPeer& peer = peer_of(pe);
  if (peer.gathered_turn == poll_.turn) return true;
  if (!network_thread.runs.load(std::memory_order_relaxed)) return false;  // set at init, cleared at the end
  const std::uint64_t now = now_ns();
  const bool follows = peer.burst_turn == poll_.turn && now - peer.burst_ns < burst_ns_;
  peer.burst_turn = poll_.turn;
  peer.burst_ns = now;
  if (!follows) return false;
  peer.gathered_turn = poll_.turn;
  batches_begun.fetch_add(1, std::memory_order_relaxed);  // a hint for the length of sleeps
  return true;
}

bool NetChannel::try_send_lasting(int pe, HandlerId id, Bytes header, Bytes payload, SendOptions options) noexcept {
  auto outgoing = std::make_unique<transport::Outgoing>();
  outgoing->is_patient = true;
  const auto urgency = options.followed ? transport::Urgency::gather : transport::Urgency::now;
  const transport::Sent sent =
      send(pe, {.id = id, .options = options, .urgency = urgency, .outgoing = outgoing.get()}, header, payload);
  if (sent == transport::Sent::later) lasting_.push_back(std::move(outgoing));
  return sent != transport::Sent::no;
}

// ---- acknowledgements ----

void NetChannel::note_header(int source, const transport::Header& header) noexcept {
  probe_.note_message(source, poll_.network, header.handler != kAck);
  NetPeer& peer = peer_of(source);
  if (!nemesis::reached(header.ack, peer.executed)) return;
  peer.executed = header.ack;
  if (probe_.keeps_any()) [[unlikely]]
    kept_.drop_executed(source, peer.executed, peer.sent);
  if (coalescer_.holds(source) && is_idle(source)) poll_.is_acknowledged = true;
}

void NetChannel::note_executed(int source, const transport::Header& header, std::size_t bytes) noexcept {
  note_contact(source, peer_of(source));
  if (acks_.note_executed(source, (header.flags & kUncounted) == 0, bytes)) wake_network_thread();
}

bool NetChannel::acknowledge(AckTracker::Scope scope) noexcept {
  return acks_.send(scope, [this](int pe, nemesis::Number executed) {
    if (!has_path(pe)) return false;
    const transport::Header fixed{kAck, 0, 0, executed};
    return network_of(pe).send(pe, fixed, {}, {}, nullptr, transport::Urgency::now) != transport::Sent::no;
  });
}

// A waiter that polls again has nothing to send that could carry the acknowledgement, so it travels alone. While
// messages stream in, not every poll acknowledges them. Uncounted messages, such as flags of collectives and two-sided
// messages, are followed by others in the opposite direction, which carry it: alone it would only cost time. Where the
// sender keeps them, many of them without an acknowledgement count as awaited (AckLimits).
void NetChannel::acknowledge_at_poll(std::uint32_t polls) noexcept {
  if (polls % kPollsPerAckAll == 0) {
    acknowledge(AckTracker::Scope::all);
  } else if (polls % kPollsPerAck == 0 || poll_.received <= kFewMessages) {
    acknowledge(AckTracker::Scope::awaited);
  }
}

// ---- receiving ----

bool NetChannel::poll(int expected, std::uint32_t polls) noexcept {
  acknowledge_at_poll(polls);
  if (poll_.waiting) {
    flush_gathered();
    ++poll_.turn;
  } else if (polls % kPollsPerLook == 0) {
    send_old_batches(now_ns());
  }
  poll_.received = 0;
  bool any = false;
  for (unsigned i = 0; i < networks_.size(); ++i) {
    if (!probe_.is_used(i) && polls % kPollsPerIdle != 0) continue;
    poll_.network = i;
    any |= networks_[i]->poll(expected);
  }
  if (poll_.is_acknowledged) send_batches_of_idle();
  keep_going();
  std::erase_if(lasting_, [](const std::unique_ptr<transport::Outgoing>& outgoing) { return outgoing->done; });
  return any || poll_.received != 0;
}

void NetChannel::deliver(int source, const transport::Header& header, Bytes message) noexcept {
  if (header.handler == kPathProbe || header.handler == kPathProbeReply) [[unlikely]]
    return receive_probe(source, header, message);
  note_header(source, header);
  if (header.handler == kAck) return;
  ++poll_.received;
  if (probe_.keeps_any() && message.size() - header.header_bytes >= transport::kLongBytes) [[unlikely]]
    places_.note_complete(source);
  const Role role = traits_of(header.handler).role;
  if (role == Role::request) note_executed(source, header, message.size());
  dispatch_->deliver(source, header.handler, message);
  if (role == Role::operation) note_executed(source, header, message.size());
}

void NetChannel::receive_probe(int source, const transport::Header& header, Bytes message) noexcept {
  std::string cause;
  const auto kind = static_cast<HandlerId>(header.handler);
  const bool is_lost = !probe_.receive(source, poll_.network, kind, message, cause);
  check_path(source);
  if (is_lost) lose(source, cause);
}

void NetChannel::deliver_batch(const Message& message) noexcept {
  Bytes rest = message.payload;
  ItemHeader item{};
  Bytes payload;
  while (!rest.empty()) {
    if (!take_item(rest, item, payload) || item.handler == kBatch)
      fatal(nullptr, "a batch of messages of PE %d is damaged", message.source);
    dispatch_->deliver(message.source, item.handler, payload);
  }
}

std::byte* NetChannel::find_place(int source, const transport::Header& fixed, Bytes header,
                                  std::size_t payload_bytes) noexcept {
  const Placement& placement = placement_of(fixed.handler);
  if (dispatch_->is_resting() || placement.placement == nullptr) return nullptr;
  return placement.placement(source, header, payload_bytes);
}

std::byte* NetChannel::placement(int source, const transport::Header& fixed, Bytes header,
                                 std::size_t payload_bytes) noexcept {
  if (!probe_.keeps_any()) return find_place(source, fixed, header, payload_bytes);
  std::byte* place = nullptr;
  if (places_.find(source, poll_.network, place)) return place;
  place = find_place(source, fixed, header, payload_bytes);
  places_.note(source, poll_.network, place);
  return place;
}

void NetChannel::placed(int source, const transport::Header& fixed, Bytes header, std::size_t payload_bytes) noexcept {
  note_header(source, fixed);
  if (probe_.keeps_any()) [[unlikely]]
    places_.note_complete(source);
  dispatch_->deliver_placed(source, fixed.handler, header, payload_bytes);
  ++poll_.received;
  if (traits_of(fixed.handler).role != Role::reply) note_executed(source, fixed, header.size() + payload_bytes);
}

void NetChannel::lost(int pe, const std::string& cause) noexcept {
  std::string causes = cause;
  if (closed_ || lost_ == nullptr) return;
  const bool is_lost = probe_.is_lost(pe, poll_.network, causes);
  check_path(pe);
  if (is_lost) lose(pe, causes);
}

}  // namespace shmemx::am
