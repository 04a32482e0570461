// Locks of attached windows: the word in the owner's directory on its node, requests to the owner from others.
#pragma once

#include "onesided/lock_word.hpp"
#include "public_windows/attached.hpp"
#include "rma/shape.hpp"

namespace shmemx::public_windows {

using onesided::LockKind;

enum class Wait : std::uint8_t { until_held, not_at_all, counted };

// until_held: returns with the lock. not_at_all: SHMEMX_ERR_BUSY if it is held. counted: the counter is positive until
// it is granted.
Code lock(const char* routine, std::uint64_t handle, LockKind kind, Wait wait, long* counter) noexcept;
// Completes the open operations first, with their error.
Code unlock(const char* routine, std::uint64_t handle) noexcept;

// At the end of the library's life: releases the locks that this PE still holds. Returns the owner of a window that was
// locked, -1 if none was.
int release_held_locks(const char* routine) noexcept;

// Puts under the lock of a window of the same owner. The counter is positive until it is released.
struct LockedPut {
  std::uint64_t lock;
  LockKind kind;
  std::uint64_t data;
  long* counter;
};
Code put_locked(const char* routine, const LockedPut& put, const rma::Shape& target, const rma::Shape& local) noexcept;

}  // namespace shmemx::public_windows
