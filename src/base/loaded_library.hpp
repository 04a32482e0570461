// Routines of libraries that are loaded at run time.
#pragma once

#include <dlfcn.h>

namespace shmemx {

// Looks up pairs of a routine's name and the function pointer to set. Returns false if the library lacks a routine.
inline bool find_routines(void* /*library*/) noexcept { return true; }
template <class Function, class... Rest>
bool find_routines(void* library, const char* name, Function& function, Rest&&... rest) noexcept {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr && find_routines(library, rest...);
}

}  // namespace shmemx
