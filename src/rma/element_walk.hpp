// Walks the sides of an accumulate together: targets, operands and old values, each of any shape with the same total.
#pragma once

#include <algorithm>

#include "rma/shape.hpp"

namespace shmemx::rma {

// Elements that are contiguous on every side.
struct ElementRun {
  std::byte* target;
  const std::byte* source;  // null: no operands
  std::byte* result;        // null: nothing is fetched
  std::size_t count;
};

// The sides that an operation has not are null. The parts of each shape are whole elements.
struct ElementShapes {
  const Shape* target;
  const Shape* source;
  const Shape* result;
  std::size_t element_bytes;
};

class ElementWalk {
 public:
  explicit ElementWalk(const ElementShapes& shapes) noexcept
      : target_(*shapes.target),
        source_(shapes.source == nullptr ? Shape{} : *shapes.source),
        result_(shapes.result == nullptr ? Shape{} : *shapes.result),
        element_bytes_(shapes.element_bytes),
        has_source_(shapes.source != nullptr),
        has_result_(shapes.result != nullptr) {}

  bool fetches() const noexcept { return has_result_; }
  std::size_t left() const noexcept { return target_.left(); }

  // Writes the next run, of at most `most` elements, and advances. Returns false at the end.
  bool next(ElementRun& run, std::size_t most = SIZE_MAX) noexcept {
    const std::size_t most_bytes = most > SIZE_MAX / element_bytes_ ? SIZE_MAX : most * element_bytes_;
    const Place target = target_.next(most_bytes);
    if (target.bytes == 0) return false;
    std::size_t bytes = target.bytes;
    run = {target.at, nullptr, nullptr, 0};
    if (has_source_) {
      const Place source = source_.next(bytes);
      run.source = source.at;
      bytes = source.bytes;
    }
    if (has_result_) {
      const Place result = result_.next(bytes);
      run.result = result.at;
      bytes = result.bytes;
    }
    run.count = bytes / element_bytes_;
    target_.advance(bytes);
    if (has_source_) source_.advance(bytes);
    if (has_result_) result_.advance(bytes);
    return true;
  }

 private:
  Cursor target_;
  Cursor source_;
  Cursor result_;
  std::size_t element_bytes_;
  bool has_source_;
  bool has_result_;
};

}  // namespace shmemx::rma
