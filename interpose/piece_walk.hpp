// Walks through the pieces of several items of a datatype.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "interpose/pieces.hpp"

namespace shmemx::interpose {

constexpr std::size_t kListPieces = 4096;  // of one list that shmemx gets

// A position in the data of items that begin at an address. There is at least one piece that is not empty.
class PieceWalk {
 public:
  PieceWalk(const PieceList& list, std::ptrdiff_t extent, std::uint64_t address) noexcept
      : list_(&list), pieces_(list.pieces.data()), count_(list.pieces.size()), extent_(extent), item_(address) {}

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
    repeat();
  }

 private:
  // Moves to the next repetition of the pieces, or to the next item.
  void repeat() noexcept {
    for (std::size_t i = 0; i < list_->loops.size(); ++i) {
      const Loop& loop = list_->loops[i];
      if (++turns_[i] != loop.count) {
        item_ += static_cast<std::uint64_t>(loop.step);
        return;
      }
      turns_[i] = 0;
      item_ -= static_cast<std::uint64_t>((loop.count - 1) * loop.step);
    }
    item_ += static_cast<std::uint64_t>(extent_);
  }

  const PieceList* list_;
  const Piece* pieces_;
  std::size_t count_;
  std::ptrdiff_t extent_;
  std::uint64_t item_;
  std::size_t index_ = 0;
  std::size_t passed_ = 0;
  std::array<std::int64_t, PieceList::kMostLoops> turns_{};
};

}  // namespace shmemx::interpose
