#include "onesided/rdma.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "onesided/keys.hpp"
#include "onesided/requests.hpp"
#include "onesided/wire.hpp"
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
struct OfContext {
  Completion puts;
  Completion gets;

  bool is_flushed() const noexcept { return puts.open == 0 && gets.open == 0; }
};
constinit OfContext of_contexts[context::kMaxContexts] = {};
constinit std::size_t contexts_used = 0;  // those from here on have never had anything under way

// Never destroyed: threads may still poll while the process exits.
struct State {
  OpenedRanges opened;
  KnownKeys keys;
};
State& state() {
  static State* const instance = new State;
  return *instance;
}

bool takes(const transport::Transport& network) noexcept { return uses_rdma(network.capabilities(), choice); }

// ---- keys ----

Verdict handle_key_ask(Endpoint& endpoint, const Message& message) {
  KeyAsk ask;
  windows::ExposedRange window;
  check_message("a question for a key", message.source, find_key_ask(message.payload, ask, window));
  const GetReplyHeader header{ask.ticket, 0};
  const KeyAnswer none{0, window.bytes, 0, 0, {}};
  const std::string_view name(ask.network, ::strnlen(ask.network, sizeof ask.network));
  transport::Transport* const network = endpoint.network_called(name);
  const bool may_open = endpoint.is_internode(message.source) && network != nullptr && takes(*network);
  const KeyAnswer& answer = may_open ? state().opened.answer(*network, ask, window) : none;
  return endpoint.try_send(message.source, am::kGetReply, am::bytes_of(header), am::bytes_of(answer)) ? Verdict::done
                                                                                                      : Verdict::later;
}

// The one that leads to `pe`, once that is known.
transport::Transport& known_network(const char* routine, int pe) noexcept {
  progress::wait_under_lock(routine, pe, [pe] { return am::own_endpoint.has_way(pe); });
  return am::own_endpoint.network_of(pe);
}

void ask_for_key(const char* routine, const context::Place& place) noexcept {
  KeyAnswer answer{};
  constexpr auto kBytes = static_cast<std::uint32_t>(sizeof answer);
  OpenCount open{0};
  KeyAsk question{place.window, place.offset, 0, 0};
  const std::string_view name = known_network(routine, place.pe).name();
  std::memcpy(question.network, name.data(), std::min(name.size(), sizeof question.network));
  ask(routine, {place.pe, am::kKeyAsk, {reinterpret_cast<std::byte*>(&answer), kBytes, kBytes, 1}}, question,
      {&open, 0});
  await_answers(routine, place.pe, open);
  check_message("a key", place.pe, is_sound(answer, place.offset) ? nullptr : "does not fit what was asked");
  const Locked endpoint;
  state().keys.add(place, answer);
}

// False: the key has to be asked for.
bool find_part(const Transfer& transfer, Part& part) noexcept {
  const Locked endpoint;
  const RemoteKey* const key = state().keys.find(transfer.place);
  if (key == nullptr) return false;
  part = {std::min(transfer.bytes, key->bytes - (transfer.place.offset - key->begin)), key->is_open};
  return true;
}

// ---- order ----

// Messages sent before the last fence must not be overtaken.
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

// False: the network takes nothing now.
bool try_start(const Transfer& transfer, std::size_t bytes, Completion& open) noexcept {
  const Locked endpoint;
  const RemoteKey* const key = state().keys.find(transfer.place);
  const int pe = transfer.place.pe;
  transport::Transport& network = endpoint->network_of(pe);
  const am::Bytes name{reinterpret_cast<const std::byte*>(key->key.data()), key->key.size()};
  const std::uint64_t offset = transfer.place.offset - key->begin;
  const bool taken = transfer.direction == Direction::put
                         ? network.put(pe, name, offset, {transfer.local, bytes}, open)
                         : network.get(pe, name, offset, {transfer.local, bytes}, open);
  return taken || (endpoint->poll(pe), false);
}

OfContext& use(const context::Context& context) noexcept {
  const std::size_t index = index_of(context);
  const Locked endpoint;
  contexts_used = std::max(contexts_used, index + 1);
  return of_contexts[index];
}

}  // namespace

void open_rdma(config::NetRma chosen, std::span<transport::Transport* const> networks) noexcept {
  const auto taken = [chosen](const transport::Transport* network) {
    return uses_rdma(network->capabilities(), chosen);
  };
  const Locked endpoint;  // agents of an earlier life
  choice = std::any_of(networks.begin(), networks.end(), taken) ? chosen : config::NetRma::off;
}

void close_rdma() noexcept {
  const Locked endpoint;
  state().keys.forget();
  state().opened.close();
}

bool has_rdma(int pe) noexcept {
  return choice != config::NetRma::off && am::is_internode(pe) && takes(am::own_endpoint.network_of(pe));
}

Part start_rdma(const Transfer& transfer, Completion& open) noexcept {
  Part part;
  while (!find_part(transfer, part)) ask_for_key(transfer.routine, transfer.place);
  if (!part.is_started) return part;
  if (transfer.direction == Direction::put) flush_fenced_messages(transfer.routine, transfer.place.pe);
  progress::wait_for(transfer.routine, [&] { return try_start(transfer, part.bytes, open); });
  return part;
}

void await_rdma(const char* routine, int pe, const Completion& open) noexcept {
  progress::wait_under_lock(routine, pe, [&] { return open.open == 0; });
}

Completion& rdma_puts_of(const context::Context& context) noexcept { return use(context).puts; }
Completion& rdma_gets_of(const context::Context& context) noexcept { return use(context).gets; }

void flush_rdma_puts(const char* routine, const context::Context& context) noexcept {
  if (choice == config::NetRma::off) return;
  const OfContext& of = of_contexts[index_of(context)];
  progress::wait_under_lock(routine, -1, [&] { return of.puts.open == 0; });
}

void flush_rdma(const char* routine, const context::Context& context) noexcept {
  if (choice == config::NetRma::off) return;
  const OfContext& of = of_contexts[index_of(context)];
  progress::wait_under_lock(routine, -1, [&] { return of.is_flushed(); });
}

void flush_rdma_all(const char* routine) noexcept {
  if (choice == config::NetRma::off) return;
  progress::wait_under_lock(routine, -1, [] {
    return std::all_of(of_contexts, of_contexts + contexts_used, [](const OfContext& of) { return of.is_flushed(); });
  });
}

void set_key_handler() noexcept { am::set_handler(am::kKeyAsk, handle_key_ask, {.role = am::Role::request}); }

}  // namespace shmemx::onesided
