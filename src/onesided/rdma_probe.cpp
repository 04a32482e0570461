#include "onesided/rdma_probe.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "onesided/requests.hpp"
#include "onesided/target.hpp"
#include "onesided/wire.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {
namespace {

using am::Endpoint;
using am::Locked;
using am::Message;
using am::Verdict;
using transport::Completion;

constexpr std::uint64_t kStillNs = 20'000'000;
constexpr std::uint64_t kMostAwayNs = kStillNs / 4;  // of an initiator whose failure counts
constexpr std::uint64_t kPauseNs = 1'000'000;        // between requests to a busy target
constexpr std::uint64_t kVerdictNs = 100'000'000;    // how long a target waits for what was found
constexpr timespec kLookAgain{0, 20'000};            // a sleep: the initiator may need this core
constexpr int kMostTries = 8;                        // that say nothing
constexpr int kNobody = -1;

// A page of its own: some networks register no less.
struct alignas(4096) Block : ProbeBlock {};

using ProbeAnswer = RmaProbeReply::State;

struct Found {
  std::string network;
  RmaProof proof;
};
struct Opened {
  transport::Rma* rma;
  std::string key;
};
// Under the endpoint's lock. Never destroyed: threads may still poll while the process exits.
struct ProbeState {
  std::vector<Found> found;
  std::unique_ptr<Block> block;
  std::vector<Opened> opened;  // networks to which it is open
  bool is_probing = false;     // a thread of this PE is the initiator
  int awaited = kNobody;       // the PE that has to say what was found
  std::uint64_t awaited_until_ns = 0;
};
ProbeState& probe_state() {
  static auto* const instance = new ProbeState;
  return *instance;
}
using Takes = bool (*)(transport::Transport& network);
constinit Takes takes_network = nullptr;

void add_proof(std::string_view network, RmaProof proof) {
  const auto same = [&](const Found& found) { return found.network == network; };
  std::vector<Found>& all = probe_state().found;
  if (std::none_of(all.begin(), all.end(), same)) all.push_back({std::string(network), proof});
}

const char* by_whom(bool is_proven) noexcept { return is_proven ? "without the target's CPU" : "by messages"; }

// ---- the target ----

// Returns the key of the block; empty if the network opens nothing.
std::string open_block(transport::Transport& network) {
  ProbeState& all = probe_state();
  transport::Rma* const rma = network.rma();
  for (const Opened& opened : all.opened) {
    if (opened.rma == rma) return opened.key;
  }
  if (all.block == nullptr) all.block = std::make_unique<Block>();
  Result<std::string> key = rma->register_memory(reinterpret_cast<std::byte*>(all.block.get()), sizeof(Block));
  if (!key || key->size() > transport::kMaxKeyBytes) return {};
  all.opened.push_back({rma, *key});
  return *key;
}

// Returns whether a put has arrived while this PE did not poll.
bool keep_still(Block& block) noexcept {
  const std::uint64_t before = block.number.load(std::memory_order_acquire);
  const std::uint64_t until = now_ns() + kStillNs;
  std::uint64_t number = before;
  block.still.store(ProbeBlock::kStill, std::memory_order_release);
  while ((number == before || (number & ProbeBlock::kHasGot) == 0) && now_ns() < until) {
    ::nanosleep(&kLookAgain, nullptr);
    number = block.number.load(std::memory_order_acquire);
  }
  block.still.store(0, std::memory_order_release);
  return number != before;
}

bool is_busy_for(int source, int me) noexcept {
  const ProbeState& all = probe_state();
  const bool has_to_wait = all.awaited != kNobody && all.awaited != source && now_ns() < all.awaited_until_ns;
  return has_to_wait || (all.is_probing && source > me);
}

RmaProbeReply probe_reply(ProbeAnswer is, RmaProof proof) noexcept {
  RmaProbeReply reply{};
  reply.state = is;
  reply.puts = proof.puts ? 1 : 0;
  reply.gets = proof.gets ? 1 : 0;
  return reply;
}

RmaProbeReply take_step(Endpoint& endpoint, const RmaProbeRequest& request, int source) {
  ProbeState& all = probe_state();
  const std::string_view name(request.network, ::strnlen(request.network, sizeof request.network));
  transport::Transport* const network = endpoint.network_called(name);
  if (network == nullptr || !endpoint.is_internode(source) || !takes_network(*network))
    return probe_reply(ProbeAnswer::closed, {});
  if (request.step == RmaProbeRequest::Step::result) {
    if (all.awaited == source) all.awaited = kNobody;
    if (request.is_certain != 0) add_proof(name, {request.puts != 0, request.gets != 0});
    return probe_reply(ProbeAnswer::open, {});
  }
  if (const RmaProof* const proof = find_proof(*network)) return probe_reply(ProbeAnswer::known, *proof);
  const std::string key = open_block(*network);
  if (key.empty()) return probe_reply(ProbeAnswer::closed, {});
  RmaProbeReply reply = probe_reply(ProbeAnswer::open, {});
  reply.key_bytes = static_cast<std::uint32_t>(key.size());
  std::memcpy(reply.key, key.data(), key.size());
  if (request.step == RmaProbeRequest::Step::key) return reply;
  if (is_busy_for(source, endpoint.me())) return probe_reply(ProbeAnswer::busy, {});
  reply.puts = keep_still(*all.block) ? 1 : 0;
  all.awaited = source;
  all.awaited_until_ns = now_ns() + kVerdictNs;
  return reply;
}

Verdict handle_probe(Endpoint& endpoint, const Message& message) {
  RmaProbeRequest request;
  const bool is_sound = decode_exactly(message.payload, request) && request.step <= RmaProbeRequest::Step::result;
  check_message("a probe of RMA", message.source, is_sound ? nullptr : "has a wrong length or step");
  const RmaProbeReply reply = take_step(endpoint, request, message.source);
  const ReplyHeader header{request.ticket, Outcome::ok, 1, 0};
  endpoint.reply(
      {.pe = message.source, .handler = am::kReply, .header = am::bytes_of(header), .payload = am::bytes_of(reply)});
  return Verdict::done;
}

// ---- the initiator ----

struct Probed {
  const char* routine;
  int pe;
  transport::Transport& network;
};

// Puts and gets, one of each at a time, and what they have shown.
class Accesses {
 public:
  Accesses(transport::Rma& rma, transport::RemoteKey& key) noexcept : rma_(rma), key_(key), last_ns_(now_ns()) {}

  void go_on() noexcept {
    note_time();
    if (put_.open == 0) {
      number_ = (number_ + 2) | (has_got_ ? ProbeBlock::kHasGot : 0);
      rma_.put(key_, offsetof(ProbeBlock, number), am::bytes_of(number_), put_, nullptr);
    }
    if (get_.open != 0) return;
    look();
    rma_.get(key_, offsetof(ProbeBlock, still), {reinterpret_cast<std::byte*>(&got_), sizeof got_}, get_);
  }
  // Returns whether they have ended.
  bool have_ended() noexcept {
    if ((put_.open | get_.open) != 0) return false;
    look();
    return true;
  }
  void note_time() noexcept {
    const std::uint64_t now = now_ns();
    longest_away_ns_ = std::max(longest_away_ns_, now - std::exchange(last_ns_, now));
  }
  bool has_got() const noexcept { return has_got_; }
  bool has_failed() const noexcept { return put_.failed || get_.failed; }
  bool was_away() const noexcept { return longest_away_ns_ > kMostAwayNs; }

 private:
  void look() noexcept { has_got_ = has_got_ || std::exchange(got_, 0) == ProbeBlock::kStill; }

  transport::Rma& rma_;
  transport::RemoteKey& key_;
  Completion put_;
  Completion get_;
  std::uint64_t number_ = now_ns() & ~ProbeBlock::kHasGot;  // no earlier one is the same
  std::uint64_t got_ = 0;
  std::uint64_t last_ns_;
  std::uint64_t longest_away_ns_ = 0;
  bool has_got_ = false;
};

RmaProbeRequest request_of(const Probed& probed, RmaProbeRequest::Step step) noexcept {
  RmaProbeRequest request{};
  const std::string_view name = probed.network.name();
  std::memcpy(request.network, name.data(), std::min(name.size(), sizeof request.network));
  request.step = step;
  return request;
}

void exchange_step(const Probed& probed, RmaProbeRequest request, RmaProbeReply& reply) noexcept {
  Tracker open;
  send_request(probed.routine, {probed.pe, am::kRmaProbe, contiguous(&reply, sizeof reply)}, request, {&open});
  await_replies(probed.routine, probed.pe, open);
  check_message("the reply to a probe", probed.pe,
                reply.state <= ProbeAnswer::known && reply.key_bytes <= sizeof reply.key ? nullptr : "makes no sense");
}

// What one try has shown.
struct Shown {
  RmaProof proof;
  ProbeAnswer state;
  bool is_certain = false;
  bool has_failed = false;
};

Shown try_accesses(const Probed& probed, transport::RemoteKey& key) noexcept {
  Accesses accesses(*probed.network.rma(), key);
  RmaProbeReply reply{};
  RmaProbeRequest request = request_of(probed, RmaProbeRequest::Step::keep_still);
  Tracker open;
  send_request(probed.routine, {probed.pe, am::kRmaProbe, contiguous(&reply, sizeof reply)}, request, {&open});
  progress::wait_under_lock(probed.routine, probed.pe, [&](Endpoint&) {
    if (open.open.load(std::memory_order_acquire) == 0) return true;  // reply
    accesses.go_on();
    return false;
  });
  accesses.note_time();
  progress::wait_under_lock(probed.routine, probed.pe, [&](Endpoint&) { return accesses.have_ended(); });
  const RmaProof proof{reply.puts != 0, accesses.has_got() || (reply.state == ProbeAnswer::known && reply.gets)};
  const bool is_certain = (proof.puts && proof.gets) || !accesses.was_away();
  return {proof, reply.state, is_certain, accesses.has_failed()};
}

void pause_before_next(const Probed& probed) noexcept {
  const std::uint64_t until = now_ns() + kPauseNs;
  progress::wait_under_lock(probed.routine, probed.pe, [&](Endpoint&) { return now_ns() >= until; });
}

void tell_result(const Probed& probed, const Shown& shown) noexcept {
  RmaProbeRequest request = request_of(probed, RmaProbeRequest::Step::result);
  request.is_certain = shown.is_certain ? 1 : 0;
  request.puts = shown.proof.puts ? 1 : 0;
  request.gets = shown.proof.gets ? 1 : 0;
  RmaProbeReply reply{};
  exchange_step(probed, request, reply);
}

// Returns nothing if the network fails.
std::optional<RmaProof> probe_with(const Probed& probed, transport::RemoteKey& key) noexcept {
  for (int tries = 0;;) {
    const Shown shown = try_accesses(probed, key);
    if (shown.has_failed) return std::nullopt;
    if (shown.state == ProbeAnswer::closed) return RmaProof{};
    if (shown.state == ProbeAnswer::known) return shown.proof;
    if (shown.state == ProbeAnswer::busy) {
      pause_before_next(probed);
      const Locked endpoint;
      if (const RmaProof* const proof = find_proof(probed.network)) return *proof;  // as a target
      continue;
    }
    tell_result(probed, shown);
    if (shown.is_certain || ++tries == kMostTries) return shown.proof;
  }
}

std::optional<RmaProof> probe(const Probed& probed) noexcept {
  RmaProbeReply reply{};
  exchange_step(probed, request_of(probed, RmaProbeRequest::Step::key), reply);
  if (reply.state != ProbeAnswer::open) return RmaProof{reply.puts != 0, reply.gets != 0};
  transport::Rma& rma = *probed.network.rma();
  transport::RemoteKey* key = nullptr;
  {
    const Locked endpoint;
    key = rma.import_key(probed.pe, {reply.key, reply.key_bytes});
  }
  if (key == nullptr) return std::nullopt;  // the PE is lost
  const std::optional<RmaProof> proof = probe_with(probed, *key);
  const Locked endpoint;
  rma.release_key(key);
  return proof;
}

}  // namespace

const RmaProof* find_proof(const transport::Transport& network) noexcept {
  const std::string_view name = network.name();
  for (const Found& found : probe_state().found) {
    if (found.network == name) return &found.proof;
  }
  return nullptr;
}

RmaProof prove_rma(const char* routine, int pe, transport::Transport& network) noexcept {
  RmaProof proof{};
  bool is_known = false;
  progress::wait_under_lock(routine, pe, [&](Endpoint&) {  // another thread may be at it
    const RmaProof* const found = find_proof(network);
    is_known = found != nullptr;
    if (is_known) proof = *found;
    if (!is_known && probe_state().is_probing) return false;
    probe_state().is_probing = !is_known;
    return true;
  });
  if (is_known) return proof;
  const std::optional<RmaProof> shown = probe({routine, pe, network});
  const Locked endpoint;
  probe_state().is_probing = false;
  if (!shown) return proof;
  proof = *shown;
  add_proof(network.name(), proof);
  debug_line("%s: a probe at PE %d: puts go %s, gets go %s", network.name(), pe, by_whom(proof.puts),
             by_whom(proof.gets));
  return proof;
}

std::string describe_proof(const transport::Transport& network) {
  const RmaProof* const proof = find_proof(network);
  if (proof == nullptr) return {};
  return std::string("a probe has shown: puts go ") + by_whom(proof->puts) + ", gets go " + by_whom(proof->gets);
}

void set_probe_handler(bool (*takes)(transport::Transport& network)) noexcept {
  takes_network = takes;
  am::set_handler(am::kRmaProbe, handle_probe, {.role = am::Role::request});
}

void close_probe() noexcept {
  ProbeState& all = probe_state();
  for (const Opened& opened : all.opened) opened.rma->unregister_memory(reinterpret_cast<std::byte*>(all.block.get()));
  all.opened.clear();
  all.awaited = kNobody;
}

void forget_proofs() noexcept { probe_state().found.clear(); }

}  // namespace shmemx::onesided
