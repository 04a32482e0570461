// Libraries that are loaded at run time, and their routines.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace shmemx {

// Looks up pairs of a routine's name and the function pointer to set. Returns false if the library lacks a routine.
inline bool find_routines(void* /*library*/) noexcept { return true; }
template <class Function, class... Rest>
bool find_routines(void* library, const char* name, Function& function, Rest&&... rest) noexcept {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr && find_routines(library, rest...);
}

// Returns true if a library is loaded whose file name begins like this.
inline bool is_library_loaded(const char* name) noexcept {
  const auto is_that = [](dl_phdr_info* loaded, std::size_t, void* wanted) {
    const char* const slash = std::strrchr(loaded->dlpi_name, '/');
    const char* const file = slash != nullptr ? slash + 1 : loaded->dlpi_name;
    return std::strncmp(file, static_cast<const char*>(wanted), std::strlen(static_cast<const char*>(wanted))) == 0 ? 1
                                                                                                                    : 0;
  };
  return ::dl_iterate_phdr(is_that, const_cast<char*>(name)) != 0;
}

}  // namespace shmemx
