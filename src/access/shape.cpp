#include "access/shape.hpp"

#include <algorithm>

namespace shmemx::access {

bool Side::total(std::uint64_t& bytes) const noexcept {
  bytes = 0;
  if (list_ == nullptr) return !__builtin_mul_overflow(block_bytes_, count_, &bytes);
  for (std::uint64_t i = 0; i < count_; ++i) {
    if (__builtin_add_overflow(bytes, std::uint64_t{list_[i].bytes}, &bytes)) return false;
  }
  return true;
}

bool Side::has_null() const noexcept {
  if (list_ == nullptr) return base_ == 0 && block_bytes_ != 0 && count_ != 0;
  return std::any_of(list_, list_ + count_,
                     [](const shmemx_iov_t& piece) { return piece.base == nullptr && piece.bytes != 0; });
}

// Moves on to a piece that still has bytes.
bool PairWalk::flush(const Side& side, Cursor& cursor, Piece& rest) noexcept {
  for (; cursor.index < side.count(); ++cursor.index, cursor.done = 0) {
    const Piece piece = side.at(cursor.index);
    if (cursor.done < piece.bytes) {
      rest = {piece.address + cursor.done, piece.bytes - cursor.done};
      return true;
    }
  }
  return false;
}

bool PairWalk::next(Pair& pair, std::uint64_t limit) noexcept {
  Piece target{};
  Piece local{};
  if (!flush(target_, target_at_, target) || !flush(local_, local_at_, local)) return false;
  pair.bytes = std::min({target.bytes, local.bytes, limit});
  pair.offset = target.address - window_base_;
  pair.local = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(local.address));
  target_at_.done += pair.bytes;
  local_at_.done += pair.bytes;
  return true;
}

}  // namespace shmemx::access
