#include "interpose/below.hpp"

#include <dlfcn.h>

#include <initializer_list>

namespace shmemx::interpose {

namespace detail {
Below below_table;
}

namespace {

void find_routines(void* library) {
#define SHMEMX_FIND(name) \
  detail::below_table.name = reinterpret_cast<decltype(&PMPI_##name)>(::dlsym(library, "PMPI_" #name));
  SHMEMX_TAKEN_OVER(SHMEMX_FIND)
#undef SHMEMX_FIND
}

// The next library that has the name is the MPI, whether this one is preloaded or linked in front of it.
[[gnu::constructor]] void find_next() { find_routines(RTLD_NEXT); }

}  // namespace

// Interpreters load the MPI by dlopen, with a module that is linked with it. This library finds its routines only if
// all may see them.
void find_below() {
  if (below().Init != nullptr) return;
  for (const char* const name : {"libmpi.so.12", "libmpich.so.12", "libmpi.so.40"}) {
    void* const library = ::dlopen(name, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_LAZY);
    if (library != nullptr) return find_routines(library);
  }
}

}  // namespace shmemx::interpose
