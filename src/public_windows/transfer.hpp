// Put and get on attached windows, of any shape: checked, then by the way that the window has.
#pragma once

#include "onesided/rdma.hpp"
#include "public_windows/attached.hpp"
#include "rma/shape.hpp"

namespace shmemx::public_windows {

using onesided::Direction;

// `counter`: where an operation is noted that may be open on return; null with `blocking` false: flush completes it.
struct Mode {
  bool blocking;
  long* counter;
};

// A target as it may be walked. Places of a set of ranges stay apart: they may lie in different ones.
inline rma::Shape walked(const Attached& window, rma::Shape target) noexcept {
  target.joins = !window.is_set;
  return target;
}

// Do both sides have the same length, and no part of the local one a null address? And as below.
Code check(const Attached& window, const rma::Shape& target, const rma::Shape& local) noexcept;
// Are all parts of a target inside the window, up to the padding that each of them ends in, and does it live?
Code check_target(const Attached& window, const rma::Shape& target, std::uint64_t padding = 0) noexcept;

Code transfer(const char* routine, std::uint64_t handle, Direction direction, const rma::Shape& target,
              const rma::Shape& local, Mode mode) noexcept;

// transfer() of one range on each side: fewer instructions for a mapped window.
struct LocalRange {
  const void* address;
  std::uint64_t bytes;
};
Code transfer_range(const char* routine, std::uint64_t handle, Direction direction, const void* target,
                    LocalRange local, Mode mode) noexcept;

}  // namespace shmemx::public_windows
