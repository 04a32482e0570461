// A heap window of this process with guards around it, for tests that messages touch no other memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "windows/exposure.hpp"

namespace shmemx::unit {

class ExposedHeap {
 public:
  static constexpr std::size_t kBytes = 1024;
  static constexpr std::size_t kGuardBytes = 4096;
  static constexpr std::byte kGuard{0xa5};

  ExposedHeap() {
    all_.fill(kGuard);
    std::fill_n(begin(), kBytes, std::byte{0});
    windows::expose_builtin(windows::kHeapWindow, begin(), kBytes);
  }
  ~ExposedHeap() { windows::expose_builtin(windows::kHeapWindow, nullptr, 0); }
  ExposedHeap(const ExposedHeap&) = delete;
  ExposedHeap& operator=(const ExposedHeap&) = delete;

  std::byte* begin() noexcept { return all_.data() + kGuardBytes; }
  template <class T>
  T* at(std::size_t offset) noexcept {
    return reinterpret_cast<T*>(begin() + offset);
  }
  bool is_zero() { return holds_only(begin(), kBytes, std::byte{0}); }
  bool guards_are_whole() {
    return holds_only(all_.data(), kGuardBytes, kGuard) && holds_only(begin() + kBytes, kGuardBytes, kGuard);
  }

 private:
  static bool holds_only(const std::byte* from, std::size_t bytes, std::byte value) {
    return std::count(from, from + bytes, value) == static_cast<std::ptrdiff_t>(bytes);
  }

  alignas(64) std::array<std::byte, kBytes + 2 * kGuardBytes> all_;
};

}  // namespace shmemx::unit
