// Fortran. The MPIs' own wrappers call the routines of C, by either name, so they lead here without further ado. The
// one exception reads attributes within the MPI below.
#include <dlfcn.h>

#include <cstdint>

#include "interpose/api/entry.hpp"
#include "interpose/attributes.hpp"

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

}  // namespace

// The window below has all predefined attributes, too, so it says in Fortran's own terms that the attribute is there.
SHMEMX_ENTRY void pmpi_win_get_attr_(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag,
                                     MPI_Fint* error) {
  static const auto below = reinterpret_cast<GetAttribute>(::dlsym(RTLD_NEXT, "pmpi_win_get_attr_"));
  MPI_Fint code = MPI_SUCCESS;
  below(win, keyval, value, flag, &code);
  if (code == MPI_SUCCESS) read_attribute(PMPI_Win_f2c(*win), *keyval, value);
  if (error != nullptr) *error = code;  // it is optional in mpi_f08
}

// The names that compilers make of one routine, and those by which the modules call it.
#define SHMEMX_FORTRAN_NAME(name) \
  extern "C" __attribute__((visibility("default"), alias("pmpi_win_get_attr_"))) decltype(pmpi_win_get_attr_) name;
SHMEMX_FORTRAN_NAME(mpi_win_get_attr)
SHMEMX_FORTRAN_NAME(mpi_win_get_attr_)
SHMEMX_FORTRAN_NAME(mpi_win_get_attr__)
SHMEMX_FORTRAN_NAME(MPI_WIN_GET_ATTR)
SHMEMX_FORTRAN_NAME(pmpi_win_get_attr)
SHMEMX_FORTRAN_NAME(pmpi_win_get_attr__)
SHMEMX_FORTRAN_NAME(PMPI_WIN_GET_ATTR)
SHMEMX_FORTRAN_NAME(mpi_win_get_attr_f08_)
