// What a transfer moves on one side: one range, blocks with a stride, or a list of pieces. And the walk over both sides
// at once, as pairs of ranges of one length. Target addresses are numbers here: they belong to another process.
#pragma once

#include <shmemx/messages.h>

#include <cstddef>
#include <cstdint>

namespace shmemx::access {

struct Piece {
  std::uint64_t address;
  std::uint64_t bytes;
};

class Side {
 public:
  static Side range(const void* address, std::uint64_t bytes) noexcept {
    return {nullptr, number(address), 0, bytes, 1};
  }
  static Side strided(const void* address, std::ptrdiff_t stride, std::uint64_t block_bytes,
                      std::uint64_t blocks) noexcept {
    return {nullptr, number(address), static_cast<std::uint64_t>(stride), block_bytes, blocks};
  }
  static Side list(const shmemx_iov_t* pieces, std::uint64_t count) noexcept { return {pieces, 0, 0, 0, count}; }

  std::uint64_t count() const noexcept { return count_; }
  Piece at(std::uint64_t i) const noexcept {
    if (list_ != nullptr) return {number(list_[i].base), list_[i].bytes};
    return {base_ + i * stride_, block_bytes_};  // wraps for negative strides, as addresses do
  }
  // All bytes; false when they are more than a number holds.
  bool total(std::uint64_t& bytes) const noexcept;
  // Is some piece with bytes at address 0?
  bool has_null() const noexcept;

  static std::uint64_t number(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

 private:
  Side(const shmemx_iov_t* list, std::uint64_t base, std::uint64_t stride, std::uint64_t block_bytes,
       std::uint64_t count) noexcept
      : list_(list), base_(base), stride_(stride), block_bytes_(block_bytes), count_(count) {}

  const shmemx_iov_t* list_;
  std::uint64_t base_;
  std::uint64_t stride_;
  std::uint64_t block_bytes_;
  std::uint64_t count_;
};

struct Pair {
  std::uint64_t offset;  // in the window
  std::byte* local;
  std::uint64_t bytes;
};

// Both sides have been checked: the target's pieces lie in the window, the totals are equal.
class PairWalk {
 public:
  PairWalk(const Side& target, std::uint64_t window_base, const Side& local) noexcept
      : target_(target), local_(local), window_base_(window_base) {}

  // The next pair, of at most `limit` bytes. False: there is none.
  bool next(Pair& pair, std::uint64_t limit = ~std::uint64_t{0}) noexcept;

 private:
  struct Cursor {
    std::uint64_t index = 0;
    std::uint64_t done = 0;  // bytes of that piece
  };
  static bool flush(const Side& side, Cursor& cursor, Piece& rest) noexcept;

  Side target_;
  Side local_;
  std::uint64_t window_base_;
  Cursor target_at_;
  Cursor local_at_;
};

}  // namespace shmemx::access
