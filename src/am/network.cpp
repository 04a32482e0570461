#include "am/network.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "am/trials.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"

namespace shmemx::am {
namespace {

// With so few messages at a time somebody waits for the answer; with more it can wait for the end of the stream.
constexpr std::uint32_t kFewMessages = 16;
constexpr std::uint32_t kPollsPerTelling = 16;
constexpr std::uint32_t kPollsPerTellingAll = 512;  // those as well that do not wait for it
constexpr std::uint32_t kPollsOfOthers = 16;        // a look at the networks while a PE of the node is waited for
constexpr std::uint32_t kPollsOfIdle = 64;          // a look at networks that nobody uses

constinit HandlerTraits traits_of_handlers[kHandlerIds] = {};
const HandlerTraits& traits_of(unsigned handler) {
  static constexpr HandlerTraits kDefault{};  // of ids that are not registered; run() rejects them
  return handler < kHandlerIds ? traits_of_handlers[handler] : kDefault;
}

constexpr bool is_counted(const transport::Header& head) { return (head.flags & kUncounted) == 0; }

constinit Placement placements[kHandlerIds] = {};

constinit std::atomic<std::uint32_t> batches_begun{0};

// Wakes the networks' progress thread: something has to leave, and this thread may go and compute. Edge long_sleep:
// under the lock this thread has made its entry, and reads whether the progress thread sleeps long; that one says that
// it will, then looks for entries under the lock.
void wake_network_thread() {
  NetworkThread& thread = network_thread;
  if (thread.sleeps_long.load(std::memory_order_relaxed) &&             // long_sleep
      thread.sleeps_long.exchange(false, std::memory_order_relaxed)) {  // long_sleep: once is enough
    thread.wake();
  }
}

// Never destroyed: threads may still poll while the process exits.
struct State {
  NetworkSink sink;
  Trials trials;
  unsigned polled = 0;                                        // the network that calls the sink
  std::vector<std::uint16_t> batched;                         // PEs for which messages wait in a batch
  std::vector<std::uint16_t> owed;                            // PEs that may have to be told
  std::size_t waiting = 0;                                    // of those, so many that may wait for it
  std::vector<std::unique_ptr<transport::Outgoing>> lasting;  // bodies that transports still read
  void (*lost)(int pe, const std::string& cause) = nullptr;
  void (*stage_of)(int pe, const StageNote& note) = nullptr;
  bool closed = false;
};
State& state() {
  static State* const instance = new State;
  return *instance;
}

// Each item is a message of its own; what cannot be done now is kept as such.
Verdict take_batch(Endpoint& endpoint, const Message& message) {
  Bytes rest = message.payload;
  ItemHead head{};
  Bytes payload;
  while (!rest.empty()) {
    if (!take_item(rest, head, payload) || head.handler == kBatch)
      fatal(nullptr, "a batch of messages of PE %d is damaged", message.source);
    endpoint.run_item(message.source, head.handler, payload);
  }
  return Verdict::done;
}

Verdict take_stage(Endpoint&, const Message& message) {
  StageNote note{};
  const bool whole = message.payload.size() == sizeof note;
  if (whole) std::memcpy(&note, message.payload.data(), sizeof note);
  if (!whole || note.phase < bootstrap::PePhase::running || note.phase > bootstrap::PePhase::ending)
    fatal(nullptr, "a message of PE %d that tells its stage is damaged", message.source);
  if (state().stage_of != nullptr) state().stage_of(message.source, note);
  return Verdict::done;
}

void note_told(PeerState& peer) {
  if (peer.waits) --state().waiting;
  peer.waits = false;
}

}  // namespace

NetworkSink& network_sink() noexcept { return state().sink; }

void declare_traits(HandlerId id, HandlerTraits traits) noexcept { traits_of_handlers[id] = traits; }

void set_placement(HandlerId id, Placement placement) noexcept { placements[id] = placement; }

void Endpoint::run_item(int source, unsigned handler, Bytes payload) noexcept {
  if (run(source, handler, payload) == Verdict::later) keep_copy(source, handler, payload);
}

void connect_networks(const Setup& setup) noexcept {
  state().trials.open(setup.networks, setup.route, setup.paths, static_cast<std::size_t>(setup.n_pes), setup.trial_ms);
  for (int pe = 0; setup.route != nullptr && pe < setup.n_pes; ++pe) {
    own_endpoint.peers_[pe].untried = setup.paths != nullptr && setup.route[pe] != 0;
  }
  state().lost = setup.lost;
  state().stage_of = setup.stage_of;
  set_handler(kStage, take_stage);
  set_handler(kBatch, take_batch);
}

// ---- sending ----

bool Endpoint::try_way(int pe) noexcept {
  peers_[pe].untried = !state().trials.have_passed(pe);
  return !peers_[pe].untried;
}

transport::Transport* Endpoint::network_called(std::string_view name) const noexcept {
  const auto* const end = networks_ + network_count_;
  const auto* const found =
      std::find_if(networks_, end, [name](const auto* network) { return name == network->name(); });
  return found == end ? nullptr : *found;
}

transport::Sent Endpoint::send_internode(int pe, const Way& way, Bytes header, Bytes body) noexcept {
  if (batches_[pe] != nullptr && !batches_[pe]->is_empty() && way.id != kBatch) [[unlikely]] {
    if (!send_batch(pe, transport::Urgency::gather)) return transport::Sent::no;
  }
  if (!has_way(pe)) return transport::Sent::no;
  PeerState& peer = peers_[pe];
  // The first message behind a fence waits for all in front of it, and what follows waits for its turn.
  const std::uint32_t fenced = fences.load(std::memory_order_relaxed);
  const HandlerTraits& traits = traits_of(way.id);
  const bool early = body.size() >= transport::kLongBytes && traits.place_early && peer.fences == fenced;
  const bool counted = traits.counted && way.options.counted;
  const auto flags = static_cast<std::uint8_t>((early ? transport::kPlacedEarly : 0) | (counted ? 0 : kUncounted));
  const transport::Header head{way.id, flags, static_cast<std::uint16_t>(header.size()), peer.received};
  const transport::Sent sent = network_of(pe).send(pe, head, header, body, way.outgoing, way.urgency);
  if (sent == transport::Sent::no) return sent;
  peer.fences = fenced;
  if (way.urgency == transport::Urgency::gather) gathered_ = true;
  peer.told = peer.received;
  note_told(peer);
  if (traits.role == Role::reply) return sent;
  if (counted) {
    note_sent(pe, peer);
    peer.concerned = peer.sent;
  } else {
    ++peer.sent;
  }
  return sent;
}

bool Endpoint::gather_slow(int pe, HandlerId id, Bytes header, Bytes body) noexcept {
  if (Batch::room_for(header.size() + body.size()) > Batch::kBytes / 2)
    return send_internode(pe, {id, {}, transport::Urgency::gather, nullptr}, header, body) != transport::Sent::no;
  if (!send_batch(pe, transport::Urgency::gather)) return false;
  if (batches_[pe] == nullptr) batches_[pe] = new Batch;
  batches_[pe]->append(id, header, body);
  state().batched.push_back(static_cast<std::uint16_t>(pe));
  if (!peers_[pe].dirty) note_dirty(pe);                  // quiet has to wait for what has not even left
  batches_begun.fetch_add(1, std::memory_order_relaxed);  // a hint for the length of sleeps
  wake_network_thread();
  return true;
}

bool Endpoint::has_batch(int pe) const noexcept {
  return batches_ != nullptr && batches_[pe] != nullptr && !batches_[pe]->is_empty();
}

bool Endpoint::send_batch(int pe, transport::Urgency urgency) noexcept {
  Batch* const batch = batches_[pe];
  if (batch == nullptr || batch->is_empty()) return true;
  if (send_internode(pe, {kBatch, {}, urgency, nullptr}, {}, batch->whole()) == transport::Sent::no) return false;
  batch->clear();
  std::erase(state().batched, static_cast<std::uint16_t>(pe));
  return true;
}

bool Endpoint::send_batches() noexcept {
  std::vector<std::uint16_t>& list = state().batched;
  for (std::size_t i = list.size(); i-- > 0;) {
    if (i < list.size()) send_batch(list[i], transport::Urgency::gather);
  }
  return list.empty();
}

bool Endpoint::try_send_lasting(int pe, HandlerId id, Bytes header, Bytes body) noexcept {
  if (!is_internode(pe) || body.size() < transport::kLongBytes) return try_send(pe, id, header, body);
  auto outgoing = std::make_unique<transport::Outgoing>();
  const transport::Sent sent = send_internode(pe, {id, {}, transport::Urgency::now, outgoing.get()}, header, body);
  if (sent == transport::Sent::later) state().lasting.push_back(std::move(outgoing));
  return sent != transport::Sent::no;
}

// ---- receiving ----

void Endpoint::finish_internode(int source, const transport::Header& head) noexcept {
  PeerState& peer = peers_[source];
  ++peer.received;
  if (!peer.owed) state().owed.push_back(static_cast<std::uint16_t>(source));
  peer.owed = true;
  if (peer.waits || !is_counted(head)) return;
  peer.waits = true;
  ++state().waiting;
  wake_network_thread();
}

void Endpoint::take_internode(int source, const transport::Header& head, Bytes payload) noexcept {
  if (head.handler == kPathProbe || head.handler == kPathProbeReply) [[unlikely]]
    return state().trials.take(source, state().polled, static_cast<HandlerId>(head.handler));
  state().trials.note(source, state().polled);
  PeerState& peer = peers_[source];
  if (nemesis::reached(head.ack, peer.known)) peer.known = head.ack;
  if (head.handler == kAck) return;
  ++taken_;
  const Role role = traits_of(head.handler).role;
  if (role == Role::request) finish_internode(source, head);
  if (run(source, head.handler, payload) == Verdict::later) keep_copy(source, head.handler, payload);
  if (role == Role::operation) finish_internode(source, head);
}

// A waiter that polls again has nothing to send by itself, so the count goes alone. While messages stream in it need
// not be told each time. Flags of collectives and two-sided messages are answered by others of their kind, which bring
// the count: told alone it would be in their way.
bool Endpoint::tell_owed(Tell whom) noexcept {
  std::vector<std::uint16_t>& owed = state().owed;
  if (owed.empty() || (whom != Tell::all && state().waiting == 0)) return false;
  if (whom == Tell::waiting_now && taken_ > kFewMessages) return false;
  bool any = false;
  std::erase_if(owed, [&](std::uint16_t pe) {
    PeerState& peer = peers_[pe];
    if (whom != Tell::all && !peer.waits && peer.told != peer.received) return false;
    if (peer.told != peer.received) {
      if (!has_way(pe)) return false;
      const transport::Header head{kAck, 0, 0, peer.received};
      if (network_of(pe).send(pe, head, {}, {}, nullptr, transport::Urgency::now) == transport::Sent::no) return false;
      peer.told = peer.received;
      any = true;
    }
    peer.owed = false;
    note_told(peer);
    return true;
  });
  return any;
}

void Endpoint::flush_gathered() noexcept {
  if (!state().batched.empty()) send_batches();
  if (!gathered_) return;
  gathered_ = false;
  for (std::uint32_t i = 0; i < network_count_; ++i) networks_[i]->flush();
}

bool Endpoint::poll_networks(int expected, std::uint32_t polls) noexcept {
  const bool internode = expected >= 0 && is_internode(expected);
  if (expected >= 0 && !internode && polls % kPollsOfOthers != 0) return false;
  tell_owed(polls % kPollsPerTellingAll == 0 ? Tell::all
            : polls % kPollsPerTelling == 0  ? Tell::waiting
                                             : Tell::waiting_now);
  flush_gathered();
  taken_ = 0;
  bool any = false;
  for (std::uint32_t i = 0; i < network_count_; ++i) {
    if (!state().trials.is_used(i) && polls % kPollsOfIdle != 0) continue;
    state().polled = i;
    any |= networks_[i]->poll(internode ? expected : -1);
  }
  state().trials.go_on();
  std::erase_if(state().lasting, [](const std::unique_ptr<transport::Outgoing>& outgoing) { return outgoing->done; });
  return any || taken_ != 0;
}

void NetworkSink::deliver(int source, const transport::Header& head, Bytes payload) noexcept {
  own_endpoint.take_internode(source, head, payload);
}

std::byte* NetworkSink::placement(int source, const transport::Header& head, Bytes header,
                                  std::size_t body_bytes) noexcept {
  if (own_endpoint.resting_) return nullptr;
  const bool known = head.handler < kHandlerIds && placements[head.handler].placement != nullptr;
  return known ? placements[head.handler].placement(source, header, body_bytes) : nullptr;
}

void NetworkSink::placed(int source, const transport::Header& head, Bytes header, std::size_t body_bytes) noexcept {
  state().trials.note(source, state().polled);
  PeerState& peer = own_endpoint.peers_[source];
  if (nemesis::reached(head.ack, peer.known)) peer.known = head.ack;
  own_endpoint.in_handler_ = true;
  placements[head.handler].placed(own_endpoint, source, header, body_bytes);
  own_endpoint.in_handler_ = false;
  ++own_endpoint.taken_;
  if (traits_of(head.handler).role != Role::reply) own_endpoint.finish_internode(source, head);
}

void NetworkSink::lost(int pe, const std::string& cause) noexcept {
  std::string whole = cause;
  if (state().closed || state().lost == nullptr || !state().trials.is_end(pe, state().polled, whole)) return;
  state().lost(pe, whole);
}

// ---- for the agent, the end, and people ----

bool is_quiet_for_sleep() noexcept {
  const Locked endpoint;
  if (!state().batched.empty() || endpoint->gathered_) return false;
  if (!state().owed.empty()) {
    endpoint->tell_owed(Endpoint::Tell::all);
    const auto can_be_told = [&](std::uint16_t pe) { return !endpoint->peers_[pe].untried; };
    if (std::any_of(state().owed.begin(), state().owed.end(), can_be_told)) return false;
  }
  for (std::uint32_t i = 0; i < endpoint->network_count_; ++i) {
    if (!endpoint->networks_[i]->arm()) return false;
  }
  return true;
}

std::uint32_t gathered_batches() noexcept { return batches_begun.load(std::memory_order_relaxed); }

std::vector<int> network_descriptors() {
  std::vector<int> found;
  const Locked endpoint;
  for (std::uint32_t i = 0; i < endpoint->network_count_; ++i) {
    const int fd = endpoint->networks_[i]->descriptor();
    if (fd >= 0) found.push_back(fd);
  }
  return found;
}

void tell_stage(const StageNote& note, std::span<const int> also, std::uint32_t patience_ms) noexcept {
  if (!own_endpoint.has_networks() || state().closed) return;
  const Locked endpoint;
  Endpoint& self = *endpoint;
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000U;
  for (int pe = 0; pe < self.n_pes_; ++pe) {
    if (!self.is_internode(pe)) continue;
    const PeerState& peer = self.peers_[pe];
    const bool is_known = (peer.sent != 0 || peer.received != 0) && !peer.untried;
    if (!is_known && std::find(also.begin(), also.end(), pe) == also.end()) continue;
    while (!self.try_send(pe, kStage, bytes_of(note)) && now_ns() < deadline) self.poll();
  }
  self.flush_gathered();
}

void leave_networks(bootstrap::PePhase phase, std::uint32_t patience_ms) noexcept {
  tell_stage(phase, patience_ms);
  if (!own_endpoint.has_networks() || state().closed) return;
  const Locked endpoint;
  Endpoint& self = *endpoint;
  state().closed = true;
  for (std::uint32_t i = 0; i < self.network_count_; ++i) self.networks_[i]->close(patience_ms);
  self.network_count_ = 0;
}

void rest(bool resting) noexcept {
  const Locked endpoint;
  endpoint->resting_ = resting;
}

}  // namespace shmemx::am
