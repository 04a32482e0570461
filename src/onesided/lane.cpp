#include "onesided/lane.hpp"

#include <algorithm>
#include <vector>

#include "am/endpoint.hpp"
#include "base/fatal.hpp"
#include "base/immortal.hpp"
#include "base/own_stack.hpp"
#include "check/checks.hpp"
#include "nemesis/unflushed_pes.hpp"
#include "onesided/rdma.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {
namespace {

using am::Locked;
using transport::Completion;

constexpr std::size_t kMostLanes = 16;  // of a process

// Under the endpoint's lock. Never destroyed: threads may still poll while the process exits.
struct Lanes {
  std::vector<std::unique_ptr<Lane>> all;    // each serves one context after the other
  const transport::Rma* has_none = nullptr;  // this network has opened no lane
  Lane unopened;                             // of contexts that want one
  SpareStack stack;                          // of calls that may wait for a thread with a small one
};
Lanes& lanes() noexcept {
  static Lanes* const instance = new Lanes;
  return *instance;
}

Lane& lane_of(const context::Context& context) noexcept { return *context.lane; }
void set_lane(const context::Context& context, Lane* lane) noexcept {
  context::context_table[index_of(context)].lane = lane;
}

// ---- opening ----

// Returns null if the network has no more.
Lane* find_or_open(transport::Rma* rma) {
  Lanes& known = lanes();
  const auto free = std::find_if(known.all.begin(), known.all.end(),
                                 [rma](const auto& lane) { return lane->rma == rma && lane->context == 0; });
  if (free != known.all.end()) return free->get();
  if (known.all.size() >= kMostLanes || known.has_none == rma) return nullptr;
  auto fresh = std::make_unique<Lane>();
  fresh->network = rma->open_lane();
  fresh->rma = rma;
  if (fresh->network == nullptr) {
    known.has_none = rma;
    return nullptr;
  }
  fresh->peers.open(static_cast<std::size_t>(am::own_endpoint().n_pes()));
  known.all.push_back(std::move(fresh));
  has_lanes = true;
  debug_line("a context has endpoints of its own, number %zu of at most %zu", known.all.size(), kMostLanes);
  return known.all.back().get();
}

// Returns the peer of the direct path if a lane may lead there.
const DirectPeer* eligible_peer(int pe) noexcept {
  const DirectPeer* const peer = direct_peers != nullptr ? direct_peers->find(pe) : nullptr;
  return peer != nullptr && peer->network.rma != nullptr && !peer->network.has_reserve ? peer : nullptr;
}

// Returns false if the context has no lane, now or for ever.
bool open_for(const context::Context& context, const DirectPeer& peer) {
  if (lane_of(context).network != nullptr) return true;
  Lane* const lane = find_or_open(peer.network.rma);
  if (lane != nullptr) {
    lane->context = index_of(context);
    lane->user = this_thread();
  }
  set_lane(context, lane);
  return lane != nullptr;
}

// Before each use of a lane that is open.
void take_over(Lane& lane) noexcept {
  if (lane.user == this_thread()) [[likely]]
    return;
  const Locked endpoint;  // a poll of the former user may be at work
  lane.user = this_thread();
}

const DirectPiece* find_known(const Lane& lane, const context::Place& place, std::uint64_t bytes) noexcept {
  const LanePeer* const peer = lane.peers.find(place.pe);
  return peer != nullptr ? peer->of_window[place.window.index].find(place.offset, bytes) : nullptr;
}

// Finds a piece that the direct path knows, and makes it known to the lane. Returns null if the direct path has to go
// on.
[[gnu::noinline, gnu::cold]] const DirectPiece* learn(const context::Context& context, const context::Place& place,
                                                      std::uint64_t bytes) {
  const Locked endpoint;
  const DirectPeer* const peer = eligible_peer(place.pe);
  if (peer == nullptr || !open_for(context, *peer)) return nullptr;
  const DirectPieces& pieces = peer->of_window[place.window.index];
  const DirectPiece* const common = pieces.find(place.offset, bytes);
  Lane& lane = lane_of(context);
  if (const DirectPiece* const known = find_known(lane, place, bytes)) return known;  // by an earlier context
  if (common == nullptr || lane.rma != peer->network.rma) return nullptr;
  transport::RemoteKey* key = nullptr;
  lanes().stack.call([&] { key = lane.network->import_key(*common->key); });
  if (key == nullptr) return nullptr;
  LanePeer* known = lane.peers.find(place.pe);
  if (known == nullptr) {
    known = &lane.peers.add(place.pe);
    known->fences = lane.fences - 1;
  }
  DirectPieces& own = known->of_window[place.window.index];
  own.add({common->begin, common->bytes, key});
  return own.find(place.offset, bytes);
}

// Returns null if the direct path has to do it.
const DirectPiece* find_piece(const context::Context& context, const context::Place& place, std::uint64_t bytes) {
  if (place.window.index >= windows::kBuiltinWindows || !SpareStack::is_needless()) return nullptr;
  Lane& lane = lane_of(context);
  if (lane.network != nullptr) {
    if (bytes > lane.network->most_bytes()) return nullptr;
    take_over(lane);
  }
  if (const DirectPiece* const piece = find_known(lane, place, bytes)) return piece;
  const DirectPiece* const piece = learn(context, place, bytes);
  // It may have opened the lane.
  return piece != nullptr && bytes <= lane_of(context).network->most_bytes() ? piece : nullptr;
}

// ---- waiting ----

// Messages are to be handled, too, and other things than completions be found out.
void look_at(Lane& lane) noexcept {
  lanes().stack.call([&] { lane.network->progress(); });
  if (++lane.looks % am::kLooksPerPoll == 0) am::poll();
}

template <class Done>
void wait_at(const char* routine, Lane& lane, Done is_over) noexcept {
  if (is_over()) return;
  const auto look = [&] {
    look_at(lane);
    return is_over();
  };
  for (std::uint32_t left = progress::looks_at_network(); left != 0; --left) {
    if (look()) return;
  }
  ++lane.awaited;
  lane.note_open();
  progress::wait_for(routine, look);
  --lane.awaited;
}

// The network finds out what it has lost, and ends the job or finds another way.
void report_lost(Lane& lane) noexcept {
  const Locked endpoint;
  lane.network->report_lost();
  endpoint->poll();
}

[[noreturn, gnu::cold]] void has_failed(const char* routine, Lane& lane) noexcept {
  report_lost(lane);
  end_for_failure(routine);
}

void await_all(const char* routine, Lane& lane) noexcept {
  take_over(lane);
  wait_at(routine, lane, [&] { return lane.open.is_empty(); });
  if (lane.open.puts.failed || lane.open.gets.failed) has_failed(routine, lane);
  lane.open.note_complete();
  lane.may_be_open.store(false, std::memory_order_relaxed);
}

// ---- operations ----

// Returns when what was sent to the PE before the context's last fence has been executed.
void follow_fence(const char* routine, Lane& lane, int pe) noexcept {
  LanePeer& peer = *lane.peers.find(pe);
  if (peer.fences == lane.fences) return;
  if (nemesis::unflushed_count.load(std::memory_order_acquire) != 0) progress::flush(routine, pe);  // flushed
  peer.fences = lane.fences;
}

// Calls start(), which returns false if completions have to be read first.
template <class Start>
void start_at(const char* routine, Lane& lane, Start start) noexcept {
  if (!start()) {
    progress::wait_for(routine, [&] {
      look_at(lane);
      return start();
    });
  }
  lane.note_open();
}

bool start_put(const char* routine, const context::Context& context, const context::Place& dest,
               transport::Bytes source, Completion* source_use) noexcept {
  const DirectPiece* const piece = find_piece(context, dest, source.size());
  if (piece == nullptr) return false;
  Lane& lane = lane_of(context);
  follow_fence(routine, lane, dest.pe);
  start_at(routine, lane, [&] {
    return lane.network->put(*piece->key, dest.offset - piece->begin, source, lane.open.puts, source_use);
  });
  return true;
}

bool start_get(const char* routine, const context::Context& context, std::span<std::byte> dest,
               const context::Place& source, Completion* completion) noexcept {
  const DirectPiece* const piece = find_piece(context, source, dest.size());
  if (piece == nullptr) return false;
  Lane& lane = lane_of(context);
  Completion& counted = completion != nullptr ? *completion : lane.open.gets;
  start_at(routine, lane, [&] { return lane.network->get(*piece->key, source.offset - piece->begin, dest, counted); });
  return true;
}

}  // namespace

void want_lane(context::Context& context) noexcept {
  if (!has_rma_networks || check::watches_operations()) return;  // which the short path of a lane passes by
  const Locked endpoint;
  Lane& unopened = lanes().unopened;
  const auto n_pes = static_cast<std::size_t>(am::own_endpoint().n_pes());
  if (unopened.peers.n_pes() != n_pes) unopened.peers.open(n_pes);
  context.lane = &unopened;
}

void release_lane(context::Context& context) noexcept {
  if (context.lane == nullptr) return;
  const Locked endpoint;
  if (context.lane->network != nullptr) {
    context.lane->context = 0;
    context.lane->user = nullptr;
  }
  context.lane = nullptr;
}

void close_lanes() noexcept {
  Lanes& known = lanes();
  for (const auto& lane : known.all) {
    if (lane->context != 0) context::context_table[lane->context].lane = nullptr;
  }
  known.stack.call([&] { known.all.clear(); });
  known.has_none = nullptr;
  has_lanes = false;
}

void progress_own_lanes() noexcept {
  for (const auto& lane : lanes().all) {
    if (lane->user != this_thread() || !lane->may_be_open.load(std::memory_order_relaxed)) continue;
    lanes().stack.call([&] { lane->network->progress(); });
    if (lane->open.is_empty() && lane->awaited == 0) lane->may_be_open.store(false, std::memory_order_relaxed);
  }
}

bool may_lanes_be_open() noexcept {
  return std::any_of(lanes().all.begin(), lanes().all.end(),
                     [](const auto& lane) { return lane->may_be_open.load(std::memory_order_relaxed); });
}

bool await_get_of_lane(const char* routine, Lane& lane, Completion& completion) noexcept {
  wait_at(routine, lane, [&] { return completion.open == 0; });
  if (completion.failed) report_lost(lane);
  return !completion.failed;
}

bool put_by_lane(const char* routine, const context::Context& context, const context::Place& dest,
                 transport::Bytes source) noexcept {
  Completion source_use;
  if (!start_put(routine, context, dest, source, &source_use)) return false;
  wait_at(routine, lane_of(context), [&] { return source_use.open == 0; });
  return true;
}

bool put_nbi_by_lane(const char* routine, const context::Context& context, const context::Place& dest,
                     transport::Bytes source) noexcept {
  return start_put(routine, context, dest, source, nullptr);
}

std::size_t put_strided_by_lane(const char* routine, const context::Context& context, context::Place dest,
                                const void* source, const rma::Strided& shape) noexcept {
  Completion source_use;
  const auto* from = static_cast<const std::byte*>(source);
  std::size_t done = 0;
  for (; done < shape.block_count; ++done) {
    if (!start_put(routine, context, dest, {from, shape.block_bytes}, &source_use)) break;
    dest.offset += shape.dest_step;
    from += shape.source_step;
  }
  if (done != 0) wait_at(routine, lane_of(context), [&] { return source_use.open == 0; });
  return done;
}

bool get_by_lane(const char* routine, const context::Context& context, std::span<std::byte> dest,
                 const context::Place& source) noexcept {
  Completion completion;
  return start_get(routine, context, dest, source, &completion) &&
         await_get_of_lane(routine, lane_of(context), completion);
}

bool get_nbi_by_lane(const char* routine, const context::Context& context, std::span<std::byte> dest,
                     const context::Place& source) noexcept {
  return start_get(routine, context, dest, source, nullptr);
}

std::size_t get_strided_by_lane(const char* routine, const context::Context& context, void* dest, context::Place source,
                                const rma::Strided& shape) noexcept {
  Completion completion;
  auto* to = static_cast<std::byte*>(dest);
  std::size_t done = 0;
  for (; done < shape.block_count; ++done) {
    if (!start_get(routine, context, {to, shape.block_bytes}, source, &completion)) break;
    source.offset += shape.source_step;
    to += shape.dest_step;
  }
  return done != 0 && await_get_of_lane(routine, lane_of(context), completion) ? done : 0;
}

namespace {

void await_puts(const char* routine, Lane& lane) noexcept {
  wait_at(routine, lane, [&] { return lane.open.puts.open == 0; });
  if (lane.open.puts.failed) has_failed(routine, lane);
  lane.open.note_complete();
}

// Returns false if the puts have to be complete first.
bool fence_by_network(Lane& lane) noexcept {
  if (lane.open.puts.open == 0) return false;
  transport::FenceOrder order = transport::FenceOrder::nothing;
  lanes().stack.call([&] { order = lane.network->fence(); });
  if (order != transport::FenceOrder::nothing) lane.open.note_fence();  // messages take another way
  return order != transport::FenceOrder::nothing;
}

}  // namespace

void await_fenced_puts_of_lane(const char* routine, const context::Context& context) noexcept {
  Lane& lane = lane_of(context);
  if (!lane.open.is_fenced) return;
  take_over(lane);
  await_puts(routine, lane);
}

bool fence_lane(const char* routine, const context::Context& context) noexcept {
  Lane& lane = lane_of(context);
  if (lane.network == nullptr) return false;
  ++lane.fences;
  take_over(lane);
  if (!fence_by_network(lane)) await_puts(routine, lane);
  return !lane.uses_direct && nemesis::unflushed_count.load(std::memory_order_acquire) == 0 &&  // flushed
         put_table[index_of(context)].open.load(std::memory_order_acquire) == 0;                // reply
}

bool flush_lane(const char* routine, const context::Context& context) noexcept {
  Lane& lane = lane_of(context);
  if (lane.network == nullptr) return false;
  await_all(routine, lane);
  // What goes by the direct path is complete when the caller returns.
  return !std::exchange(lane.uses_direct, false) && !context::calls_make_progress && requests.open_of_contexts() == 0 &&
         nemesis::unflushed_count.load(std::memory_order_acquire) == 0;  // flushed
}

void flush_lanes(const char* routine) noexcept {
  std::vector<Lane*> used;
  {
    const Locked endpoint;
    for (const auto& lane : lanes().all) used.push_back(lane.get());
  }
  for (Lane* lane : used) await_all(routine, *lane);
}

}  // namespace shmemx::onesided
