#include "public_windows/transfer.hpp"

#include <shmemx/windows.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "progress/attending.hpp"
#include "public_windows/completion.hpp"
#include "public_windows/error_detail.hpp"
#include "rma/cma.hpp"
#include "rma/copy.hpp"
#include "rma/covered_read.hpp"
#include "rma/strided.hpp"

namespace shmemx::public_windows {
namespace {

using rma::Pair;
using rma::PairBlocks;
using rma::PairWalk;
using rma::Place;
using rma::Shape;

void copy_blocks(Direction direction, const PairBlocks& blocks) {
  const auto there = static_cast<std::size_t>(blocks.first_step);
  const auto here = static_cast<std::size_t>(blocks.second_step);
  if (direction == Direction::put) {
    rma::copy_strided(blocks.first, blocks.second, {blocks.bytes, blocks.count, there, here});
  } else {
    rma::copy_strided(blocks.second, blocks.first, {blocks.bytes, blocks.count, here, there});
  }
}

void transfer_mapped(const Attached& window, Direction direction, PairWalk walk) {
  for (PairBlocks blocks{}; walk.next_blocks(blocks, SIZE_MAX);) {
    blocks.first = window.mapped + (number_of(blocks.first) - window.base);
    if (blocks.count > 1 && blocks.first_step > 0 && blocks.second_step > 0) {
      copy_blocks(direction, blocks);
      continue;
    }
    for (std::size_t i = 0; i < blocks.count; ++i) {
      const Pair pair = blocks.at(i);
      if (direction == Direction::put) {
        rma::move_visible(pair.first, pair.second, pair.bytes);
      } else {
        rma::move_visible(pair.second, pair.first, pair.bytes);
      }
    }
  }
  if (direction == Direction::put) tell_owner(window);
}

// The owner waits for `users` before it lets go of the memory.
class Use {
 public:
  explicit Use(Life& life) noexcept : life_(life) { life_.users.fetch_add(1, std::memory_order_seq_cst); }  // live
  ~Use() { life_.users.fetch_sub(1, std::memory_order_seq_cst); }                                           // live
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  bool is_of(std::uint32_t generation) const noexcept {
    return life_.generation.load(std::memory_order_seq_cst) == generation;  // live
  }

 private:
  Life& life_;
};

// How many parts of a shape the kernel would copy, and how long the shape is with the gaps that it reads, too.
struct Extent {
  std::size_t parts;
  std::size_t bytes;
};
Extent extent_of(const Shape& shape) noexcept {
  constexpr std::size_t kPart = 4096;  // takes as long as a part of its own
  if (shape.kind == Shape::Kind::contiguous) return {1, shape.bytes};
  const std::size_t step =
      shape.kind == Shape::Kind::list ? kPart : static_cast<std::size_t>(std::abs(shape.stride_bytes));
  return {shape.count, shape.count * std::min(kPart, step)};
}

// Returns whether messages are faster than the kernel, which takes 1.5 us for a call, and a third of a microsecond for
// each part that is written. A thread of the owner that polls handles a message sooner; else it takes some 20 us.
bool is_for_messages(const Attached& window, Direction direction, const Shape& target) noexcept {
  constexpr std::size_t kShortBytes = 1024;
  constexpr std::size_t kShortPart = 2048;
  const bool is_attended = progress::is_attended(*window.doorbell);
  if (target.kind == Shape::Kind::contiguous) return is_attended && target.bytes <= kShortBytes;
  const Extent extent = extent_of(target);
  if (target.bytes > kShortPart * extent.parts) return false;
  if (direction == Direction::put) return extent.parts > (is_attended ? 2U : 64U);
  // Of a list each part would be a request of its own.
  return target.kind == Shape::Kind::strided &&
         extent.bytes > (is_attended ? std::size_t{64} << 10 : std::size_t{512} << 10);
}

// Transfers by CMA. Returns false if the kernel refuses before anything has been moved.
bool transfer_cma(const Attached& window, Direction direction, const Shape& target, const Shape& local, Code& code) {
  const Use use(*window.life);
  code = SHMEMX_ERR_STALE;
  if (!use.is_of(window.name.generation)) return true;
  const bool is_scattered = target.kind != Shape::Kind::contiguous;
  if (is_scattered && direction == Direction::get && rma::covered_read(window.pid, PairWalk(target, local)) == 0) {
    code = SHMEMX_SUCCESS;
    return true;
  }
  const auto move = direction == Direction::put ? rma::cma_write : rma::cma_read;
  rma::Cursor there(target);
  rma::Cursor here(local);
  while (there.left() != 0) {
    const long bytes = move(window.pid, here, there, SIZE_MAX);
    if (bytes > 0) continue;
    code = SHMEMX_ERR_FAULT;
    return there.passed() != 0 || bytes == 0 || bytes == -EFAULT;
  }
  code = SHMEMX_SUCCESS;
  if (direction == Direction::put) tell_owner(window);
  return true;
}

void start_remote(const onesided::Call& call, Direction direction, const PairWalk& walk) {
  if (direction == Direction::put) {
    onesided::put_lists(call, walk);
  } else {
    onesided::get_lists(call, walk);
  }
}

Code transfer_remote(const char* routine, Attached& window, Direction direction, const PairWalk& walk, Mode mode) {
  if (!mode.blocking) {
    start_remote(nonblocking(routine, window, mode.counter), direction, walk);
    return SHMEMX_SUCCESS;
  }
  onesided::Tracker open;
  start_remote(blocking(routine, window, open), direction, walk);
  return await(routine, window, open);
}

}  // namespace

namespace {

// Of strided blocks the first and the last one tell.
bool ends_are_inside(const Attached& window, const Shape& target) noexcept {
  if (target.kind != Shape::Kind::strided || target.fit != Shape::Fit::fits || target.bytes == 0) return false;
  const Place first = target.part(0);
  const Place last = target.part(target.count - 1);
  return in_window(window, number_of(first.at), first.bytes) && in_window(window, number_of(last.at), last.bytes);
}

}  // namespace

Code check(const Attached& window, const Shape& target, const Shape& local) noexcept {
  if (target.fit == Shape::Fit::overflow || local.fit == Shape::Fit::overflow || target.bytes != local.bytes)
    return SHMEMX_ERR_LIST;
  if (local.has_null()) return SHMEMX_ERR_ARGUMENT;
  return check_target(window, target);
}

Code check_target(const Attached& window, const Shape& target, std::uint64_t padding) noexcept {
  if (target.fit == Shape::Fit::overflow) return SHMEMX_ERR_LIST;
  if (ends_are_inside(window, target) && is_alive(window)) return SHMEMX_SUCCESS;
  for (std::size_t i = 0; target.bytes != 0 && i < target.count; ++i) {
    const Place place = target.part(i);
    if (place.bytes != 0 && !in_window(window, number_of(place.at), place.bytes - padding))
      return note_access(window, number_of(place.at), place.bytes - padding, SHMEMX_ERR_RANGE);
  }
  if (is_alive(window)) return SHMEMX_SUCCESS;
  const Place first = target.part(0);
  return note_access(window, number_of(first.at), first.bytes, SHMEMX_ERR_STALE);
}

Code transfer(const char* routine, std::uint64_t handle, Direction direction, const Shape& target, const Shape& local,
              Mode mode) noexcept {
  Attached* const window = find_attached(handle);
  if (window == nullptr) return SHMEMX_ERR_WINDOW;
  Code code = check(*window, target, local);
  if (code != SHMEMX_SUCCESS) return code;
  const PairWalk walk(walked(*window, target), local);
  if (window->mapped != nullptr) {
    transfer_mapped(*window, direction, walk);
    return SHMEMX_SUCCESS;
  }
  if (window->pid != 0 && !is_for_messages(*window, direction, target) &&
      transfer_cma(*window, direction, target, local, code))
    return code;
  return transfer_remote(routine, *window, direction, walk, mode);
}

Code transfer_range(const char* routine, std::uint64_t handle, Direction direction, const void* target,
                    LocalRange local, Mode mode) noexcept {
  const Attached* const window = find_attached(handle);
  const std::uint64_t address = number_of(target);
  if (window == nullptr || window->mapped == nullptr || local.address == nullptr ||
      !in_window(*window, address, local.bytes) || !is_alive(*window))
    return transfer(routine, handle, direction, Shape::contiguous(target, local.bytes),
                    Shape::contiguous(local.address, local.bytes), mode);
  std::byte* const there = window->mapped + (address - window->base);
  auto* const here = static_cast<std::byte*>(const_cast<void*>(local.address));
  if (direction == Direction::get) {
    rma::move_visible(here, there, local.bytes);
  } else {
    rma::move_visible(there, here, local.bytes);
    tell_owner(*window);
  }
  return SHMEMX_SUCCESS;
}

}  // namespace shmemx::public_windows
