// Reads small files, such as those of /proc and /sys, without allocating.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <span>

#include "base/unique_fd.hpp"

namespace shmemx {

// Reads the begin of a file into `text`, which ends with '\0' afterwards. Returns false, with an empty text, if there
// is nothing to read.
inline bool read_small_file(const char* path, std::span<char> text) noexcept {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd.valid() ? ::read(fd.get(), text.data(), text.size() - 1) : 0;
  text[got > 0 ? static_cast<std::size_t>(got) : 0] = '\0';
  return got > 0;
}

}  // namespace shmemx
