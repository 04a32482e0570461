// Pieces of memory in the order of a type map. What repeats regularly is kept as loops, so that a vector of a thousand
// million blocks needs no more memory than one of two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shmemx::interpose {

struct Piece {
  std::ptrdiff_t offset;
  std::size_t bytes;
};

struct Loop {
  std::int64_t count;
  std::ptrdiff_t step;
};

// From the lowest byte of data to the end of the highest one.
struct Bounds {
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;

  // Widens them to `count` of them, each `step` behind the one before. Returns false if these are too far apart.
  bool repeat(std::int64_t count, std::ptrdiff_t step) noexcept {
    std::ptrdiff_t last = 0;
    std::ptrdiff_t distance = 0;
    return !__builtin_mul_overflow(count - 1, step, &last) &&
           !__builtin_add_overflow(low, std::min<std::ptrdiff_t>(last, 0), &low) &&
           !__builtin_add_overflow(high, std::max<std::ptrdiff_t>(last, 0), &high) &&
           !__builtin_sub_overflow(high, low, &distance);
  }
};

struct PieceList {
  static constexpr std::size_t kMostLoops = 8;

  std::vector<Piece> pieces;  // neighbours are merged
  std::vector<Loop> loops;    // what repeats all pieces, the innermost one first; most lists have none

  // Returns the number of pieces with all their repetitions; SIZE_MAX if it is larger.
  std::size_t count() const noexcept;
  // Appends the item's pieces, moved by `at` and repeated by more loops around them. Returns false, and the list is
  // useless, if there were too many pieces that no loop describes.
  bool append(const PieceList& item, std::ptrdiff_t at, const std::vector<Loop>& loops);
  // Returns false if the pieces are too far apart. Requires a piece.
  bool find_bounds(Bounds& bounds) const noexcept;
  // Returns how many bytes all pieces have; 0 if they differ.
  std::size_t block_bytes() const noexcept;
  // Returns the distance from each piece to the next one; 0 if it differs. Of one piece that is `extent`.
  std::ptrdiff_t step(std::ptrdiff_t extent) const noexcept;

 private:
  // Repeats the pieces themselves. Returns false if they are too many.
  bool unroll();
};

}  // namespace shmemx::interpose
