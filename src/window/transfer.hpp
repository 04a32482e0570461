// Put and get on attached windows, of any shape: checked, then by the way that the window has.
#pragma once

#include "rma/shape.hpp"
#include "window/attached.hpp"

namespace shmemx::window {

enum class Direction { put, get };

// `counter`: where an operation is noted that may be open on return; null with `blocking` false: flush completes it.
struct Mode {
  bool blocking;
  long* counter;
};

Code transfer(const char* routine, std::uint64_t handle, Direction direction, const rma::Shape& target,
              const rma::Shape& local, Mode mode) noexcept;

// The same for one range on each side; a mapped window takes the short way.
Code transfer_range(const char* routine, std::uint64_t handle, Direction direction, const void* target,
                    const void* local, std::uint64_t bytes, Mode mode) noexcept;

}  // namespace shmemx::window
