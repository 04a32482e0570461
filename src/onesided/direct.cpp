#include "onesided/direct.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "am/endpoint.hpp"
#include "base/contact_table.hpp"
#include "base/fatal.hpp"
#include "onesided/keys.hpp"
#include "onesided/rdma.hpp"
#include "onesided/requests.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {
namespace {

using am::Locked;
using transport::Completion;

// The pieces of a window that this PE has keys of, by the first bits of the offset. A piece of a window that begins
// elsewhere shares its entry with others; the last one to be used has it.
class Pieces {
 public:
  const DirectPiece* find(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    const std::size_t index = offset >> shift_;
    if (index >= by_offset_.size()) return nullptr;
    const DirectPiece& piece = by_offset_[index];
    return piece.key != nullptr && piece.holds(offset, bytes) ? &piece : nullptr;
  }
  void add(const DirectPiece& piece) {
    if (by_offset_.empty()) shift_ = std::countr_zero(std::bit_ceil(std::max(piece.bytes, kMinKeyRange)));
    const std::size_t first = piece.begin >> shift_;
    const std::size_t last = (piece.begin + piece.bytes - 1) >> shift_;
    if (last >= by_offset_.size()) by_offset_.resize(last + 1);
    std::fill(by_offset_.begin() + static_cast<std::ptrdiff_t>(first),
              by_offset_.begin() + static_cast<std::ptrdiff_t>(last) + 1, piece);
  }

 private:
  int shift_ = 0;
  std::vector<DirectPiece> by_offset_;
};

struct Peer {
  DirectNetwork network{};
  std::uint32_t fences = 0;  // am::fences when all messages sent there before had been executed
  Pieces of_window[windows::kBuiltinWindows];
};

// What the contexts have under way.
struct Open {
  Completion puts;
  Completion gets;

  bool is_empty() const noexcept { return (puts.open | gets.open) == 0; }
};

// All under the endpoint's lock. Never destroyed: threads may still poll while the process exits.
constinit Open open_of_context[context::kMaxContexts] = {};
constinit Contacts<Peer>* peers = nullptr;  // null: no piece is known

[[gnu::always_inline]] inline const DirectPiece* find_piece(const context::Place& place, std::uint64_t bytes,
                                                            Peer*& peer) noexcept {
  peer = peers != nullptr && place.window.index < windows::kBuiltinWindows ? peers->find(place.pe) : nullptr;
  return peer != nullptr ? peer->of_window[place.window.index].find(place.offset, bytes) : nullptr;
}

[[noreturn, gnu::cold]] void has_failed(const char* routine) noexcept {
  fatal(routine, "a put or get of the network's own was under way when that network failed");
}

constinit std::uint32_t most_contexts = 0;  // those from here on have never had an operation

inline Open& open_of(const context::Context& context) noexcept {
  const auto distance =
      reinterpret_cast<std::uintptr_t>(&context) - reinterpret_cast<std::uintptr_t>(context::context_table);
  std::uint32_t index = static_cast<std::uint32_t>(distance / sizeof(context::Context));
  if (distance >= sizeof context::context_table) [[unlikely]]
    index = context::kDefaultContext;
  if (index >= most_contexts) [[unlikely]]
    most_contexts = index + 1;
  return open_of_context[index];
}

// Waits for an operation of the caller. Returns false if it has failed: the PE is lost, as messages will find.
bool await(const char* routine, int pe, const Completion& completion) noexcept {
  progress::wait_under_lock(routine, pe, [&](am::Endpoint&) { return completion.open == 0; });
  return !completion.failed;
}

// What was sent to the PE before the last fence has been executed when this returns.
[[gnu::noinline, gnu::cold]] void follow_fence(const char* routine, const context::Place& place) noexcept {
  const std::uint32_t fences = am::fences.load(std::memory_order_relaxed);
  flush_fenced_messages(routine, place.pe);
  const Locked endpoint;
  if (Peer* const peer = peers->find(place.pe)) peer->fences = fences;
}

enum class Try : std::uint8_t { started, busy, fenced, unfit };

// Calls start(endpoint, network, piece) under the lock.
template <bool kIsPut, class Start>
[[gnu::always_inline]] inline Try try_once(const context::Place& place, std::uint64_t bytes, Start start) noexcept {
  const Locked endpoint;
  Peer* peer;
  const DirectPiece* const piece = find_piece(place, bytes, peer);
  if (piece == nullptr) [[unlikely]]
    return Try::unfit;
  if (kIsPut && peer->fences != am::fences.load(std::memory_order_relaxed)) [[unlikely]]  // includes this thread's own
    return Try::fenced;
  if (peer->network.has_reserve && endpoint->has_followed(place.pe)) [[unlikely]]
    return Try::unfit;
  if (start(*endpoint, peer->network, *piece)) [[likely]]
    return Try::started;
  endpoint->poll(place.pe);
  return Try::busy;
}

template <bool kIsPut, class Start>
[[gnu::noinline, gnu::cold]] bool try_again(const char* routine, const context::Place& place, std::uint64_t bytes,
                                            Try result, Start start) noexcept {
  progress::wait_for(routine, [&] {
    if (result == Try::fenced) follow_fence(routine, place);
    result = try_once<kIsPut>(place, bytes, start);
    return result == Try::started || result == Try::unfit;
  });
  return result == Try::started;
}

// Returns false if it is unfit.
template <bool kIsPut, class Start>
[[gnu::always_inline]] inline bool start_direct(const char* routine, const context::Place& place, std::uint64_t bytes,
                                                Start start) noexcept {
  const Try result = try_once<kIsPut>(place, bytes, start);
  if (result == Try::started) [[likely]]
    return true;
  return result != Try::unfit && try_again<kIsPut>(routine, place, bytes, result, start);
}

transport::Bytes bytes_at(const void* source, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(source), bytes};
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
  Completion& open = source == Source::waits ? *source_use : open_of(block.context).puts;
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
  return network.rma->put(*piece.key, block.place.offset - piece.begin, bytes_at(block.local, block.bytes),
                          open_of(block.context).puts, source_use);
}

// The bytes from the first block to the end of the last one; 0: they are not in front of each other.
std::uint64_t span_of(std::size_t step, const rma::Strided& shape) noexcept {
  const auto signed_step = static_cast<std::int64_t>(step);
  return signed_step < 0 ? 0 : step * (shape.block_count - 1) + shape.block_bytes;
}

}  // namespace

void add_direct(const context::Place& place, const DirectPiece& piece, const DirectNetwork& network) {
  if (peers == nullptr) {
    static auto* const table = new Contacts<Peer>;
    peers = table;
    peers->open(static_cast<std::size_t>(am::own_endpoint().n_pes()));
  }
  Peer& peer = peers->get(place.pe);
  if (peer.network.rma == nullptr) peer.fences = am::fences.load(std::memory_order_relaxed) - 1;
  peer.network = network;
  peer.of_window[place.window.index].add(piece);
  direct_keys.store(true, std::memory_order_relaxed);  // a hint
}

void forget_direct() noexcept {
  direct_keys.store(false, std::memory_order_relaxed);  // a hint
  if (peers != nullptr) peers->clear();
  peers = nullptr;
}

bool put_direct(const char* routine, const context::Context& context, const context::Place& dest, const void* source,
                std::size_t bytes) noexcept {
  Completion source_use;
  const bool is_started = start_direct<true>(
      routine, dest, bytes, [&](am::Endpoint& endpoint, const DirectNetwork& network, const DirectPiece& piece) {
        const BlockOf block{routine, context, dest, const_cast<void*>(source), bytes};
        return put_block(endpoint, network, piece, block, &source_use);
      });
  if (is_started && source_use.open != 0) await(routine, dest.pe, source_use);
  return is_started;
}

bool put_nbi_direct(const char* routine, const context::Context& context, const context::Place& dest,
                    const void* source, std::size_t bytes) noexcept {
  return start_direct<true>(routine, dest, bytes,
                            [&](am::Endpoint& endpoint, const DirectNetwork& network, const DirectPiece& piece) {
                              const BlockOf block{routine, context, dest, const_cast<void*>(source), bytes};
                              return put_block(endpoint, network, piece, block, nullptr);
                            });
}

bool put_strided_direct(const char* routine, const context::Context& context, context::Place dest, const void* source,
                        const rma::Strided& any_shape) noexcept {
  const rma::Strided shape = rma::joined(any_shape);
  const std::uint64_t span = span_of(shape.dest_step, shape);
  if (shape.block_bytes == 0 || shape.block_count == 0 || span == 0) return false;
  Completion source_use;
  BlockOf block{routine, context, dest, const_cast<void*>(source), shape.block_bytes};
  std::size_t left = shape.block_count;
  const bool is_started = start_direct<true>(
      routine, dest, span, [&](am::Endpoint& endpoint, const DirectNetwork& network, const DirectPiece& piece) {
        for (; left != 0; --left) {
          if (!put_block(endpoint, network, piece, block, &source_use)) return false;
          block.skip(shape.dest_step, shape.source_step);
        }
        return true;
      });
  if (source_use.open != 0) await(routine, dest.pe, source_use);
  return is_started;
}

bool get_direct(const char* routine, void* dest, const context::Place& source, std::size_t bytes) noexcept {
  Completion get;
  const bool is_started = start_direct<false>(
      routine, source, bytes, [&](am::Endpoint&, const DirectNetwork& network, const DirectPiece& piece) {
        const std::span<std::byte> local(static_cast<std::byte*>(dest), bytes);
        return network.rma->get(*piece.key, source.offset - piece.begin, local, get);
      });
  if (!is_started) return false;
  if (get.open == 0) [[likely]]
    return !get.failed;
  return await(routine, source.pe, get);
}

bool get_nbi_direct(const char* routine, const context::Context& context, void* dest, const context::Place& source,
                    std::size_t bytes) noexcept {
  return start_direct<false>(
      routine, source, bytes, [&](am::Endpoint& endpoint, const DirectNetwork& network, const DirectPiece& piece) {
        Completion& gets = open_of(context).gets;
        auto* const local = static_cast<std::byte*>(dest);
        const std::uint64_t offset = source.offset - piece.begin;
        if (!network.has_reserve) [[likely]]
          return network.rma->get(*piece.key, offset, {local, bytes}, gets);
        const KeptTransfer kept{
            {routine, Direction::get, source, local, bytes}, &gets, index_of(context), KeptTransfer::Source::stays};
        return start_kept(endpoint, kept, offset, *network.rma, *piece.key);
      });
}

bool get_strided_direct(const char* routine, void* dest, context::Place source,
                        const rma::Strided& any_shape) noexcept {
  const rma::Strided shape = rma::joined(any_shape);
  const std::uint64_t span = span_of(shape.source_step, shape);
  if (shape.block_bytes == 0 || shape.block_count == 0 || span == 0) return false;
  auto* to = static_cast<std::byte*>(dest);
  std::uint64_t offset = source.offset;
  Completion gets;
  std::size_t left = shape.block_count;
  const bool is_started = start_direct<false>(
      routine, source, span, [&](am::Endpoint&, const DirectNetwork& network, const DirectPiece& piece) {
        for (; left != 0; --left) {
          if (!network.rma->get(*piece.key, offset - piece.begin, {to, shape.block_bytes}, gets)) return false;
          offset += shape.source_step;
          to += shape.dest_step;
        }
        return true;
      });
  return await(routine, source.pe, gets) && is_started;
}

void await_direct_puts(const char* routine, const context::Context& context) noexcept {
  if (!has_direct_keys()) return;
  Completion& puts = open_of_context[index_of(context)].puts;
  if (!await(routine, -1, puts)) has_failed(routine);
}

void await_direct(const char* routine, const context::Context* context) noexcept {
  if (!has_direct_keys()) return;
  bool failed = false;
  progress::wait_under_lock(routine, -1, [&](am::Endpoint&) {
    const std::uint32_t first = context != nullptr ? index_of(*context) : 0;
    const std::uint32_t end = context != nullptr ? first + 1 : most_contexts;
    for (std::uint32_t i = first; i < end; ++i) {
      const Open& open = open_of_context[i];
      if (!open.is_empty()) return false;
      failed = failed || open.puts.failed || open.gets.failed;
    }
    return true;
  });
  if (failed) has_failed(routine);
}

}  // namespace shmemx::onesided
