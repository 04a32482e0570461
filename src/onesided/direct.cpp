#include "onesided/direct.hpp"

#include <algorithm>
#include <span>

#include "am/endpoint.hpp"
#include "onesided/lane.hpp"
#include "onesided/rdma.hpp"
#include "onesided/short_path.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {
namespace {

using am::Locked;
using transport::Completion;

constinit Network common_network = {};  // of all direct peers

[[gnu::always_inline]] inline const DirectPiece* find_piece(const context::Place& place, std::uint64_t bytes,
                                                            DirectPeer*& peer) noexcept {
  peer =
      direct_peers != nullptr && place.window.index < windows::kBuiltinWindows ? direct_peers->find(place.pe) : nullptr;
  return peer != nullptr ? peer->of_window[place.window.index].find(place.offset, bytes) : nullptr;
}

// The completion of what a caller waits for. What has become of it is read under the lock: whoever polls writes it.
struct Own {
  Completion completion;
  bool is_open = false;
  bool has_failed = false;  // the PE is lost, as messages will find
  bool is_unknown = false;

  // Before the lock is released.
  [[gnu::always_inline]] void look() noexcept {
    if ((completion.open != 0) != is_open) [[unlikely]]
      change();
    has_failed = completion.failed;
    is_unknown = completion.is_unknown;
  }

 private:
  void change() noexcept;
};
void Own::change() noexcept {
  is_open = !is_open;
  is_open ? ++direct_awaited : --direct_awaited;
}

// Makes operations end for a caller that waits for some of them. Looks at their network alone, and everywhere now and
// then: messages are to be handled, too, and other things than completions be found out.
[[gnu::always_inline]] inline void look_at(am::Endpoint& endpoint, const Network& network) noexcept {
  if (endpoint.note_look() || network.rma == nullptr) [[unlikely]] {
    endpoint.poll();
  } else {
    endpoint.begin_operations(network.number);
    network.rma->progress();
  }
}

// Waits for what ends at a network. is_over() is called under the lock.
template <class Done>
void wait_at(const char* routine, int pe, const Network& network, Done is_over) noexcept {
  const auto look = [&] {
    const Locked endpoint;
    if (is_over()) return true;
    look_at(*endpoint, network);
    return is_over();
  };
  if (look()) return;
  for (std::uint32_t left = progress::looks_at_network(); left != 0; --left) {
    if (look()) return;
  }
  progress::wait_under_lock(routine, pe, [&](am::Endpoint&) { return is_over(); });
}

void await(const char* routine, int pe, const Network& network, Own& own) noexcept {
  wait_at(routine, pe, network, [&] {
    own.look();
    return !own.is_open;
  });
  if (own.is_unknown) end_for_failure(routine);  // it may still move data
}

// What was sent to the PE before the first `fences` fences has been executed when this returns.
[[gnu::noinline, gnu::cold]] void follow_fence(const char* routine, const context::Place& place,
                                               std::uint32_t fences) noexcept {
  flush_fenced_messages(routine, place.pe);
  const Locked endpoint;
  DirectPeer* const peer = direct_peers->find(place.pe);
  if (peer != nullptr && peer->must_follow(fences)) peer->fences = fences;
}

enum class Begun : std::uint8_t { started, busy, fenced, unfit };

// What an operation begins with.
struct Attempt {
  const char* routine;
  context::Place place;
  std::uint64_t bytes;
  std::uint32_t fences;  // called before a put, also by this thread; they count up for ever
  bool is_put;
};

// Calls start(endpoint, peer, piece) under the lock.
template <class Start>
[[gnu::always_inline]] inline Begun try_once(const Attempt& attempt, Start& start) noexcept {
  const int pe = attempt.place.pe;
  const Locked endpoint;
  DirectPeer* peer;
  const DirectPiece* const piece = find_piece(attempt.place, attempt.bytes, peer);
  if (piece == nullptr) [[unlikely]]
    return Begun::unfit;
  if (attempt.is_put && peer->must_follow(attempt.fences)) [[unlikely]]
    return Begun::fenced;
  if (peer->network.has_reserve && (attempt.bytes > kMostOfPart || endpoint->has_followed(pe))) [[unlikely]]
    return Begun::unfit;
  if (start(*endpoint, *peer, *piece)) [[likely]]
    return Begun::started;
  endpoint->poll(pe);
  return Begun::busy;
}

template <class Start>
[[gnu::noinline, gnu::cold]] bool try_again(const Attempt& attempt, Begun result, Start& start) noexcept {
  while (result == Begun::busy || result == Begun::fenced) {
    if (result == Begun::fenced) {
      follow_fence(attempt.routine, attempt.place, attempt.fences);
      result = try_once(attempt, start);
      continue;
    }
    progress::wait_for(attempt.routine, [&] {
      result = try_once(attempt, start);
      return result != Begun::busy;
    });
  }
  return result == Begun::started;
}

// Returns false if it is unfit.
template <class Start>
[[gnu::always_inline]] inline bool start_direct(const Attempt& attempt, Start start) noexcept {
  const Begun result = try_once(attempt, start);
  if (result == Begun::started) [[likely]]
    return true;
  return result != Begun::unfit && try_again(attempt, result, start);
}
inline Attempt put_attempt(const char* routine, const context::Place& place, std::uint64_t bytes) noexcept {
  return {routine, place, bytes, am::fences.load(std::memory_order_relaxed), true};
}
inline Attempt get_attempt(const char* routine, const context::Place& place, std::uint64_t bytes) noexcept {
  return {routine, place, bytes, 0, false};
}

transport::Bytes block_at(const void* source, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(source), bytes};
}
std::span<std::byte> block_at(void* dest, std::size_t bytes) noexcept { return {static_cast<std::byte*>(dest), bytes}; }

// Its fence and quiet have to wait for the direct path, too. To be called before a put that the lane has not taken.
void note_direct_use(const char* routine, const context::Context& context) noexcept {
  if (context.lane == nullptr) return;
  await_fenced_puts_of_lane(routine, context);
  context.lane->uses_direct = true;
}

// A block of the program and its place at the target.
struct BlockOf {
  const char* routine;
  const context::Context& context;
  context::Place place;
  void* local;
  std::size_t bytes;

  void skip(std::size_t place_step, std::size_t local_step) noexcept {
    place.offset += place_step;
    local = static_cast<std::byte*>(local) + local_step;
  }
};

// What a message may have to repeat is kept: a copy of a short source; a longer one stays in use until the put is
// complete. `source_use` is null if the source stays in any case.
[[gnu::noinline]] bool put_kept(am::Endpoint& endpoint, const DirectNetwork& network, const DirectPiece& piece,
                                const BlockOf& block, Completion* source_use) noexcept {
  using Source = KeptTransfer::Source;
  const Source source = source_use == nullptr                       ? Source::stays
                        : block.bytes <= KeptTransfer::kCopiedBytes ? Source::copied
                                                                    : Source::waits;
  Completion& open = source == Source::waits ? *source_use : direct_open_of(block.context).puts;
  auto* const local = static_cast<std::byte*>(block.local);
  const KeptTransfer kept{
      {block.routine, Direction::put, block.place, local, block.bytes}, &open, index_of(block.context), source};
  return start_kept(endpoint, kept, block.place.offset - piece.begin, *network.rma, *piece.key);
}

[[gnu::always_inline]] inline bool put_block(am::Endpoint& endpoint, const DirectNetwork& network,
                                             const DirectPiece& piece, const BlockOf& block,
                                             Completion* source_use) noexcept {
  if (network.has_reserve) [[unlikely]]
    return put_kept(endpoint, network, piece, block, source_use);
  return network.rma->put(*piece.key, block.place.offset - piece.begin, block_at(block.local, block.bytes),
                          direct_open_of(block.context).puts, source_use);
}

// Blocks that are started under one lock, as many as lie in front of each other without leaving 64 bits.
constexpr std::size_t kBlocksAtOnce = 64;
std::uint64_t span_of(std::size_t step, std::size_t blocks, std::size_t block_bytes) noexcept {
  return static_cast<std::int64_t>(step) < 0 ? 0 : step * (blocks - 1) + block_bytes;
}

}  // namespace

void add_direct(const context::Place& place, const DirectPiece& piece, const DirectNetwork& network) {
  if (direct_peers == nullptr) {
    static auto* const table = new Contacts<DirectPeer>;
    direct_peers = table;
    direct_peers->open(static_cast<std::size_t>(am::own_endpoint().n_pes()));
    direct_peer_of = direct_peers->entries();
  }
  DirectPeer& peer = direct_peers->get(place.pe);
  if (peer.network.rma == nullptr) peer.fences = am::fences.load(std::memory_order_relaxed) - 1;
  peer.network = network;
  peer.bare = network.rma->bare();
  peer.network_number = Locked::held().network_number(place.pe);
  if (direct_peers->list().size() == 1) common_network = peer.where();
  if (common_network.rma != network.rma) common_network = {};
  peer.of_window[place.window.index].add(piece);
  if (!network.has_reserve && place.window == windows::kHeapWindow) peer.heap.add(piece);
  direct_keys.store(true, std::memory_order_relaxed);                       // a hint
  short_path.store(!context::uses_cold_halves, std::memory_order_relaxed);  // a hint
}

void forget_direct() noexcept {
  direct_keys.store(false, std::memory_order_relaxed);  // a hint
  short_path.store(false, std::memory_order_relaxed);   // a hint
  if (direct_peers != nullptr) direct_peers->clear();
  direct_peers = nullptr;
  common_network = {};
}

bool put_direct(const char* routine, const context::Context& context, const context::Place& dest, const void* source,
                std::size_t bytes) noexcept {
  if (context.lane != nullptr) {
    if (put_by_lane(routine, context, dest, block_at(source, bytes))) return true;
    note_direct_use(routine, context);
  }
  Own source_use;
  Network network;
  const auto start = [&](am::Endpoint& endpoint, const DirectPeer& peer, const DirectPiece& piece) {
    const BlockOf block{routine, context, dest, const_cast<void*>(source), bytes};
    const bool is_taken = put_block(endpoint, peer.network, piece, block, &source_use.completion);
    source_use.look();
    network = peer.where();
    return is_taken;
  };
  const bool is_started = start_direct(put_attempt(routine, dest, bytes), start);
  if (source_use.is_open) await(routine, dest.pe, network, source_use);
  return is_started;
}

bool put_nbi_direct(const char* routine, const context::Context& context, const context::Place& dest,
                    const void* source, std::size_t bytes) noexcept {
  if (context.lane != nullptr) {
    if (put_nbi_by_lane(routine, context, dest, block_at(source, bytes))) return true;
    note_direct_use(routine, context);
  }
  const auto start = [&](am::Endpoint& endpoint, const DirectPeer& peer, const DirectPiece& piece) {
    const BlockOf block{routine, context, dest, const_cast<void*>(source), bytes};
    return put_block(endpoint, peer.network, piece, block, nullptr);
  };
  return start_direct(put_attempt(routine, dest, bytes), start);
}

std::size_t put_strided_direct(const char* routine, const context::Context& context, const context::Place& dest,
                               const void* source, const rma::Strided& shape) noexcept {
  if (context.lane != nullptr) {
    if (const std::size_t done = put_strided_by_lane(routine, context, dest, source, shape); done != 0) return done;
    note_direct_use(routine, context);
  }
  Own source_use;
  Network network;
  BlockOf block{routine, context, dest, const_cast<void*>(source), shape.block_bytes};
  std::size_t done = 0;
  bool is_fit = true;
  while (is_fit && done < shape.block_count) {
    const std::size_t end = std::min(done + kBlocksAtOnce, shape.block_count);
    const std::uint64_t span = span_of(shape.dest_step, end - done, shape.block_bytes);
    const auto start = [&](am::Endpoint& endpoint, const DirectPeer& peer, const DirectPiece& piece) {
      network = peer.where();
      for (; done < end; ++done) {
        if (!put_block(endpoint, peer.network, piece, block, &source_use.completion)) return false;
        block.skip(shape.dest_step, shape.source_step);
      }
      return true;
    };
    is_fit = span != 0 && start_direct(put_attempt(routine, block.place, span), start);
  }
  await(routine, dest.pe, network, source_use);
  return done;
}

bool get_direct(const char* routine, const context::Context& context, void* dest, const context::Place& source,
                std::size_t bytes) noexcept {
  if (context.lane != nullptr && get_by_lane(routine, context, block_at(dest, bytes), source)) return true;
  Own get;
  Network network;
  const auto start = [&](am::Endpoint&, const DirectPeer& peer, const DirectPiece& piece) {
    const std::span<std::byte> local(static_cast<std::byte*>(dest), bytes);
    const bool is_taken = peer.network.rma->get(*piece.key, source.offset - piece.begin, local, get.completion);
    get.look();
    network = peer.where();
    return is_taken;
  };
  if (!start_direct(get_attempt(routine, source, bytes), start)) return false;
  if (get.is_open) await(routine, source.pe, network, get);
  return !get.has_failed;
}

bool await_get(const char* routine, const context::Context& context, std::int32_t world_pe,
               Completion& completion) noexcept {
  if (context.lane != nullptr) return await_get_of_lane(routine, *context.lane, completion);
  const Network network = [&] {
    const Locked endpoint;
    return direct_peers->find(world_pe)->where();
  }();
  bool failed = false;
  bool is_unknown = false;
  wait_at(routine, world_pe, network, [&] {
    if (completion.open != 0) return false;
    failed = completion.failed;
    is_unknown = completion.is_unknown;
    --direct_awaited;
    return true;
  });
  if (is_unknown) end_for_failure(routine);  // it may still move data
  return !failed;
}

bool get_nbi_direct(const char* routine, const context::Context& context, void* dest, const context::Place& source,
                    std::size_t bytes) noexcept {
  if (context.lane != nullptr) {
    if (get_nbi_by_lane(routine, context, block_at(dest, bytes), source)) return true;
    note_direct_use(routine, context);
  }
  const auto start = [&](am::Endpoint& endpoint, const DirectPeer& peer, const DirectPiece& piece) {
    Completion& gets = direct_open_of(context).gets;
    auto* const local = static_cast<std::byte*>(dest);
    const std::uint64_t offset = source.offset - piece.begin;
    if (!peer.network.has_reserve) [[likely]]
      return peer.network.rma->get(*piece.key, offset, {local, bytes}, gets);
    const KeptTransfer kept{
        {routine, Direction::get, source, local, bytes}, &gets, index_of(context), KeptTransfer::Source::stays};
    return start_kept(endpoint, kept, offset, *peer.network.rma, *piece.key);
  };
  return start_direct(get_attempt(routine, source, bytes), start);
}

std::size_t get_strided_direct(const char* routine, const context::Context& context, void* dest, context::Place source,
                               const rma::Strided& shape) noexcept {
  if (context.lane != nullptr) {
    const std::size_t done = get_strided_by_lane(routine, context, dest, source, shape);
    if (done != 0) return done;
  }
  auto* to = static_cast<std::byte*>(dest);
  Own gets;
  Network network;
  std::size_t done = 0;
  bool is_fit = true;
  while (is_fit && done < shape.block_count) {
    const std::size_t end = std::min(done + kBlocksAtOnce, shape.block_count);
    const std::uint64_t span = span_of(shape.source_step, end - done, shape.block_bytes);
    const auto start = [&](am::Endpoint&, const DirectPeer& peer, const DirectPiece& piece) {
      network = peer.where();
      for (; done < end; ++done) {
        const std::span<std::byte> local(to, shape.block_bytes);
        if (!peer.network.rma->get(*piece.key, source.offset - piece.begin, local, gets.completion)) return false;
        source.offset += shape.source_step;
        to += shape.dest_step;
      }
      return true;
    };
    is_fit = span != 0 && start_direct(get_attempt(routine, source, span), start);
  }
  await(routine, source.pe, network, gets);
  return gets.has_failed ? 0 : done;
}

bool has_direct_open() noexcept {
  const auto is_open = [](const DirectOpen& open) { return !open.is_empty(); };
  return direct_awaited != 0 || may_lanes_be_open() ||
         std::any_of(direct_open, direct_open + used_entries.load(std::memory_order_relaxed), is_open);
}

namespace {

// Returns false if they have to be complete first.
bool fence_by_network(DirectOpen& open) noexcept {
  const Locked endpoint;
  if (open.puts.open == 0 || common_network.rma == nullptr || common_network.has_reserve) return false;
  const transport::FenceOrder order = common_network.rma->fence();
  if (order == transport::FenceOrder::puts) open.note_fence();
  return order != transport::FenceOrder::nothing;
}

}  // namespace

void await_direct_puts(const char* routine, const context::Context& context) noexcept {
  if (!has_direct_keys()) return;
  DirectOpen& open = direct_open[index_of(context)];
  bool failed = false;
  wait_at(routine, -1, common_network, [&] {
    failed = open.puts.failed;
    if (open.puts.open != 0) return false;
    open.note_complete();
    return true;
  });
  if (failed) end_for_failure(routine);
}

bool is_fenced(const context::Context& context) noexcept {
  const Locked endpoint;
  return direct_open[index_of(context)].is_fenced;
}

void fence_direct_puts(const char* routine, const context::Context& context) noexcept {
  if (has_direct_keys() && !fence_by_network(direct_open[index_of(context)])) await_direct_puts(routine, context);
}

void await_direct(const char* routine, const context::Context* context) noexcept {
  if (!has_direct_keys()) return;
  bool failed = false;
  wait_at(routine, -1, common_network, [&] {
    const std::uint32_t first = context != nullptr ? index_of(*context) : 0;
    const std::uint32_t end = context != nullptr ? first + 1 : used_entries.load(std::memory_order_relaxed);
    for (std::uint32_t i = first; i < end; ++i) {
      DirectOpen& open = direct_open[i];
      if (!open.is_empty()) return false;
      open.note_complete();
      failed = failed || open.puts.failed || open.gets.failed;
    }
    return true;
  });
  if (failed) end_for_failure(routine);
}

}  // namespace shmemx::onesided
