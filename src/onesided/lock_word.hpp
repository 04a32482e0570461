// The lock of a window: a word that all PEs of the owner's node map. Shared or exclusive, granted in the order of
// tickets: a queue lock for readers and writers (Mellor-Crummey and Scott's fair one, with the queue as numbers).
// Shared requests next to each other hold it together.
//
// A joining request is a shared one that waits for no ticket: it enters while others hold the lock shared, and an
// exclusive holder hands it over when it leaves. Who holds other locks requests so: it then waits for an exclusive
// holder only, never for a request that waits itself.
//
//   word:  next | done << 21 | entered << 42 | joining << 63     tickets, modulo 2^21
//   next     the ticket of the next request
//   done     tickets whose holders have left; an exclusive request enters when it equals its ticket
//   entered  tickets that need not wait any more; a shared request enters when it equals its ticket, and adds 1
//   joining  a request waits to join. The exclusive holder leaves without adding to `done`, as if a shared one were
//            still in, and a shared request whose turn it is takes 1 off; the request that clears the bit is that one
// So the lock is held shared where `entered` exceeds `done`. Who joins takes 1 off `done`, and adds it by leaving.
//
// A free lock is taken by one compare-and-swap. Whoever waits only reads, so the owner can wait on behalf of PEs of
// other nodes.
//
// Edges:  lock  compare_exchange in leave() -> compare_exchange, load in take(), enter()    what earlier holders did
#pragma once

#include <atomic>
#include <cstdint>

namespace shmemx::onesided {

// The numbers are those of the public header, and travel in messages.
enum class LockKind : std::uint8_t { none = 0, shared = 1, exclusive = 2, joining = 3 };

class LockWord {
 public:
  // By the owner, before anybody knows the window. Tickets of an earlier window that had the word are far from those of
  // the new one: whoever still waits for its turn does not get it here.
  void reset() noexcept {
    constexpr std::uint64_t kFar = std::uint64_t{1} << (kBits - 1);
    const std::uint64_t first = (field(bits_.load(std::memory_order_relaxed), kNext) + kFar) & kMask;
    bits_.store(first << kNext | first << kDone | first << kEntered,
                std::memory_order_relaxed);  // its caller publishes
  }

  // Takes the lock if nobody is in front.
  bool try_take(LockKind kind) noexcept {
    if (kind == LockKind::joining) return join(false);
    std::uint64_t seen = bits_.load(std::memory_order_relaxed);
    do {
      if (!is_open(seen, kind)) return false;
    } while (!replace(seen, after_taking(seen, kind)));
    return true;
  }
  // Takes the lock, or a ticket for it. Returns whether it is the lock.
  bool take(LockKind kind, std::uint32_t& ticket) noexcept {
    if (kind == LockKind::joining) return join(true);
    std::uint64_t seen = bits_.load(std::memory_order_relaxed);
    for (;;) {
      const bool open = is_open(seen, kind);
      ticket = field(seen, kNext);
      if (replace(seen, open ? after_taking(seen, kind) : plus(seen, kNext))) return open;
    }
  }
  // Returns whether it is the ticket's turn; then the lock is held. Not to be called again after that.
  bool enter(LockKind kind, std::uint32_t ticket) noexcept {
    if (kind == LockKind::joining) return join(true);
    std::uint64_t seen = bits_.load(std::memory_order_acquire);  // lock
    if (kind == LockKind::exclusive) return field(seen, kDone) == ticket;
    if (field(seen, kEntered) != ticket) return false;
    while (!replace(seen, after_entering(seen))) {
    }
    return true;
  }
  // Releases the lock. Returns whether others wait for it.
  bool leave(LockKind kind) noexcept {
    std::uint64_t seen = bits_.load(std::memory_order_relaxed);
    std::uint64_t next;
    do {
      const bool hands_over = kind == LockKind::exclusive && (seen & kJoining) != 0;
      next = hands_over ? seen : plus(seen, kDone);
      if (kind == LockKind::exclusive) next = plus(next, kEntered);
    } while (!replace(seen, next));
    return field(next, kEntered) != field(next, kNext) || (next & kJoining) != 0;
  }

 private:
  static constexpr unsigned kBits = 21;
  static constexpr unsigned kNext = 0;
  static constexpr unsigned kDone = kBits;
  static constexpr unsigned kEntered = 2 * kBits;
  static constexpr std::uint64_t kJoining = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;

  static std::uint32_t field(std::uint64_t bits, unsigned at) noexcept {
    return static_cast<std::uint32_t>(bits >> at & kMask);
  }
  static std::uint64_t plus(std::uint64_t bits, unsigned at, std::uint64_t change = 1) noexcept {
    const std::uint64_t value = (bits >> at) + change;
    return (bits & ~(kMask << at)) | (value & kMask) << at;
  }
  static bool is_open(std::uint64_t bits, LockKind kind) noexcept {
    return field(bits, kNext) == field(bits, kind == LockKind::shared ? kEntered : kDone);
  }
  // The word after a request has joined those that hold the lock shared.
  static std::uint64_t after_joining(std::uint64_t bits) noexcept {
    return (bits & kJoining) != 0 ? bits & ~kJoining : plus(bits, kDone, kMask);
  }
  // The word after a shared request has entered in its turn. A request that waits to join enters with it.
  static std::uint64_t after_entering(std::uint64_t bits) noexcept {
    const bool lets_join = (bits & kJoining) != 0 && field(bits, kEntered) == field(bits, kDone);
    return plus(lets_join ? plus(bits, kDone, kMask) : bits, kEntered);
  }
  // Returns whether the lock is held now. Otherwise the exclusive holder knows, if `waits`.
  bool join(bool waits) noexcept {
    std::uint64_t seen = bits_.load(std::memory_order_relaxed);
    for (;;) {
      if (field(seen, kEntered) != field(seen, kDone)) {
        if (replace(seen, after_joining(seen))) return true;
      } else if (is_open(seen, LockKind::shared)) {
        if (replace(seen, after_taking(seen, LockKind::shared))) return true;
      } else if (!waits || (seen & kJoining) != 0 || replace(seen, seen | kJoining)) {
        return false;
      }
    }
  }
  static std::uint64_t after_taking(std::uint64_t bits, LockKind kind) noexcept {
    return kind == LockKind::shared ? plus(plus(bits, kNext), kEntered) : plus(bits, kNext);
  }
  bool replace(std::uint64_t& seen, std::uint64_t next) noexcept {
    return bits_.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed);  // lock
  }

  std::atomic<std::uint64_t> bits_{0};
};
static_assert(sizeof(LockWord) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace shmemx::onesided
