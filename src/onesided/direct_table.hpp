// What the direct path (direct.hpp) knows: the pieces of other PEs by PE and offset, and what the contexts have under
// way. All of it is read and written under the endpoint's lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "am/net_sender.hpp"
#include "base/cache_line.hpp"
#include "base/contact_table.hpp"
#include "context/context.hpp"
#include "context/location.hpp"
#include "onesided/direct.hpp"
#include "onesided/keys.hpp"
#include "onesided/requests.hpp"
#include "transport/rma.hpp"

namespace shmemx::onesided {

// The pieces of a window that this PE has keys of, by the first bits of the offset. A piece of a window that begins
// elsewhere shares its entry with others; the last one to be used has it.
class DirectPieces {
 public:
  // Returns null if no known piece holds all of the range, which must not be empty.
  [[gnu::always_inline]] const DirectPiece* find(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    const std::size_t index = offset >> shift_;
    if (index >= count_) [[unlikely]]
      return nullptr;
    const DirectPiece& piece = by_offset_[index];
    return piece.holds(offset, bytes) ? &piece : nullptr;
  }
  // Is find() for at most kShortBytes. It also returns null for what begins in the last ones of a piece.
  [[gnu::always_inline]] const DirectPiece* find_short(std::uint64_t offset) const noexcept {
    const std::size_t index = offset >> shift_;
    if (index >= count_) [[unlikely]]
      return nullptr;
    const DirectPiece& piece = by_offset_[index];
    return offset - piece.begin < piece.short_bytes ? &piece : nullptr;
  }
  void add(DirectPiece piece) {
    constexpr std::uint64_t kShortBytes = transport::OneSided::kShortBytes;
    piece.short_bytes = piece.bytes < kShortBytes ? 0 : piece.bytes - kShortBytes + 1;
    const int shift = std::countr_zero(std::bit_ceil(std::max(piece.bytes, kMinKeyRange)));
    if (shift > shift_) by_offset_.clear();  // the pieces so far were shorter ones at the end
    shift_ = std::max(shift_, shift);
    const std::size_t first = piece.begin >> shift_;
    const std::size_t last = (piece.begin + piece.bytes - 1) >> shift_;
    if (last >= by_offset_.size()) by_offset_.resize(last + 1);
    std::fill(by_offset_.begin() + static_cast<std::ptrdiff_t>(first),
              by_offset_.begin() + static_cast<std::ptrdiff_t>(last) + 1, piece);
    count_ = by_offset_.size();
  }

 private:
  int shift_ = 0;
  std::size_t count_ = 0;
  std::vector<DirectPiece> by_offset_;  // without a key: empty, so it holds nothing
};

// Where operations end.
struct Network {
  transport::Rma* rma = nullptr;  // null: at several networks
  unsigned number = 0;            // of Endpoint
  bool has_reserve = false;       // see DirectNetwork
};

struct DirectPeer {
  transport::Rma* bare = nullptr;  // see Rma::bare()
  std::uint32_t fences = 0;        // am::fences when all messages sent there before had been executed
  unsigned network_number = 0;
  DirectPieces heap;  // for the short path: none if what is under way has to be kept
  DirectPieces of_window[windows::kBuiltinWindows];
  DirectNetwork network{};

  Network where() const noexcept { return {network.rma, network_number, network.has_reserve}; }
  // Has a fence been called since all messages to the PE are known to have been executed? Then a put must wait.
  [[gnu::always_inline]] bool must_follow(std::uint32_t now) const noexcept {
    return static_cast<std::int32_t>(now - fences) > 0;
  }
};

// What a context has under way.
struct alignas(kCacheLine) DirectOpen {
  transport::Completion puts;
  transport::Completion gets;
  bool is_fenced = false;  // messages must not overtake `puts`

  bool is_empty() const noexcept { return (puts.open | gets.open) == 0; }
  void note_fence() noexcept {
    if (!std::exchange(is_fenced, true)) fenced_contexts.fetch_add(1, std::memory_order_relaxed);
  }
  // No put is under way.
  void note_complete() noexcept {
    if (std::exchange(is_fenced, false)) fenced_contexts.fetch_sub(1, std::memory_order_relaxed);
  }
};

// Never destroyed: threads may still poll while the process exits.
inline constinit Contacts<DirectPeer>* direct_peers = nullptr;  // null: no piece is known
inline constinit DirectPeer* const* direct_peer_of = nullptr;   // the same, by PE
inline constinit DirectOpen direct_open[context::kMaxContexts] = {};
// Entries of direct_open from here on have never belonged to a context.
inline constinit std::atomic<std::uint32_t> used_entries = context::kDefaultContext + 1;
// Calls that wait for an operation of their own.
inline constinit std::uint32_t direct_awaited = 0;

inline DirectOpen& direct_open_of(const context::Context& context) noexcept { return direct_open[index_of(context)]; }

}  // namespace shmemx::onesided
