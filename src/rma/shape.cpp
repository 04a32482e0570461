#include "rma/shape.hpp"

#include <algorithm>

#include "rma/strided.hpp"

namespace shmemx::rma {

Shape Shape::of_list(const Place* list, std::size_t count) noexcept {
  Shape shape = contiguous(nullptr, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (__builtin_add_overflow(shape.bytes, list[i].bytes, &shape.bytes)) shape.fit = Fit::overflow;
  }
  if (count == 1) {
    shape.base = list[0].at;
    return shape;
  }
  shape.kind = Kind::list;
  shape.list = list;
  shape.count = count;
  return shape;
}

Shape Shape::strided(const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                     std::size_t count) noexcept {
  Shape shape = contiguous(base, 0);
  if (__builtin_mul_overflow(block_bytes, count, &shape.bytes)) shape.fit = Fit::overflow;
  if (count <= 1 || block_bytes == 0) return shape;
  if (stride_bytes > 0 && static_cast<std::size_t>(stride_bytes) == block_bytes) return shape;
  std::ptrdiff_t last_block;
  if (shape.fit == Fit::fits &&
      (count - 1 > PTRDIFF_MAX ||
       __builtin_mul_overflow(static_cast<std::ptrdiff_t>(count - 1), stride_bytes, &last_block)))
    shape.fit = Fit::wraps;
  shape.kind = Kind::strided;
  shape.block_bytes = block_bytes;
  shape.stride_bytes = stride_bytes;
  shape.count = count;
  return shape;
}

bool Shape::has_null() const noexcept {
  if (kind != Kind::list) return base == nullptr && bytes != 0;
  return std::any_of(list, list + count, [](const Place& place) { return place.at == nullptr && place.bytes != 0; });
}

Place Cursor::next_of_many(std::size_t most) noexcept {
  if (left() == 0) return {nullptr, 0};
  Place place = shape_.part(index_);
  while (inside_ == place.bytes) {  // empty places of a list
    inside_ = 0;
    place = shape_.part(++index_);
  }
  return {place.at + inside_, std::min(place.bytes - inside_, most)};
}

void Cursor::advance_in_many(std::size_t bytes) noexcept {
  passed_ += bytes;
  while (bytes != 0) {
    const std::size_t here = shape_.part(index_).bytes - inside_;
    if (bytes < here) {
      inside_ += bytes;
      return;
    }
    bytes -= here;
    inside_ = 0;
    ++index_;
  }
}

Cursor::Blocks Cursor::take_blocks(std::size_t most) noexcept {
  const bool is_regular = shape_.kind == Shape::Kind::strided && inside_ == 0 && shape_.stride_bytes >= 0;
  if (const std::size_t count = is_regular ? most / shape_.block_bytes : 0; count != 0) {
    std::byte* const first = shape_.part(index_).at;
    passed_ += count * shape_.block_bytes;
    index_ += count;
    return {first, shape_.block_bytes, count, static_cast<std::size_t>(shape_.stride_bytes)};
  }
  const Place place = next(most);
  advance(place.bytes);
  return {place.at, place.bytes, 1, 0};
}

void Cursor::gather(void* dest, std::size_t bytes) noexcept {
  auto* to = static_cast<std::byte*>(dest);
  for (std::byte* const end = to + bytes; to != end;) {
    const Blocks from = take_blocks(static_cast<std::size_t>(end - to));
    copy_strided(to, from.at, {from.block_bytes, from.count, from.block_bytes, from.step});
    to += from.count * from.block_bytes;
  }
}

void Cursor::scatter(const void* source, std::size_t bytes) noexcept {
  const auto* from = static_cast<const std::byte*>(source);
  for (const std::byte* const end = from + bytes; from != end;) {
    const Blocks to = take_blocks(static_cast<std::size_t>(end - from));
    copy_strided(to.at, from, {to.block_bytes, to.count, to.step, to.block_bytes});
    from += to.count * to.block_bytes;
  }
}

bool PairWalk::next(Pair& pair, std::size_t most) noexcept {
  const std::size_t bytes = std::min(first_.next(most).bytes, second_.next(most).bytes);
  if (bytes == 0) return false;
  pair = {first_.next(bytes).at, second_.next(bytes).at, bytes};
  first_.advance(bytes);
  second_.advance(bytes);
  return true;
}

}  // namespace shmemx::rma
