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

// Runs of one length at equal distances on every side; those of a side that is not there mean nothing.
struct ElementSeries {
  ElementRun first;
  std::size_t count;
  std::ptrdiff_t target_step;
  std::ptrdiff_t source_step;
  std::ptrdiff_t result_step;
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
    advance(bytes);
    return true;
  }
  // As next(), for all runs from here on that are alike, of at most `most` elements each.
  bool next_series(ElementSeries& series, std::size_t most) noexcept {
    ElementWalk here = *this;
    if (!here.next(series.first, most)) return false;
    const std::size_t bytes = series.first.count * element_bytes_;
    const Cursor::Series target = target_.series_of(bytes);
    series.count = target.count;
    series.target_step = target.step;
    series.source_step = series.result_step = 0;
    if (has_source_) take_part(source_, bytes, series.count, series.source_step);
    if (has_result_) take_part(result_, bytes, series.count, series.result_step);
    advance(series.count * bytes);
    return true;
  }

 private:
  static void take_part(Cursor& side, std::size_t bytes, std::size_t& count, std::ptrdiff_t& step) noexcept {
    const Cursor::Series series = side.series_of(bytes);
    count = std::min(count, series.count);
    step = series.step;
  }
  void advance(std::size_t bytes) noexcept {
    target_.advance(bytes);
    if (has_source_) source_.advance(bytes);
    if (has_result_) result_.advance(bytes);
  }

  Cursor target_;
  Cursor source_;
  Cursor result_;
  std::size_t element_bytes_;
  bool has_source_;
  bool has_result_;
};

}  // namespace shmemx::rma
