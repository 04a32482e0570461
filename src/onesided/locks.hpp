// Locks of windows beyond the word in shared memory: requests of PEs of other nodes, for which the owner takes a ticket
// and replies when its turn comes, and requests that nobody of this PE waits for yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "onesided/lists.hpp"
#include "onesided/lock_word.hpp"

namespace shmemx::onesided {

// Written once by public_windows::start(), under the endpoint's lock: the words of this PE's windows, by their index,
// and the PEs of this node.
struct LockSetup {
  LockWord* own_words = nullptr;
  std::span<const int> node_pes;
};
inline constinit LockSetup lock_setup;

// A window's lock as PEs of its owner's node see it.
struct NodeLock {
  LockWord* word;
  const std::atomic<std::uint32_t>* generation;  // of the window that lives there
  windows::WindowName name;

  bool is_alive() const noexcept { return generation->load(std::memory_order_acquire) == name.generation; }
};

// Waits for a ticket's turn. Returns false if the window has been freed.
bool await_lock(const char* routine, const NodeLock& lock, LockKind kind, std::uint32_t ticket) noexcept;
// Returns at once; the initiator's counter is positive until the ticket's turn.
void await_lock_nbi(const char* routine, const NodeLock& lock, LockKind kind, std::uint32_t ticket,
                    const Initiator& initiator) noexcept;
// Wakes those that wait for a lock, after leave() has said that there are some. No other PE knows who they are, so all
// that sleep are woken.
void wake_lock_waiters() noexcept;

// The lock of a PE of another node. With a call that is not awaited, the counter is positive until it is granted.
Code request_lock(const Call& call, LockKind kind, bool is_try) noexcept;
void release_lock(const char* routine, const RemoteWindow& window, LockKind kind) noexcept;
// Puts under a lock of the same owner, by one message that requests the lock and releases it. The data may be used
// again on return. Returns false, and has done nothing, if one message is not enough.
bool try_put_locked(const Call& call, windows::WindowName lock, LockKind kind, rma::PairWalk pairs) noexcept;

// By set_handlers().
void set_lock_handlers() noexcept;
// At the end of each poll, if there are any: grants what can be granted. Returns whether there was something.
inline constinit bool has_pending_locks = false;
bool grant_pending_locks(am::Endpoint& endpoint) noexcept;

}  // namespace shmemx::onesided
