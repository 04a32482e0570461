// Unpredictable bytes from the kernel.
#pragma once

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>

#include "base/unique_fd.hpp"

namespace shmemx {

// Fills `bytes` from getrandom(2), or from /dev/urandom where that is refused. Returns false if both are.
[[nodiscard]] inline bool fill_random(std::span<std::byte> bytes) noexcept {
  UniqueFd device;
  while (!bytes.empty()) {
    const ssize_t got =
        device.valid() ? ::read(device.get(), bytes.data(), bytes.size()) : ::getrandom(bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      if (device.valid()) return false;
      device = UniqueFd(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
      if (!device.valid()) return false;
    }
  }
  return true;
}

}  // namespace shmemx
