#include "interpose/pieces.hpp"

#include <utility>

namespace shmemx::interpose {
namespace {

constexpr std::size_t kFewPieces = 65'536;  // shorter lists have no loops: they are walked through faster
constexpr std::size_t kMostPieces = std::size_t{1} << 24;  // 256 MiB

void add_piece(std::vector<Piece>& pieces, Piece piece) {
  if (piece.bytes == 0) return;
  if (!pieces.empty() && pieces.back().offset + static_cast<std::ptrdiff_t>(pieces.back().bytes) == piece.offset) {
    pieces.back().bytes += piece.bytes;
  } else {
    pieces.push_back(piece);
  }
}

// Adds the pieces of the innermost `levels` loops.
void add_all(const PieceList& from, std::size_t levels, std::ptrdiff_t at, std::vector<Piece>& to) {
  if (levels == 0) {
    for (const Piece& piece : from.pieces) add_piece(to, {at + piece.offset, piece.bytes});
    return;
  }
  const Loop& loop = from.loops[levels - 1];
  for (std::int64_t i = 0; i < loop.count; ++i) add_all(from, levels - 1, at + i * loop.step, to);
}

// Repeats all pieces. Those that become one longer piece need no loop.
void repeat(PieceList& list, const Loop& loop) {
  if (loop.count == 1) return;
  const bool is_dense =
      list.loops.empty() && list.pieces.size() == 1 && static_cast<std::ptrdiff_t>(list.pieces[0].bytes) == loop.step;
  if (is_dense) {
    list.pieces[0].bytes *= static_cast<std::size_t>(loop.count);
  } else {
    list.loops.push_back(loop);
  }
}

// The frequent case: a block.
bool is_one_piece(const PieceList& item, const std::vector<Loop>& loops) {
  return item.loops.empty() && item.pieces.size() == 1 && loops.size() == 1 &&
         (loops[0].count == 1 || static_cast<std::ptrdiff_t>(item.pieces[0].bytes) == loops[0].step);
}

}  // namespace

std::size_t PieceList::count() const noexcept {
  std::size_t all = pieces.size();
  for (const Loop& loop : loops)
    if (__builtin_mul_overflow(all, static_cast<std::size_t>(loop.count), &all)) return SIZE_MAX;
  return all;
}

bool PieceList::unroll() {
  if (loops.empty()) return true;
  if (count() > kMostPieces) return false;
  std::vector<Piece> all;
  all.reserve(count());
  add_all(*this, loops.size(), 0, all);
  pieces = std::move(all);
  loops.clear();
  return true;
}

bool PieceList::append(const PieceList& item, std::ptrdiff_t at, const std::vector<Loop>& more) {
  if (is_one_piece(item, more)) {
    if (!unroll() || pieces.size() >= kMostPieces) return false;
    add_piece(pieces, {at + item.pieces[0].offset, item.pieces[0].bytes * static_cast<std::size_t>(more[0].count)});
    return true;
  }
  PieceList moved = item;
  for (Piece& piece : moved.pieces) piece.offset += at;
  for (const Loop& loop : more) repeat(moved, loop);
  const std::size_t added = moved.count();
  if (pieces.empty() && (added > kFewPieces || moved.loops.empty()) && moved.loops.size() <= kMostLoops) {
    *this = std::move(moved);
    return true;
  }
  if (!unroll() || added > kMostPieces || pieces.size() + added > kMostPieces) return false;
  add_all(moved, moved.loops.size(), 0, pieces);
  return true;
}

bool PieceList::find_bounds(Bounds& bounds) const noexcept {
  bounds = {PTRDIFF_MAX, PTRDIFF_MIN};
  for (const Piece& piece : pieces) {
    bounds.low = std::min(bounds.low, piece.offset);
    bounds.high = std::max(bounds.high, piece.offset + static_cast<std::ptrdiff_t>(piece.bytes));
  }
  return bounds.repeat(1, 0) && std::all_of(loops.begin(), loops.end(),
                                            [&](const Loop& loop) { return bounds.repeat(loop.count, loop.step); });
}

std::size_t PieceList::block_bytes() const noexcept {
  for (const Piece& piece : pieces)
    if (piece.bytes != pieces[0].bytes) return 0;
  return pieces[0].bytes;
}

std::ptrdiff_t PieceList::step(std::ptrdiff_t extent) const noexcept {
  const std::ptrdiff_t around = loops.empty() ? extent : loops[0].step;
  const std::ptrdiff_t step = pieces.size() == 1 ? around : pieces[1].offset - pieces[0].offset;
  for (std::size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i].offset - pieces[i - 1].offset != step) return 0;
  std::ptrdiff_t whole = static_cast<std::ptrdiff_t>(pieces.size()) * step;
  for (const Loop& loop : loops) {
    if (loop.step != whole) return 0;
    whole *= loop.count;
  }
  return step;
}

}  // namespace shmemx::interpose
