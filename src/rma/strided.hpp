// Strided and block-strided copies between mapped memory: loops of plain element copies, or one copy where there are no
// gaps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/copy.hpp"

namespace shmemx::rma {

// Shape of a strided transfer, in bytes. `dest_step` and `source_step` go from one block's begin to the next one's.
struct Strided {
  std::size_t block_bytes;
  std::size_t block_count;
  std::size_t dest_step;
  std::size_t source_step;
};

// Returns the same transfer as one block if the blocks follow each other without a gap on both sides.
inline Strided joined(const Strided& shape) noexcept {
  if (shape.dest_step != shape.block_bytes || shape.source_step != shape.block_bytes || shape.block_count < 2)
    return shape;
  const std::size_t bytes = shape.block_count * shape.block_bytes;
  return {bytes, 1, bytes, bytes};
}

template <std::size_t Bytes>
inline void copy_elements(std::byte* dest, const std::byte* source, const Strided& shape) noexcept {
  for (std::size_t i = 0; i < shape.block_count; ++i) {
    __builtin_memcpy(dest, source, Bytes);
    dest += shape.dest_step;
    source += shape.source_step;
  }
}

inline void copy_strided(void* dest, const void* source, const Strided& any_shape) noexcept {
  const Strided shape = joined(any_shape);
  auto* to = static_cast<std::byte*>(dest);
  const auto* from = static_cast<const std::byte*>(source);
  switch (shape.block_bytes) {
    case 1:
      return copy_elements<1>(to, from, shape);
    case 2:
      return copy_elements<2>(to, from, shape);
    case 4:
      return copy_elements<4>(to, from, shape);
    case 8:
      return copy_elements<8>(to, from, shape);
    case 16:
      return copy_elements<16>(to, from, shape);
    case 32:
      return copy_elements<32>(to, from, shape);
    case 64:
      return copy_elements<64>(to, from, shape);
    default:
      break;
  }
  for (std::size_t i = 0; i < shape.block_count; ++i) {
    copy(to, from, shape.block_bytes);
    to += shape.dest_step;
    from += shape.source_step;
  }
}

}  // namespace shmemx::rma
