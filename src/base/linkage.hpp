// Tells how the executable was linked. Cold code.
#pragma once

#include <link.h>
#include <sys/auxv.h>

#include <cstddef>

namespace shmemx {

// Returns true if the executable has no dynamic loader. A library that dlopen loads into such a program brings a
// second C library, whose threads and thread-local data are not set up. Code that uses them crashes.
inline bool is_linked_statically() noexcept {
  const auto* const headers = reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR));
  const unsigned long count = headers == nullptr ? 0 : ::getauxval(AT_PHNUM);
  for (unsigned long i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_INTERP) return false;
  }
  return true;
}

}  // namespace shmemx
