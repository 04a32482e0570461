#include "am/net_channel.hpp"

#include <time.h>

#include <algorithm>

#include "am/endpoint.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "base/machine.hpp"

namespace shmemx::am {
namespace {

// If a poll brings no more messages than this, their senders wait for the acknowledgement; with more, it can wait for
// the end of the stream.
constexpr std::uint32_t kFewMessages = 16;
constexpr std::uint32_t kPollsPerAck = 16;      // of sources that may wait for it, although messages stream in
constexpr std::uint32_t kPollsPerAckAll = 512;  // of those too that do not wait for it
constexpr std::uint32_t kPollsPerIdle = 64;     // a poll of networks that no PE uses
constexpr std::uint32_t kPollsPerLook = 64;     // a look for old batches, while messages stream in

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

void NetChannel::open(const NetSetup& setup) {
  const std::size_t n_pes = setup.paths.n_pes;
  peers_.open(n_pes, setup.unflushed);
  paths_.open(setup.paths);
  if (paths_.keeps_any()) reserve_ = std::make_unique<Reserve>(peers_, acks_, paths_, n_pes);
  acks_.open(n_pes, paths_.keeps_any() ? Reserve::kAckLimits : AckLimits{});
  sender_.open(reserve_.get(), setup.least);
  gathering_.open(n_pes, setup.burst_ns);
  dispatch_ = setup.dispatch;
  lost_ = setup.lost;
  set_handler(kBatch, handle_batch);
  set_handler(kMark, handle_mark, {.is_done_at_once = true});
}

// ---- networks ----

transport::Transport* NetChannel::network_called(std::string_view name) const noexcept {
  for (transport::Transport* const network : paths_.networks()) {
    if (name == network->name()) return network;
  }
  return nullptr;
}

transport::FrameCounts NetChannel::frames() const noexcept {
  transport::FrameCounts sum;
  for (const transport::Transport* network : paths_.networks()) sum += network->frames();
  return sum;
}

bool NetChannel::arm(bool leaves_batches) noexcept {
  if (!leaves_batches && !gathering_.is_empty()) return false;
  if (reserve_ != nullptr && reserve_->is_busy()) return false;
  acknowledge(AckTracker::Scope::awaited);
  if (acks_.any_awaited([this](int pe) { return peers_[pe].path == NetPath::open; })) return false;
  if (stage_ == Stage::closed) return true;
  const auto networks = paths_.networks();
  return std::all_of(networks.begin(), networks.end(), [](transport::Transport* network) {
    return !network->capabilities().waits || network->arm();  // one that wakes nobody is polled at intervals
  });
}

std::vector<int> NetChannel::descriptors() const {
  std::vector<int> found;
  for (const transport::Transport* network : paths_.networks()) {
    const int fd = network->descriptor();
    if (fd >= 0) found.push_back(fd);
  }
  return found;
}

void NetChannel::lose(int pe, const std::string& cause) noexcept {
  peers_[pe].has_left = true;
  if (stage_ == Stage::open && lost_ != nullptr) lost_(pe, cause);
}

// A PE that has passed the last barrier needs nothing of the others. They may need what it has sent before. One that is
// gone, and whose last message was lost, is noticed by a message to it.
void NetChannel::finish(std::uint32_t patience_ms) noexcept {
  constexpr timespec kPause{0, 50'000};
  constexpr std::uint32_t kBusyPolls = 1000;
  constexpr std::uint64_t kMarkNs = 500'000'000;
  stage_ = Stage::finishing;
  const auto is_unfinished = [this](int pe) { return reserve_->is_unfinished(pe); };
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000U;
  std::uint64_t next_mark = now_ns() + kMarkNs;
  std::uint32_t polls = 0;
  while (std::any_of(contacts().begin(), contacts().end(), is_unfinished) && now_ns() < deadline) {
    if (!poll(-1, ++polls) && polls > kBusyPolls) ::nanosleep(&kPause, nullptr);
    if (now_ns() < next_mark) continue;
    next_mark = now_ns() + kMarkNs;
    for (const int pe : contacts()) {
      if (is_unfinished(pe)) static_cast<void>(try_send({.pe = pe, .handler = kMark, .header = {}}));
    }
  }
}

void NetChannel::close(std::uint32_t patience_ms) noexcept {
  stage_ = Stage::closed;
  for (transport::Transport* network : paths_.networks()) network->close(patience_ms);
}

// ---- sending ----

bool NetChannel::drop_if_flushed(int pe) noexcept {
  NetPeer& peer = peers_[pe];
  peer.is_unflushed = !peers_.is_idle(pe) || gathering_.holds(pe);
  return !peer.is_unflushed;
}

bool NetChannel::try_send_mark(int pe) noexcept {
  return try_send({.pe = pe, .handler = kMark, .header = {}, .counting = Counting::uncounted});
}

// ---- acknowledgements ----

void NetChannel::note_header(int source, const transport::Header& header) noexcept {
  paths_.note_message(source, network_, header.handler != kAck);
  if (!peers_.note_executed(source, header.ack)) return;
  if (reserve_ != nullptr) [[unlikely]]
    reserve_->drop_executed(source);
  gathering_.note_executed(source);
}

void NetChannel::note_executed(int source, const transport::Header& header, std::size_t bytes) noexcept {
  peers_.note_contact(source, peers_[source]);
  if (acks_.note_executed(source, (header.flags & kUncounted) == 0, bytes)) network_thread.call();
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
  } else if (polls % kPollsPerAck == 0 || received_ <= kFewMessages) {
    acknowledge(AckTracker::Scope::awaited);
  }
}

// ---- receiving ----

bool NetChannel::poll(int expected, std::uint32_t polls) noexcept {
  acknowledge_at_poll(polls);
  if (is_waiting_) {
    gathering_.flush();
    gathering_.end_bursts();
  } else if (polls % kPollsPerLook == 0) {
    gathering_.send_old(now_ns());
  }
  received_ = 0;
  bool any = false;
  const auto networks = paths_.networks();
  for (unsigned i = 0; i < networks.size(); ++i) {
    if (!paths_.is_used(i) && polls % kPollsPerIdle != 0) continue;
    network_ = i;
    any |= networks[i]->poll(expected);
  }
  gathering_.send_of_idle();
  paths_.progress();
  if (reserve_ != nullptr) [[unlikely]]
    reserve_->progress([this](int pe) { return try_send_mark(pe); },
                       [this](int pe, const char* cause) { lose(pe, cause); });
  sender_.release_lasting();
  return any || received_ != 0;
}

void NetChannel::deliver(int source, const transport::Header& header, Bytes message) noexcept {
  if (header.handler == kPathProbe || header.handler == kPathProbeReply) [[unlikely]]
    return receive_probe(source, header, message);
  note_header(source, header);
  if (header.handler == kAck) return;
  ++received_;
  if (reserve_ != nullptr && message.size() - header.header_bytes >= transport::kLongBytes) [[unlikely]]
    reserve_->note_complete(source);
  const Role role = traits_of(header.handler).role;
  if (role == Role::request) note_executed(source, header, message.size());
  dispatch_->deliver(source, header.handler, message);
  if (role == Role::operation) note_executed(source, header, message.size());
}

void NetChannel::receive_probe(int source, const transport::Header& header, Bytes message) noexcept {
  std::string cause;
  const auto kind = static_cast<HandlerId>(header.handler);
  const bool is_lost = !paths_.receive(source, network_, kind, message, cause);
  sender_.check_path(source);
  if (is_lost) lose(source, cause);
}

void NetChannel::deliver_batch(const Message& message) noexcept {
  Bytes rest = message.payload;
  ItemHeader item{};
  Bytes payload;
  while (!rest.empty()) {
    if (!take_item(rest, item, payload) || item.handler == kBatch)
      fatal(nullptr, "a batch of messages of PE %d is damaged", message.source);
    dispatch_->deliver_item(message.source, item.handler, payload);
  }
}

std::byte* NetChannel::find_place(int source, const transport::Header& fixed, Bytes header,
                                  std::size_t payload_bytes) noexcept {
  const Placement& placement = placement_of(fixed.handler);
  if (dispatch_->is_resting() || placement.placement == nullptr) return nullptr;
  std::byte* const place = placement.placement(source, header, payload_bytes);
  return place == transport::declined() && !may_decline(payload_bytes) ? nullptr : place;
}

bool NetChannel::may_decline(std::size_t payload_bytes) const noexcept {
  return reserve_ == nullptr && payload_bytes <= paths_.networks()[network_]->capabilities().declinable_bytes;
}

std::byte* NetChannel::placement(int source, const transport::Header& fixed, Bytes header,
                                 std::size_t payload_bytes) noexcept {
  const auto find = [&] { return find_place(source, fixed, header, payload_bytes); };
  return reserve_ == nullptr ? find() : reserve_->place_of(source, network_, find);
}

void NetChannel::placed(int source, const transport::Header& fixed, Bytes header, std::size_t payload_bytes) noexcept {
  note_header(source, fixed);
  if (reserve_ != nullptr) [[unlikely]]
    reserve_->note_complete(source);
  dispatch_->deliver_placed(source, fixed.handler, header, payload_bytes);
  ++received_;
  if (traits_of(fixed.handler).role != Role::reply) note_executed(source, fixed, header.size() + payload_bytes);
}

void NetChannel::lost(int pe, const std::string& cause) noexcept {
  std::string causes = cause;
  if (stage_ == Stage::closed || lost_ == nullptr) return;
  const bool is_lost = paths_.is_lost(pe, network_, causes);
  sender_.check_path(pe);
  if (is_lost) lose(pe, causes);
}

// Many PEs of a node meet the same limit, so the first one says so.
void NetChannel::copies(const char* network, std::size_t bytes, const std::string& cause) noexcept {
  const Endpoint& endpoint = own_endpoint();
  for (int pe = 0; pe < endpoint.me(); ++pe) {
    if (!endpoint.is_internode(pe)) return;
  }
  warn("%s does not register %zu bytes of this PE's memory (%s%s): long messages, puts and gets are copied there",
       network, bytes, cause.c_str(), locked_memory_note().c_str());
}

}  // namespace shmemx::am
