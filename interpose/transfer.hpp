// Put and get: the checks, and short blocks of mapped memory. All else is in transfer.cpp. Everything here is inline,
// so that what a call of MPI passes stays in registers.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "interpose/direct.hpp"
#include "interpose/epoch.hpp"
#include "interpose/operation.hpp"
#include "interpose/range.hpp"
#include "interpose/recent_targets.hpp"

namespace shmemx::interpose {

enum class Direction { put, get };

// Longer copies are left to shmemx: the C library's string instructions are slow at some distances.
constexpr std::size_t kCopiedHere = 1024;

// What is moved: the data of the side from which they come, which fit into the other one.
struct Amount {
  std::size_t bytes = 0;
  std::int64_t target_items = 0;  // those of the target that hold them
};

// A checked operation.
struct Transfer {
  Direction direction;
  Target* target;
  const Layout* there;
  const Layout* here;
  std::uint64_t there_address;
  std::uint64_t here_address;
  std::size_t bytes;
  long* counter;
  bool has_notice;  // a notice of this process to the target ends the epoch
};

// Moves what is not a short block of mapped memory. Returns an error class.
int move_otherwise(const Transfer& transfer);

// Checks the data of this process, of another datatype or count than the target's, and sets the amount. Returns an
// error class.
int check_origin(Direction direction, const Layout* here, std::int64_t count, const Layout* there, Amount& amount);

// Adds a small put to those that wait for a lock. Returns false for all else, which needs the lock now.
bool gather_late(const Window& window, Local origin, Remote remote);

// Copies a short block of mapped memory. Returns false for all else.
[[gnu::always_inline]] inline bool try_copy(Direction direction, const Target& target, std::uint64_t there,
                                            std::uint64_t here, std::size_t bytes) {
  if (target.mapped == nullptr || bytes > kCopiedHere) return false;
  std::byte* const mapped = target.mapped + (there - target.offer.base);
  direction == Direction::put ? copy_block(mapped, pointer(here), bytes) : copy_block(pointer(here), mapped, bytes);
  return true;
}

// Checks the datatypes and counts of both sides, and finds the amount.
[[gnu::always_inline]] inline int check_sides(Direction direction, const Layout* here, const Local& origin,
                                              const Layout* there, const Remote& remote, Amount& amount) {
  if (const int code = count_bytes(there, remote.count, amount.bytes); code != MPI_SUCCESS) return code;
  if (remote.disp < 0) return wrong(MPI_ERR_DISP, "the displacement is negative");
  amount.target_items = remote.count;
  if (here == there && origin.count == remote.count) [[likely]]
    return MPI_SUCCESS;
  return check_origin(direction, here, origin.count, there, amount);
}

[[gnu::always_inline]] inline int move(Window& window, Direction direction, const Local& origin, const Remote& remote,
                                       long* counter) {
  Target* target = nullptr;
  if (const int code = find_target(window, remote.rank, target); code != MPI_SUCCESS || target == nullptr) return code;
  const Layout* const there = layout_of(remote.type);
  const Layout* const here = origin.type == remote.type ? there : layout_of(origin.type);
  Amount amount;
  if (const int code = check_sides(direction, here, origin, there, remote, amount); code != MPI_SUCCESS) [[unlikely]]
    return code;
  const std::size_t bytes = amount.bytes;
  if (bytes == 0) return MPI_SUCCESS;
  const std::uint64_t address = address_at(*target, remote.disp);
  Range range{};
  if (!find_range(*there, address, amount.target_items, range) || !is_inside(window, *target, range)) [[unlikely]]
    return out_of_range();
  if (const int code = attach(window, *target); code != MPI_SUCCESS) return code;
  const auto local = reinterpret_cast<std::uintptr_t>(origin.address);
  const std::uint64_t near = local + static_cast<std::uint64_t>(here->bounds.low);
  if (const int code = check_buffer(near); code != MPI_SUCCESS) return code;
  if (there->dense && here->dense && try_copy(direction, *target, range.first, near, bytes)) [[likely]] {
    if (here == there && bytes <= kMostRecentBytes)
      keep_recent_target(window, remote.rank, {static_cast<int>(amount.target_items), remote.type, there});
    return MPI_SUCCESS;
  }
  const bool has_notice = window.epochs.access == Access::start;
  return move_otherwise({direction, target, there, here, address, local, bytes, counter, has_notice});
}

// Return an error class. If the counter is null, flush completes the operation. Otherwise the counter is 0 as soon as
// the operation is complete, which may be on return.
[[gnu::always_inline]] inline int put(Window& window, const Local& origin, const Remote& remote, long* counter) {
  if (late_lock.window == &window && counter == nullptr && gather_late(window, origin, remote)) return MPI_SUCCESS;
  return move(window, Direction::put, origin, remote, counter);
}

[[gnu::always_inline]] inline int get(Window& window, const Local& origin, const Remote& remote, long* counter) {
  return move(window, Direction::get, origin, remote, counter);
}

}  // namespace shmemx::interpose
