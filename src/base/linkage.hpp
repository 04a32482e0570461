// Tells how the executable was linked. Cold code.
#pragma once

#include <link.h>

#include <cstddef>

namespace shmemx {

// Returns true if the executable has no dynamic loader. A library that dlopen loads into such a program brings a
// second C library, whose threads and thread-local data are not set up. Code that uses them crashes.
inline bool is_linked_statically() noexcept {
  bool has_interpreter = false;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* found) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      if (info->dlpi_phdr[i].p_type == PT_INTERP) *static_cast<bool*>(found) = true;
    }
    return 1;  // stop: the executable comes first
  };
  ::dl_iterate_phdr(visit, &has_interpreter);
  return !has_interpreter;
}

}  // namespace shmemx
