// A set of PEs: start, stride, size in world numbers. Every team and active set is one. Arithmetic only.
#pragma once

#include <optional>

#include "base/pe.hpp"

namespace shmemx::team {

class PeSet {
 public:
  constexpr PeSet() = default;
  constexpr PeSet(Pe start, int stride, int size) : start_(start.value), stride_(stride), size_(size) {}

  constexpr int size() const { return size_; }
  constexpr int start() const { return start_; }
  constexpr int stride() const { return stride_; }
  // `pe` must be in [0, size).
  constexpr Pe world(TeamPe pe) const { return Pe{start_ + pe.value * stride_}; }

  // Returns the number of a world PE in this set, if it is a member.
  constexpr std::optional<TeamPe> find(Pe pe) const {
    const int distance = pe.value - start_;
    if (size_ == 1 || stride_ == 0) return distance == 0 && size_ >= 1 ? std::optional(TeamPe{0}) : std::nullopt;
    if (distance % stride_ != 0) return std::nullopt;
    const int index = distance / stride_;
    return index >= 0 && index < size_ ? std::optional(TeamPe{index}) : std::nullopt;
  }

  // Returns the subset start, start + stride, ... in this set's own numbers; nothing if it does not fit. Stride 0
  // requires size 1; a negative stride reverses the order.
  constexpr std::optional<PeSet> subset(int start, int stride, int size) const {
    if (size < 1 || start < 0 || start >= size_) return std::nullopt;
    if (size > 1 && stride == 0) return std::nullopt;
    const long last = start + static_cast<long>(size - 1) * stride;
    if (last < 0 || last >= size_) return std::nullopt;
    return PeSet(world(TeamPe{start}), size == 1 ? 1 : stride * stride_, size);
  }

 private:
  int start_ = 0;
  int stride_ = 0;  // tables of sets are zeros until they are used
  int size_ = 0;
};

}  // namespace shmemx::team
