// Fortran. The MPIs' own wrappers call the routines of C, by either name, so they lead here without further ado. The
// one exception reads attributes within the MPI below.
#include <dlfcn.h>

#include <cstdint>

#include "interpose/api/entry.hpp"
#include "interpose/attributes.hpp"
#include "interpose/linkage.hpp"

namespace {

using GetAttribute = void (*)(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag, MPI_Fint* error);

// The key in C. MPICH has another number for it in Fortran, since attributes are values there and not addresses.
int key_of(MPI_Fint keyval) {
#ifdef MPICH_VERSION
  return keyval - 1;
#else
  return keyval;
#endif
}

// Attributes of Fortran are integers: the base's address, or the value that the attribute of C points to.
void read_attribute(MPI_Win win, MPI_Fint keyval, MPI_Aint* value) {
  shmemx::interpose::Window* const window = shmemx::interpose::find_window(win);
  const int key = key_of(keyval);
  void* found = nullptr;
  if (window == nullptr || !shmemx::interpose::find_attribute(*window, key, found)) return;
  if (key == MPI_WIN_BASE) {
    *value = reinterpret_cast<std::intptr_t>(found);
  } else {
    *value = key == MPI_WIN_SIZE ? *static_cast<const MPI_Aint*>(found) : *static_cast<const int*>(found);
  }
}

// Returns the routine of that name which the program would find without this library.
GetAttribute find_behind(const char* name) {
  void* found = shmemx::interpose::find_symbol(RTLD_NEXT, name);
  if (found == nullptr) found = shmemx::interpose::definition_behind(shmemx::interpose::this_object(), name);
  return reinterpret_cast<GetAttribute>(found);
}

// A tool's routine of that name; null if the next one belongs to the MPI.
GetAttribute find_tool(const char* name) {
  const auto object = [](GetAttribute routine) {
    return shmemx::interpose::object_of(reinterpret_cast<const void*>(routine));
  };
  const auto found = find_behind(name);
  return found != nullptr && object(found) != object(find_behind("pmpi_win_get_attr_")) ? found : nullptr;
}

}  // namespace

// The window below has all predefined attributes, too, so it says in Fortran's own terms that the attribute is there.
SHMEMX_ENTRY void pmpi_win_get_attr_(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag,
                                     MPI_Fint* error) {
  static const auto below = find_behind("pmpi_win_get_attr_");
  MPI_Fint code = MPI_SUCCESS;
  below(win, keyval, value, flag, &code);
  if (code == MPI_SUCCESS) read_attribute(PMPI_Win_f2c(*win), *keyval, value);
  if (error != nullptr) *error = code;  // it is optional in mpi_f08
}

// The names that compilers make of one routine, and those by which the modules call it.
#define SHMEMX_FORTRAN_PMPI(name) \
  extern "C" __attribute__((visibility("default"), alias("pmpi_win_get_attr_"))) decltype(pmpi_win_get_attr_) name;
#define SHMEMX_FORTRAN_MPI(name)                                                                              \
  SHMEMX_ENTRY void name(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag, MPI_Fint* error) { \
    static const auto tool = find_tool(#name);                                                                \
    return tool != nullptr ? tool(win, keyval, value, flag, error)                                            \
                           : pmpi_win_get_attr_(win, keyval, value, flag, error);                             \
  }
SHMEMX_FORTRAN_MPI(mpi_win_get_attr)
SHMEMX_FORTRAN_MPI(mpi_win_get_attr_)
SHMEMX_FORTRAN_MPI(mpi_win_get_attr__)
SHMEMX_FORTRAN_MPI(MPI_WIN_GET_ATTR)
SHMEMX_FORTRAN_PMPI(pmpi_win_get_attr)
SHMEMX_FORTRAN_PMPI(pmpi_win_get_attr__)
SHMEMX_FORTRAN_PMPI(PMPI_WIN_GET_ATTR)
SHMEMX_FORTRAN_MPI(mpi_win_get_attr_f08_)
