// Where the bytes of a message lie: in one place, in a list of places, or in strided blocks. A Cursor walks them in
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shmemx::pt2pt {

// One place in this process's memory.
struct Place {
  std::byte* at;
  std::size_t bytes;
};

// Lays out as struct shmemx_iov of the public header.
struct Shape {
  enum class Kind : std::uint8_t { contiguous, list, strided };
  Kind kind = Kind::contiguous;
  std::byte* base = nullptr;
  std::size_t bytes = 0;  // in all
  std::size_t count = 0;  // of places or blocks
  const Place* list = nullptr;
  std::size_t block_bytes = 0;
  std::ptrdiff_t stride_bytes = 0;

  static Shape contiguous(const void* base, std::size_t bytes) noexcept {
    Shape shape;
    shape.base = static_cast<std::byte*>(const_cast<void*>(base));  // who sends does not write there
    shape.bytes = bytes;
    return shape;
  }
  // False when the total does not fit. `list` is kept, not copied.
  static bool of_list(const Place* list, std::size_t count, Shape& out) noexcept;
  static bool strided(const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes, std::size_t count,
                      Shape& out) noexcept;
};

// Copies from a few KiB up as fast as the processor can.
void copy_bytes(void* dest, const void* source, std::size_t bytes) noexcept;

class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(const Shape& shape) noexcept : shape_(shape) {}

  const Shape& shape() const noexcept { return shape_; }
  std::size_t passed() const noexcept { return passed_; }
  std::size_t left() const noexcept { return shape_.bytes - passed_; }

  // The next place, at most `most` bytes of it; 0 bytes at the end. Does not move.
  Place next(std::size_t most) noexcept {
    if (shape_.kind == Shape::Kind::contiguous) return {shape_.base + passed_, left() < most ? left() : most};
    return next_of_many(most);
  }
  // Past `bytes`, not beyond the end.
  void advance(std::size_t bytes) noexcept {
    if (shape_.kind == Shape::Kind::contiguous) {
      passed_ += bytes;
    } else {
      advance_in_many(bytes);
    }
  }
  // Both move on. The caller sees to it that `bytes` are left.
  void gather(void* dest, std::size_t bytes) noexcept;
  void scatter(const void* source, std::size_t bytes) noexcept;

 private:
  Place next_of_many(std::size_t most) noexcept;
  void advance_in_many(std::size_t bytes) noexcept;
  Place part(std::size_t index) const noexcept;

  Shape shape_;
  std::size_t passed_ = 0;
  std::size_t index_ = 0;   // of the place we are in
  std::size_t inside_ = 0;  // bytes of it that are behind us
};

}  // namespace shmemx::pt2pt
