// The lock of a process of this node, taken and released in a few instructions where that is all an epoch needs.
#pragma once

#include <mpi.h>

#include "interpose/control.hpp"
#include "interpose/epoch.hpp"
#include "interpose/errors.hpp"
#include "interpose/job.hpp"
#include "interpose/recent_targets.hpp"
#include "interpose/window.hpp"

namespace shmemx::interpose {

// Takes the lock of a process on this node, if it is free and there is no other epoch.
inline bool lock_quickly(Window& window, int type, int rank, int assert) noexcept {
  Epochs& epochs = window.epochs;
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(window.size) || assert != 0 || many_threads) return false;
  Target& target = window.targets[static_cast<std::size_t>(rank)];
  if (epochs.access != Access::none || epochs.is_exposed || late_lock.window != nullptr ||
      target.control_mapped == nullptr || (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED))
    return false;
  const bool is_exclusive = type == MPI_LOCK_EXCLUSIVE;
  const int kind = is_exclusive ? SHMEMX_LOCK_EXCLUSIVE : SHMEMX_LOCK_SHARED;
  if (shmemx_window_trylock(target.control, kind) != SHMEMX_SUCCESS) return false;
  if (control::is_exposed(target)) [[unlikely]] {
    shmemx_window_unlock(target.control);
    return false;
  }
  epochs.access = Access::lock;
  epochs.locks = 1;
  target.lock = is_exclusive ? Lock::exclusive : Lock::shared;
  target.open.store(epochs.number.load(std::memory_order_relaxed), std::memory_order_relaxed);
  reopen_recent_target(window.handle, rank);
  return true;
}

// Releases the only lock, of a process on this node, if its memory is mapped: stores need no more than that. Sets
// `code` to the error class.
inline bool unlock_quickly(Window& window, int rank, int& code) noexcept {
  Epochs& epochs = window.epochs;
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(window.size) || many_threads) return false;
  Target& target = window.targets[static_cast<std::size_t>(rank)];
  if (epochs.access != Access::lock || epochs.locks != 1 || target.mapped == nullptr ||
      target.control_mapped == nullptr || (target.lock != Lock::exclusive && target.lock != Lock::shared))
    return false;
  epochs.access = Access::none;
  epochs.locks = 0;
  target.lock = Lock::none;
  next_epoch(epochs);
  code = shmemx_window_unlock(target.control);
  if (code != SHMEMX_SUCCESS) [[unlikely]]
    code = class_of(code);
  return true;
}

}  // namespace shmemx::interpose
