// Walks through the pieces of several items of a datatype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "interpose/layout.hpp"

namespace shmemx::interpose {

// A position in the data of items that begin at an address. There is at least one piece that is not empty.
class PieceWalk {
 public:
  PieceWalk(const std::vector<Piece>& pieces, std::ptrdiff_t extent, std::uint64_t address) noexcept
      : pieces_(pieces.data()), count_(pieces.size()), extent_(extent), item_(address) {}

  std::uint64_t address() const noexcept {
    return item_ + static_cast<std::uint64_t>(pieces_[index_].offset) + passed_;
  }
  // The bytes from here to the end of the piece.
  std::size_t bytes() const noexcept { return pieces_[index_].bytes - passed_; }
  // Moves on by no more than bytes().
  void advance(std::size_t bytes) noexcept {
    passed_ += bytes;
    if (passed_ != pieces_[index_].bytes) return;
    passed_ = 0;
    if (++index_ != count_) return;
    index_ = 0;
    item_ += static_cast<std::uint64_t>(extent_);
  }

 private:
  const Piece* pieces_;
  std::size_t count_;
  std::ptrdiff_t extent_;
  std::uint64_t item_;
  std::size_t index_ = 0;
  std::size_t passed_ = 0;
};

}  // namespace shmemx::interpose
