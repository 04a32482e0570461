// How much may be outstanding on a path, as in TCP: it is halved at a loss, and grows with what arrives. Below the
// threshold it grows by one for each unit that arrives, above it by one for each window of them.
#pragma once

#include <algorithm>

namespace shmemx::ethernet {

class CongestionWindow {
 public:
  // In frames or packets. It is never smaller than `least`, and does not grow beyond `most`.
  CongestionWindow(unsigned first, unsigned least, unsigned most) noexcept
      : size_(std::min(first, most)), threshold_(size_), least_(least), most_(most) {}

  unsigned size() const noexcept { return size_; }
  void grow() noexcept {
    if (size_ >= most_) return;
    if (size_ < threshold_ || ++credit_ >= size_) {
      ++size_;
      credit_ = 0;
    }
  }
  void halve() noexcept {
    size_ = threshold_ = std::max(size_ / 2, least_);
    credit_ = 0;
  }

 private:
  unsigned size_;
  unsigned threshold_;
  unsigned credit_ = 0;  // arrived since it has grown
  unsigned least_;
  unsigned most_;
};

}  // namespace shmemx::ethernet
