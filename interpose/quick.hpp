// The short way of the most frequent operations: data of one dense datatype in memory that is mapped here, in an epoch
// that is open; the lock of a process of this node. It decides nothing: where something does not fit, or is wrong, the
// general way finds out what. What matters most is the number of loads that follow one another, since an atomic
// instruction lets none of them begin early.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/control.hpp"
#include "interpose/copy_block.hpp"
#include "interpose/direct.hpp"
#include "interpose/epoch.hpp"
#include "interpose/errors.hpp"
#include "interpose/job.hpp"
#include "interpose/layout.hpp"
#include "interpose/operation.hpp"
#include "interpose/range.hpp"
#include "interpose/recent_targets.hpp"
#include "interpose/window.hpp"

namespace shmemx::interpose {

constexpr std::size_t kCopiedHere = 4096;  // longer copies are left to shmemx, which knows which instructions are best

struct QuickTarget {
  std::byte* at = nullptr;  // null: not this way
  std::size_t bytes = 0;
};

// `layout`: of the datatype, if it is known.
[[gnu::always_inline]] inline QuickTarget find_quickly(const Window& window, const Layout* layout, int rank,
                                                       MPI_Aint disp, int count) noexcept {
  if (layout == nullptr || static_cast<unsigned>(rank) >= static_cast<unsigned>(window.size)) return {};
  const Target& target = window.targets[static_cast<std::size_t>(rank)];
  const bool is_open =
      target.open.load(std::memory_order_relaxed) == window.epochs.number.load(std::memory_order_relaxed);
  if (!is_open || target.mapped == nullptr || layout->plain_bytes == 0 || count <= 0 || disp < 0 || has_devices)
    return {};
  MPI_Aint offset = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(disp, static_cast<MPI_Aint>(target.offer.disp_unit), &offset) ||
      __builtin_mul_overflow(static_cast<std::size_t>(count), layout->plain_bytes, &bytes))
    return {};
  const auto first = static_cast<std::uint64_t>(offset);
  if (first > target.offer.bytes || bytes > target.offer.bytes - first) return {};
  return {target.mapped + first, bytes};
}

inline bool put_quickly(const Window& window, const Layout* layout, const void* origin, int count, int rank,
                        MPI_Aint disp) noexcept {
  const QuickTarget target = find_quickly(window, layout, rank, disp, count);
  if (target.at == nullptr || target.bytes > kCopiedHere || !is_buffer(origin)) return false;
  copy_block(target.at, origin, target.bytes);
  return true;
}

inline bool get_quickly(const Window& window, const Layout* layout, void* origin, int count, int rank,
                        MPI_Aint disp) noexcept {
  const QuickTarget target = find_quickly(window, layout, rank, disp, count);
  if (target.at == nullptr || target.bytes > kCopiedHere || !is_buffer(origin)) return false;
  copy_block(origin, target.at, target.bytes);
  return true;
}

// The same for a few words.
inline bool put_words(const Window& window, const Layout* layout, const void* origin, int count, int rank,
                      MPI_Aint disp) noexcept {
  const QuickTarget target = find_quickly(window, layout, rank, disp, count);
  return target.at != nullptr && is_buffer(origin) && try_copy_words(target.at, origin, target.bytes);
}

inline bool get_words(const Window& window, const Layout* layout, void* origin, int count, int rank,
                      MPI_Aint disp) noexcept {
  const QuickTarget target = find_quickly(window, layout, rank, disp, count);
  return target.at != nullptr && is_buffer(origin) && try_copy_words(origin, target.at, target.bytes);
}

// The same if one of the last operations was alike, without a chain of loads.
[[gnu::always_inline]] inline bool put_recent(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                                              MPI_Win win) noexcept {
  const RecentTarget& target = recent_target(rank);
  return is_recent(target, win, rank, disp, type) && target.count == count && is_buffer(origin) &&
         try_copy_words(place_in(target, disp), origin, target.bytes);
}

[[gnu::always_inline]] inline bool get_recent(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                                              MPI_Win win) noexcept {
  const RecentTarget& target = recent_target(rank);
  return is_recent(target, win, rank, disp, type) && target.count == count && is_buffer(origin) &&
         try_copy_words(origin, place_in(target, disp), target.bytes);
}

// By the operators for which there is an instruction. A null result is not written.
[[gnu::always_inline]] inline bool update_at(std::byte* at, std::size_t bytes, const One& one, MPI_Op op) noexcept {
  if (op == MPI_SUM) [[likely]]
    return is_buffer(one.origin) && update_integer(at, bytes, SHMEMX_OP_SUM, one.origin, one.result);
  if (op == MPI_NO_OP) return update_integer(at, bytes, SHMEMX_OP_NO_OP, one.origin, one.result);
  return op == MPI_REPLACE && is_buffer(one.origin) &&
         update_integer(at, bytes, SHMEMX_OP_REPLACE, one.origin, one.result);
}

inline bool update_quickly(const Window& window, const Layout* layout, const One& one, MPI_Op op) noexcept {
  const QuickTarget target = find_quickly(window, layout, one.rank, one.disp, 1);
  return target.at != nullptr && update_at(target.at, update_bytes_of(window, *layout), one, op);
}

[[gnu::always_inline]] inline bool update_recent(const One& one, MPI_Op op, MPI_Win win) noexcept {
  const RecentTarget& target = recent_target(one.rank);
  return is_recent(target, win, one.rank, one.disp, one.type) &&
         update_at(place_in(target, one.disp), target.update_bytes, one, op);
}

[[gnu::always_inline]] inline bool swap_at(std::byte* at, std::size_t bytes, const One& one,
                                           const void* compare) noexcept {
  return is_buffer(one.origin) && is_buffer(compare) && is_buffer(one.result) &&
         swap_integer(at, bytes, compare, one.origin, one.result);
}

inline bool compare_and_swap_quickly(const Window& window, const Layout* layout, const One& one,
                                     const void* compare) noexcept {
  const QuickTarget target = find_quickly(window, layout, one.rank, one.disp, 1);
  return target.at != nullptr && swap_at(target.at, update_bytes_of(window, *layout), one, compare);
}

[[gnu::always_inline]] inline bool compare_and_swap_recent(const One& one, const void* compare, MPI_Win win) noexcept {
  const RecentTarget& target = recent_target(one.rank);
  return is_recent(target, win, one.rank, one.disp, one.type) &&
         swap_at(place_in(target, one.disp), target.update_bytes, one, compare);
}

// An array of elements whose types are the same on both sides, without gaps. Where shmemx refuses it nothing has been
// done.
inline bool accumulate_quickly(const Window& window, const Layout* layout, const One& first, int count,
                               MPI_Op op) noexcept {
  const QuickTarget quick = find_quickly(window, layout, first.rank, first.disp, count);
  if (quick.at == nullptr || !layout->dense_elements || !is_buffer(first.origin)) return false;
  const Element* const element = layout->element;
  if (element == nullptr || element->shmemx_type == 0) return false;
  const Target& target = window.targets[static_cast<std::size_t>(first.rank)];
  int known = op == MPI_SUM && element->kind == Kind::real ? SHMEMX_OP_SUM : find_operator(op, element->kind);
  if (known == 0 || known == SHMEMX_OP_NO_OP) return false;
  if (target.lock == Lock::exclusive && !many_threads) known |= SHMEMX_OP_EXCLUSIVE;
  void* const there = reinterpret_cast<void*>(target.base + static_cast<std::uint64_t>(quick.at - target.mapped));
  const std::size_t elements = layout->elements * static_cast<std::size_t>(count);
  return shmemx_window_accumulate_nbi(target.data, there, first.origin, elements, update_type(window, *element), known,
                                      nullptr) == SHMEMX_SUCCESS;
}

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

inline bool flush_recent(int rank, MPI_Win win) noexcept {
  const RecentTarget& target = recent_target(rank);
  if (!is_recent(target, win, rank) || !target.is_locked) [[unlikely]]
    return false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

// Stores to mapped memory are complete as soon as they are visible.
inline bool flush_quickly(const Window& window, int rank) noexcept {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(window.size)) return false;
  const Target& target = window.targets[static_cast<std::size_t>(rank)];
  if (!is_locked(window, target) || target.mapped == nullptr) return false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

}  // namespace shmemx::interpose
