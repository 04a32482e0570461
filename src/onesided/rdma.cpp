#include "onesided/rdma.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "base/fatal.hpp"
#include "onesided/direct.hpp"
#include "onesided/keys.hpp"
#include "onesided/lane.hpp"
#include "onesided/rdma_probe.hpp"
#include "onesided/requests.hpp"
#include "onesided/target.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {
namespace {

using am::Endpoint;
using am::Locked;
using am::Message;
using am::Verdict;
using transport::Completion;

// Written at init only, before anybody else may read it; off where no network is taken.
constinit config::NetRma choice = config::NetRma::off;

// The rest under the endpoint's lock.

// A transfer under way. Its end closes a request, as a reply does. If the network fails, a message repeats it. One of
// the direct path has a request only when it is repeated.
struct Started {
  Completion completion;
  Ticket ticket = 0;
  bool has_ticket = true;
  KeptTransfer::Source source = KeptTransfer::Source::stays;
  Transfer what;
  Completion* open = nullptr;  // see KeptTransfer
  std::uint32_t context = 0;
  std::array<std::byte, KeptTransfer::kCopiedBytes> copy;
};
constexpr std::size_t kMostKept = 512;  // transfers, from which on the direct path waits
// The owner of a public window waits until no transfer uses its keys.
struct Revocation {
  std::int32_t pe;
  KeyRevokeHeader header;
  std::vector<KnownKey> keys;
};
// Never destroyed: threads may still poll while the process exits.
struct State {
  OpenedRanges opened;
  KnownKeys keys;
  std::vector<std::unique_ptr<Started>> transfers;
  std::vector<std::unique_ptr<Started>> spare;  // of the direct path
  std::vector<Revocation> revocations;
  std::vector<transport::Transport*> networks;  // that the choice permits
};
State& state() {
  static State* const instance = new State;
  return *instance;
}

bool takes(transport::Transport& network) noexcept { return uses_rdma(network, choice); }
bool leads_to(Endpoint& endpoint, int pe) noexcept {
  return takes(endpoint.network_of(pe)) && !endpoint.has_followed(pe);
}

// ---- what networks have shown ----

// By direction: is there a network that may do it? Written under the lock. Without it a hint: a network that has to
// show it first counts until it has failed.
constinit std::atomic<bool> may_be_used[2] = {false, false};
constinit std::atomic<bool> has_unproven{false};  // some network has to be probed; written at init

// Has the network failed to show that it needs no CPU of the target?
bool has_failed_probe(const transport::Transport& network, Direction direction) {
  const RmaProof* const proof = needs_probe(network, choice) ? find_proof(network) : nullptr;
  return proof != nullptr && !proof->of(direction);
}

void note_usable() noexcept {
  for (const Direction direction : {Direction::put, Direction::get}) {
    const bool any = std::any_of(state().networks.begin(), state().networks.end(),
                                 [&](const auto* network) { return !has_failed_probe(*network, direction); });
    may_be_used[static_cast<int>(direction)].store(any, std::memory_order_relaxed);  // a hint
  }
}

// ---- keys ----

Verdict handle_key_request(Endpoint& endpoint, const Message& message) {
  KeyRequest request;
  windows::ExposedRange window{};
  Executed result = find_key_request(message.payload, request, window);
  check_message("a request for a key", message.source, result.wrong);
  KeyList list;
  if (!result.is_replied) {
    const std::string_view name(request.network, ::strnlen(request.network, sizeof request.network));
    transport::Transport* const network = endpoint.network_called(name);
    const bool may_open = endpoint.is_internode(message.source) && network != nullptr && takes(*network);
    result.reply = {request.ticket, Outcome::ok, 1, 0};
    if (may_open && is_public(request.window)) opened_keys.store(true, std::memory_order_relaxed);  // its lock orders
    if (may_open) {
      list = state().opened.reply(*network, request, window, message.source);
    } else {
      list.add({window.begin, window.bytes, 0, 0, {}});
    }
    result.data = am::bytes_of(list);
  }
  endpoint.reply(
      {.pe = message.source, .handler = am::kReply, .header = am::bytes_of(result.reply), .payload = result.data});
  return Verdict::done;
}

// The one that leads to `pe`, once that is known.
transport::Transport& known_network(const char* routine, int pe) noexcept {
  transport::Transport* network = nullptr;
  progress::wait_under_lock(routine, pe, [&](Endpoint& endpoint) {
    if (endpoint.has_path(pe)) network = &endpoint.network_of(pe);
    return network != nullptr;
  });
  return *network;
}

// Returns false if the window does not exist any more.
bool request_key(const char* routine, const context::Place& place) noexcept {
  KeyList reply;
  Tracker open;
  KeyRequest request{place.window, place.offset, 0, 0};
  transport::Transport& network = known_network(routine, place.pe);
  const std::string_view name = network.name();
  std::memcpy(request.network, name.data(), std::min(name.size(), sizeof request.network));
  {
    const Locked endpoint;
    request.is_backward = state().keys.begin_request(place) ? 1 : 0;
  }
  send_request(routine, {place.pe, am::kKeyRequest, contiguous(&reply, sizeof reply)}, request,
               {&open, 0, is_public(place.window)});
  const bool is_there = await_result(routine, place.pe, open) == 0;
  if (is_there) check_message("a key", place.pe, is_sound(reply, place.offset) ? nullptr : "does not fit the request");
  const Locked endpoint;
  state().keys.end_request(place, is_there ? &reply : nullptr, network.rma());
  return is_there;
}

// Returns false if the key has to be requested.
bool find_part(const Transfer& transfer, Part& part) noexcept {
  const Locked endpoint;
  const KnownKey* const key = state().keys.find(transfer.place);
  if (key == nullptr) return false;
  part = {std::min({transfer.bytes, key->bytes - (transfer.place.offset - key->begin), kMostOfPart}),
          key->key != nullptr};
  return true;
}

enum class Try : std::uint8_t { started, busy, revoked };

// revoked: since find_part() the owner has freed the window, or the network has failed.
Try try_start(Endpoint& endpoint, const Transfer& transfer, std::size_t bytes, Completion& open) noexcept {
  const KnownKey* const key = state().keys.find(transfer.place);
  if (key == nullptr || key->key == nullptr) return Try::revoked;
  const int pe = transfer.place.pe;
  if (!leads_to(endpoint, pe)) return Try::revoked;
  if (!endpoint.has_path(pe)) {
    endpoint.poll(pe);
    return Try::busy;
  }
  const std::uint64_t offset = transfer.place.offset - key->begin;
  const bool taken = transfer.direction == Direction::put
                         ? key->rma->put(*key->key, offset, {transfer.local, bytes}, open, nullptr)
                         : key->rma->get(*key->key, offset, {transfer.local, bytes}, open);
  if (taken) {
    const transport::Transport& network = endpoint.network_of(pe);
    const bool does_both = !has_failed_probe(network, Direction::put) && !has_failed_probe(network, Direction::get);
    if (!is_public(transfer.place.window) && does_both)
      add_direct(transfer.place, {key->begin, key->bytes, key->key}, {key->rma, endpoint.has_reserve(pe)});
    return Try::started;
  }
  endpoint.poll(pe);
  return Try::busy;
}

// Returns false if messages have to do it, as the network's own operation needs the target's CPU.
bool is_proven(const Transfer& transfer) noexcept {
  if (!has_unproven.load(std::memory_order_relaxed)) [[likely]]
    return true;
  transport::Transport& network = known_network(transfer.routine, transfer.place.pe);
  if (!needs_probe(network, choice)) return true;
  const RmaProof proof = prove_rma(transfer.routine, transfer.place.pe, network);
  if (proof.of(transfer.direction)) return true;
  const Locked endpoint;
  note_usable();
  return false;
}

// Finds the first part of a transfer, with its key. Returns false if messages have to do it.
bool find_first(const Transfer& transfer, Part& part) noexcept {
  part = {transfer.bytes, false};
  if (!is_proven(transfer)) return false;
  while (!find_part(transfer, part)) {
    if (request_key(transfer.routine, transfer.place)) continue;
    part = {transfer.bytes, false};
    return false;
  }
  return part.is_started;
}

// ---- transfers under way ----

// Repeats a transfer by a message, whose reply closes the request. The data may have been moved before. Nothing that
// comes after a fence or a quiet is released before it is complete, so nothing newer is overwritten, other than by what
// the program has left without order; and the next network takes messages only when nothing of the failed one can
// arrive any more.
bool try_repeat(Endpoint& endpoint, const Started& started) {
  const Transfer& what = started.what;
  const int pe = what.place.pe;
  if (what.direction == Direction::put) {
    const PutRepliedHeader header{what.place.window, what.place.offset, started.ticket, 1};
    const bool stays = started.source == KeptTransfer::Source::stays;
    const am::Lifetime lifetime = stays ? am::kUntilFlush : am::kDuringCall;
    return endpoint.try_send({pe, am::kPutReplied, am::bytes_of(header), {what.local, what.bytes}, lifetime});
  }
  const Placement placement = contiguous(what.local, what.bytes);
  const GetHeader header{what.place.window, what.place.offset, placement.block_bytes, started.ticket};
  if (!endpoint.try_send({.pe = pe, .handler = am::kGet, .header = am::bytes_of(header)})) return false;
  requests.find(started.ticket, pe)->placement = placement;
  return true;
}

// Opens the request of one that had none. Returns false if there is no room.
bool try_open_request(Started& started) {
  if (started.has_ticket) return true;
  const bool is_put = started.what.direction == Direction::put;
  const Initiator initiator{&open_table[started.context], started.context, false,
                            is_put ? &put_table[started.context] : nullptr};
  if (!requests.has_room(initiator)) return false;
  started.ticket = requests.open(kNoData, started.what.place.pe, initiator);
  return started.has_ticket = true;
}

// Returns whether the transfer has ended, or travels as a message now.
bool try_end(Endpoint& endpoint, Started& started) {
  if (started.completion.open != 0) return false;
  const int pe = started.what.place.pe;
  if (!started.completion.failed) {
    if (started.has_ticket) requests.close(started.ticket);
    if (started.open != nullptr) --started.open->open;
    return true;
  }
  if (endpoint.has_followed(pe) && !started.completion.is_unknown) {
    if (!try_open_request(started) || !try_repeat(endpoint, started)) return false;
    if (started.open != nullptr) --started.open->open;
    return true;
  }
  if (!endpoint.has_reserve(pe) || started.completion.is_unknown)
    fatal(nullptr, "a put or get of the network's own to PE %d was under way when that network failed", pe);
  return false;  // the network has not reported its failure yet
}

bool try_finish(Endpoint& endpoint, const Revocation& revocation) {
  const auto uses = [&](const auto& transfer) {
    const context::Place& place = transfer->what.place;
    return place.pe == revocation.pe && place.window == revocation.header.window &&
           revocation.header.extent.overlaps(place.offset, transfer->what.bytes);
  };
  if (std::any_of(state().transfers.begin(), state().transfers.end(), uses)) return false;
  for (const KnownKey& key : revocation.keys) key.release();
  const ReplyHeader reply{revocation.header.ticket, Outcome::ok, 1, 0};
  endpoint.reply({.pe = revocation.pe, .handler = am::kReply, .header = am::bytes_of(reply)});
  return true;
}

Verdict handle_key_revoke(Endpoint& endpoint, const Message& message) {
  Revocation revocation{message.source, {}, {}};
  check_message("the end of a key", message.source,
                decode_exactly(message.payload, revocation.header) ? nullptr : "has a wrong length");
  revocation.keys = state().keys.revoke(message.source, revocation.header.window, revocation.header.extent);
  if (try_finish(endpoint, revocation)) return Verdict::done;
  state().revocations.push_back(std::move(revocation));
  has_transfers = true;
  return Verdict::done;
}

}  // namespace

void open_rdma(config::NetRma chosen, std::span<transport::Transport* const> networks,
               std::uint64_t cache_bytes) noexcept {
  const auto taken = [chosen](transport::Transport* network) { return uses_rdma(*network, chosen); };
  const Locked endpoint;  // agents of an earlier life
  std::vector<transport::Transport*>& used = state().networks;
  used.clear();
  std::copy_if(networks.begin(), networks.end(), std::back_inserter(used), taken);
  has_rma_networks = !used.empty();
  choice = has_rma_networks ? chosen : config::NetRma::off;
  const bool any =
      std::any_of(used.begin(), used.end(), [](const auto* network) { return needs_probe(*network, choice); });
  has_unproven.store(any, std::memory_order_relaxed);
  note_usable();
  state().opened.registrations().set_limit(cache_bytes);
}

void close_rdma() noexcept {
  const Locked endpoint;
  close_lanes();
  forget_direct();
  state().keys.forget();
  state().opened.close();
  close_probe();
}

bool has_rdma(int pe, Direction direction) noexcept {
  if (!may_be_used[static_cast<int>(direction)].load(std::memory_order_relaxed) || !am::is_internode(pe)) return false;
  const Locked endpoint;
  return leads_to(*endpoint, pe) && !has_failed_probe(endpoint->network_of(pe), direction);
}

void flush_fenced_messages(const char* routine, int pe) noexcept {
  const std::uint32_t fences = am::fences.load(std::memory_order_relaxed);  // includes this thread's own
  {
    const Locked endpoint;
    if (state().keys.fences_flushed(pe) == fences) return;
  }
  progress::flush(routine, pe);
  const Locked endpoint;
  state().keys.fences_flushed(pe) = fences;
}

Part start_rdma(const Transfer& transfer, const Initiator& initiator) noexcept {
  Part part{};
  if (!find_first(transfer, part)) return part;
  const int pe = transfer.place.pe;
  if (transfer.direction == Direction::put && !is_public(transfer.place.window))
    flush_fenced_messages(transfer.routine, pe);
  auto started = std::make_unique<Started>();
  started->ticket = open_request(transfer.routine, kNoData, pe, initiator);
  started->what = transfer.first(part.bytes);
  progress::wait_for(transfer.routine, [&] {
    const Locked endpoint;
    const Try result = try_start(*endpoint, transfer, part.bytes, started->completion);
    if (result == Try::busy) return false;
    part.is_started = result == Try::started;
    if (!part.is_started) {
      requests.close(started->ticket);
    } else {
      state().transfers.push_back(std::move(started));
      has_transfers = true;
    }
    return true;
  });
  return part;
}

void revoke_keys(const char* routine, windows::WindowName window, const Extent& extent,
                 Registrations::Memory memory) noexcept {
  if (choice == config::NetRma::off) return;
  std::vector<int> holders;
  {
    const Locked endpoint;
    holders = state().opened.holders(window, extent);
  }
  Tracker open;
  for (const int pe : holders) {
    KeyRevokeHeader header{window, 0, 0, extent};
    send_request(routine, {pe, am::kKeyRevoke, kNoData}, header, {&open});
  }
  await_replies(routine, -1, open);
  const Locked endpoint;
  state().opened.close(window, extent, memory);
}

Registrations::Counts registration_counts() noexcept {
  const Locked endpoint;
  return state().opened.registrations().counts();
}

// Looks at completions alone do not report what the network has lost. A poll does, with a line that names the PE.
void end_for_failure(const char* routine) noexcept {
  {
    const Locked endpoint;
    endpoint->poll();
  }
  fatal(routine, "a put or get of the network's own was under way when that network failed");
}

void flush_rdma_all(const char* routine) noexcept {
  progress::wait_under_lock(routine, -1, [](Endpoint&) { return state().transfers.empty(); });
}

bool start_kept(Endpoint& endpoint, const KeptTransfer& kept, std::uint64_t offset, transport::Rma& rma,
                const transport::RemoteKey& key) {
  State& all = state();
  if (all.transfers.size() >= kMostKept || !endpoint.has_path(kept.what.place.pe)) return false;
  if (all.spare.empty()) all.spare.push_back(std::make_unique<Started>());
  Started& started = *all.spare.back();
  started.completion = {};
  started.has_ticket = false;
  started.what = kept.what;
  started.open = kept.open;
  started.context = kept.context;
  started.source = kept.source;
  if (kept.source == KeptTransfer::Source::copied) {
    std::memcpy(started.copy.data(), kept.what.local, kept.what.bytes);
    started.what.local = started.copy.data();
  }
  const std::span<std::byte> local(started.what.local, started.what.bytes);
  const bool is_taken = kept.what.direction == Direction::put ? rma.put(key, offset, local, started.completion, nullptr)
                                                              : rma.get(key, offset, local, started.completion);
  if (!is_taken) return false;
  ++kept.open->open;
  all.transfers.push_back(std::move(all.spare.back()));
  all.spare.pop_back();
  has_transfers = true;
  return true;
}

bool finish_transfers(Endpoint& endpoint) noexcept {
  State& all = state();
  const std::size_t ended = std::erase_if(all.transfers, [&](auto& transfer) {
    if (!try_end(endpoint, *transfer)) return false;
    if (transfer->open != nullptr) all.spare.push_back(std::move(transfer));
    return true;
  });
  std::erase_if(all.revocations, [&](const Revocation& revocation) { return try_finish(endpoint, revocation); });
  has_transfers = !all.transfers.empty() || !all.revocations.empty();
  return ended != 0;
}

void set_key_handlers() noexcept {
  am::set_handler(am::kKeyRequest, handle_key_request, {.role = am::Role::request});
  set_probe_handler(takes);
  am::set_handler(am::kKeyRevoke, handle_key_revoke, {.role = am::Role::request});
}

}  // namespace shmemx::onesided
