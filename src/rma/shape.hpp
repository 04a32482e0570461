// The memory on one side of a transfer: one place, a list of places, or strided blocks. A Cursor walks one shape in
// order, a PairWalk walks two shapes together. A shape may describe memory of another process: only gather and scatter
// touch it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::rma {

// One contiguous range. Lays out as struct shmemx_iov of the public header.
struct Place {
  std::byte* at;
  std::size_t bytes;
};

struct Shape {
  enum class Kind : std::uint8_t { contiguous, list, strided };
  // overflow: the bytes exceed a size_t. wraps: the blocks span more than the address space.
  enum class Fit : std::uint8_t { fits, overflow, wraps };

  Kind kind = Kind::contiguous;
  Fit fit = Fit::fits;
  std::byte* base = nullptr;
  std::size_t bytes = 0;  // in all
  std::size_t count = 1;  // of places or blocks
  const Place* list = nullptr;
  std::size_t block_bytes = 0;
  std::ptrdiff_t stride_bytes = 0;
  bool joins = true;  // are places of a list that follow each other without a gap one range?

  static Shape contiguous(const void* base, std::size_t bytes) noexcept {
    Shape shape;
    shape.base = static_cast<std::byte*>(const_cast<void*>(base));  // a source is only read
    shape.bytes = bytes;
    return shape;
  }
  // Keeps a pointer to `list`, not a copy of it.
  static Shape of_list(const Place* list, std::size_t count) noexcept;
  // As of_list(), but contiguous if there are no gaps. For memory of this process.
  static Shape of_local_list(const Place* list, std::size_t count) noexcept;
  static Shape strided(const void* base, std::size_t block_bytes, std::ptrdiff_t stride_bytes,
                       std::size_t count) noexcept;

  // Returns the i-th place or block.
  Place part(std::size_t i) const noexcept {
    if (kind == Kind::contiguous) return {base, bytes};
    if (kind == Kind::list) return list[i];
    return {base + static_cast<std::ptrdiff_t>(i) * stride_bytes, block_bytes};
  }
  // Returns true if a part that is not empty begins at address 0.
  bool has_null() const noexcept;
};

class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(const Shape& shape) noexcept : shape_(shape) {}

  const Shape& shape() const noexcept { return shape_; }
  std::size_t passed() const noexcept { return passed_; }
  std::size_t left() const noexcept { return shape_.bytes - passed_; }

  // Returns at most `most` bytes of the next place, 0 bytes at the end. Does not move.
  Place next(std::size_t most) noexcept {
    if (shape_.kind == Shape::Kind::contiguous) return {shape_.base + passed_, left() < most ? left() : most};
    return next_of_many(most);
  }
  // Advances by `bytes`, at most left().
  void advance(std::size_t bytes) noexcept {
    if (shape_.kind == Shape::Kind::contiguous) {
      passed_ += bytes;
    } else {
      advance_in_many(bytes);
    }
  }
  // Equal ranges that follow one another at equal distances.
  struct Series {
    std::size_t count;
    std::ptrdiff_t step;  // from one range's begin to the next one's; of one range it means nothing
  };
  // Returns how many ranges of `bytes`, at most the length of next(), follow from here on. Does not move.
  Series series_of(std::size_t bytes) noexcept;
  // Copy the next `bytes` out of the shape, or into it, and advance. At most left().
  void gather(void* dest, std::size_t bytes) noexcept;
  void scatter(const void* source, std::size_t bytes) noexcept;

 private:
  Place next_of_many(std::size_t most) noexcept;
  void advance_in_many(std::size_t bytes) noexcept;
  // Equal blocks that copy_strided() takes: whole ones of a strided shape, else the next range alone.
  struct Blocks {
    std::byte* at;
    std::size_t block_bytes;
    std::size_t count;
    std::size_t step;
  };
  // Returns the next blocks, of at most `most` bytes, and advances.
  Blocks take_blocks(std::size_t most) noexcept;
  Series series_of_places(std::size_t bytes) noexcept;
  // Returns the bytes from here to the end of the range, of which the current place may be a part.
  std::size_t left_in_range() noexcept;
  // Returns the place of a list that begins where the i-th one ends, with only empty ones between them; count if none.
  std::size_t place_behind(std::size_t i) const noexcept;

  Shape shape_;
  std::size_t passed_ = 0;
  std::size_t index_ = 0;   // of the current part
  std::size_t inside_ = 0;  // bytes of the current part that have been passed
  // Of a list: the places in front of this index are equal and lie one step behind the other, from the current one on.
  std::size_t series_end_ = 0;
  std::ptrdiff_t series_step_ = 0;
  std::size_t range_end_ = 0;  // of a list that joins: passed() at the end of the range
};

struct Pair {
  std::byte* first;
  std::byte* second;
  std::size_t bytes;
};

// Pairs of ranges of one length, at equal distances on either side.
struct PairBlocks {
  std::byte* first;
  std::byte* second;
  std::size_t bytes;  // of each block
  std::size_t count;
  std::ptrdiff_t first_step;
  std::ptrdiff_t second_step;

  Pair at(std::size_t i) const noexcept {
    const auto n = static_cast<std::ptrdiff_t>(i);
    return {first + n * first_step, second + n * second_step, bytes};
  }
};

// Walks two shapes of the same total, as pairs of ranges of the same length.
class PairWalk {
 public:
  PairWalk(const Shape& first, const Shape& second) noexcept : first_(first), second_(second) {}

  // Writes the next pair, of at most `most` bytes, and advances. Returns false at the end.
  bool next(Pair& pair, std::size_t most = SIZE_MAX) noexcept;
  // As next(), for all pairs from here on that are equal. Looks at each place of a list once.
  bool next_blocks(PairBlocks& blocks, std::size_t most) noexcept;
  std::size_t left() const noexcept { return first_.left(); }

 private:
  Cursor first_;
  Cursor second_;
};

}  // namespace shmemx::rma
