// How the executable was linked. Read when needed, cold.
#pragma once

#include <link.h>

#include <cstddef>

namespace shmemx {

// Returns true if the executable has no dynamic loader. What dlopen brings into such a program has a C library of its
// own, whose threads and thread-local data are not set up: code that uses them crashes.
inline bool is_linked_statically() noexcept {
  bool has_interpreter = false;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* found) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      if (info->dlpi_phdr[i].p_type == PT_INTERP) *static_cast<bool*>(found) = true;
    }
    return 1;  // the executable comes first
  };
  ::dl_iterate_phdr(visit, &has_interpreter);
  return !has_interpreter;
}

}  // namespace shmemx
