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

Shape Shape::of_local_list(const Place* list, std::size_t count) noexcept {
  const Shape shape = of_list(list, count);
  if (shape.kind != Kind::list || shape.fit != Fit::fits || shape.bytes == 0) return shape;
  const Place first = Cursor(shape).next(SIZE_MAX);
  return first.bytes == shape.bytes ? contiguous(first.at, first.bytes) : shape;
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
  return {place.at + inside_, std::min(left_in_range(), most)};
}

std::size_t Cursor::left_in_range() noexcept {
  const Place place = shape_.part(index_);
  if (shape_.kind == Shape::Kind::strided || !shape_.joins) return place.bytes - inside_;
  if (range_end_ <= passed_) {
    range_end_ = passed_ + place.bytes - inside_;
    for (std::size_t i = place_behind(index_); i < shape_.count; i = place_behind(i))
      range_end_ += shape_.list[i].bytes;
  }
  return range_end_ - passed_;
}

std::size_t Cursor::place_behind(std::size_t i) const noexcept {
  const std::byte* const end = shape_.list[i].at + shape_.list[i].bytes;
  do {
    ++i;
  } while (i < shape_.count && shape_.list[i].bytes == 0);
  return i < shape_.count && shape_.list[i].at == end ? i : shape_.count;
}

void Cursor::advance_in_many(std::size_t bytes) noexcept {
  passed_ += bytes;
  if (shape_.kind == Shape::Kind::strided) {
    inside_ += bytes;
    if (inside_ < shape_.block_bytes) return;
    index_ += inside_ / shape_.block_bytes;
    inside_ %= shape_.block_bytes;
    return;
  }
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

Cursor::Series Cursor::series_of(std::size_t bytes) noexcept {
  const auto close = static_cast<std::ptrdiff_t>(bytes);
  if (shape_.kind == Shape::Kind::contiguous) return {left() / bytes, close};
  const std::size_t here = left_in_range();
  if (inside_ != 0 || here != bytes || shape_.part(index_).bytes != bytes) return {here / bytes, close};
  if (shape_.kind == Shape::Kind::strided) return {shape_.count - index_, shape_.stride_bytes};
  return series_of_places(bytes);
}

Cursor::Series Cursor::series_of_places(std::size_t bytes) noexcept {
  if (index_ + 1 >= series_end_) {
    const auto step_to = [&](std::size_t i) {  // the places may lie anywhere
      return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(shape_.list[i].at) -
                                         reinterpret_cast<std::uintptr_t>(shape_.list[i - 1].at));
    };
    std::size_t end = index_ + 1;
    series_step_ = end < shape_.count ? step_to(end) : 0;
    while (end < shape_.count && shape_.list[end].bytes == bytes && step_to(end) == series_step_) ++end;
    const bool is_longer = shape_.joins && end > index_ + 1 && place_behind(end - 1) < shape_.count;
    series_end_ = is_longer ? end - 1 : end;  // the last one begins a longer range
  }
  return {series_end_ - index_, series_step_};
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

bool PairWalk::next_blocks(PairBlocks& blocks, std::size_t most) noexcept {
  const std::size_t bytes = std::min(first_.next(most).bytes, second_.next(most).bytes);
  if (bytes == 0) return false;
  const Cursor::Series first = first_.series_of(bytes);
  const Cursor::Series second = second_.series_of(bytes);
  const std::size_t count = std::min(first.count, second.count);
  blocks = {first_.next(bytes).at, second_.next(bytes).at, bytes, count, first.step, second.step};
  first_.advance(count * bytes);
  second_.advance(count * bytes);
  return true;
}

}  // namespace shmemx::rma
