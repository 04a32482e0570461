// Pieces of memory in the order of a type map. What repeats regularly is kept as loops, so that a vector of a thousand
// million blocks needs no more memory than one of two.
#pragma once

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

struct PieceList {
  static constexpr std::size_t kMostLoops = 8;

  std::vector<Piece> pieces;  // neighbours are merged
  std::vector<Loop> loops;    // what repeats all pieces, the innermost one first; most lists have none

  // Returns the number of pieces with all their repetitions; SIZE_MAX if it is larger.
  std::size_t count() const noexcept;
  // Appends the item's pieces, moved by `at` and repeated by more loops around them. Returns false, and the list is
  // useless, if there were too many pieces that no loop describes.
  bool append(const PieceList& item, std::ptrdiff_t at, const std::vector<Loop>& loops);
  // Sets the lowest byte, and the end of the highest one. Returns false if they are too far apart. Requires a piece.
  bool find_bounds(std::ptrdiff_t& low, std::ptrdiff_t& high) const noexcept;
  // Returns how many bytes all pieces have; 0 if they differ.
  std::size_t block_bytes() const noexcept;
  // Returns the distance from each piece to the next one; 0 if it differs. Of one piece that is `extent`.
  std::ptrdiff_t step(std::ptrdiff_t extent) const noexcept;

 private:
  // Repeats the pieces themselves. Returns false if they are too many.
  bool unroll();
};

}  // namespace shmemx::interpose
