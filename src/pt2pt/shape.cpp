#include "pt2pt/shape.hpp"

#include <algorithm>

#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {

bool Shape::of_list(const Place* list, std::size_t count, Shape& out) noexcept {
  out = {};
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (__builtin_add_overflow(total, list[i].bytes, &total)) return false;
  }
  if (count == 1) {
    out = contiguous(list[0].at, total);
    return true;
  }
  out.kind = Kind::list;
  out.list = list;
  out.count = count;
  out.bytes = total;
  return true;
}

bool Shape::strided(const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes, std::size_t count,
                    Shape& out) noexcept {
  out = contiguous(base, 0);
  if (__builtin_mul_overflow(block_bytes, count, &out.bytes)) return false;
  if (count <= 1 || block_bytes == 0) return true;
  std::ptrdiff_t reach;  // of the last block's begin
  if (count - 1 > PTRDIFF_MAX || __builtin_mul_overflow(static_cast<std::ptrdiff_t>(count - 1), stride_bytes, &reach))
    return false;
  if (stride_bytes > 0 && static_cast<std::size_t>(stride_bytes) == block_bytes) return true;
  out.kind = Kind::strided;
  out.block_bytes = block_bytes;
  out.stride_bytes = stride_bytes;
  out.count = count;
  return true;
}

void copy_bytes(void* dest, const void* source, std::size_t bytes) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const auto ends = reinterpret_cast<std::uintptr_t>(dest) | reinterpret_cast<std::uintptr_t>(source);
  if (bytes >= kStringCopyBytes && ends % 16 == 0) {
    asm volatile("rep movsb" : "+D"(dest), "+S"(source), "+c"(bytes) : : "memory");
    return;
  }
#endif
  if (bytes != 0) std::memcpy(dest, source, bytes);
}

Place Cursor::part(std::size_t index) const noexcept {
  if (shape_.kind == Shape::Kind::list) return shape_.list[index];
  return {shape_.base + static_cast<std::ptrdiff_t>(index) * shape_.stride_bytes, shape_.block_bytes};
}

Place Cursor::next_of_many(std::size_t most) noexcept {
  if (left() == 0) return {nullptr, 0};
  Place place = part(index_);
  while (inside_ == place.bytes) {  // empty places of a list
    inside_ = 0;
    place = part(++index_);
  }
  return {place.at + inside_, std::min(place.bytes - inside_, most)};
}

void Cursor::advance_in_many(std::size_t bytes) noexcept {
  passed_ += bytes;
  while (bytes != 0) {
    const std::size_t here = part(index_).bytes - inside_;
    if (bytes < here) {
      inside_ += bytes;
      return;
    }
    bytes -= here;
    inside_ = 0;
    ++index_;
  }
}

void Cursor::gather(void* dest, std::size_t bytes) noexcept {
  auto* to = static_cast<std::byte*>(dest);
  while (bytes != 0) {
    const Place place = next(bytes);
    copy_bytes(to, place.at, place.bytes);
    advance(place.bytes);
    to += place.bytes;
    bytes -= place.bytes;
  }
}

void Cursor::scatter(const void* source, std::size_t bytes) noexcept {
  const auto* from = static_cast<const std::byte*>(source);
  while (bytes != 0) {
    const Place place = next(bytes);
    copy_bytes(place.at, from, place.bytes);
    advance(place.bytes);
    from += place.bytes;
    bytes -= place.bytes;
  }
}

}  // namespace shmemx::pt2pt
