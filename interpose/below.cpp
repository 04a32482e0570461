#include "interpose/below.hpp"

#include <dlfcn.h>

namespace shmemx::interpose {

namespace detail {
Below below_table;
}

namespace {

// The next library that has the name is the MPI, whether this one is preloaded or linked in front of it.
[[gnu::constructor]] void find_routines() {
#define SHMEMX_FIND(name) \
  detail::below_table.name = reinterpret_cast<decltype(&PMPI_##name)>(::dlsym(RTLD_NEXT, "PMPI_" #name));
  SHMEMX_TAKEN_OVER(SHMEMX_FIND)
#undef SHMEMX_FIND
}

}  // namespace
}  // namespace shmemx::interpose
