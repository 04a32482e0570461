// Windows are created, asked for, and freed.
#include <cstring>
#include <mutex>

#include "interpose/api/entry.hpp"
#include "interpose/attributes.hpp"
#include "interpose/below.hpp"
#include "interpose/create.hpp"
#include "interpose/errors.hpp"

namespace interpose = shmemx::interpose;
using interpose::below;
using interpose::create;
using interpose::Created;
using interpose::find_window;
using interpose::finish;
using interpose::Target;
using interpose::Window;

namespace {

// Of a shared window that is left to the MPI: gives an empty part of a process its place, if the MPI has not.
void place_empty_part(MPI_Win win, int rank, void* base) {
  void* place = nullptr;
  std::memcpy(&place, base, sizeof place);
  if (place != nullptr) return;
  place = interpose::place_of_empty_part(win, rank);
  std::memcpy(base, &place, sizeof place);
}
int place_own_empty_part(MPI_Comm communicator, MPI_Win win, void* base) {
  int rank = 0;
  below().Comm_rank(communicator, &rank);
  place_empty_part(win, rank, base);
  return MPI_SUCCESS;
}

// Those with displacement units of int and of MPI_Aint have one definition.
template <class Routine, class Unit>
int create_over(void* base, MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm communicator, MPI_Win* win) {
  const Created made =
      create(Routine::kName, {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, win != nullptr}, info, communicator, win);
  return made.is_taken ? made.error_class : Routine::below(base, size, disp_unit, info, communicator, win);
}

template <class Routine, class Unit>
int allocate(MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm communicator, void* base, MPI_Win* win) {
  const bool has_places = base != nullptr && win != nullptr;
  const Created made =
      create(Routine::kName, {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit, has_places}, info, communicator, win);
  if (!made.is_taken) return Routine::below(size, disp_unit, info, communicator, base, win);
  if (made.error_class == MPI_SUCCESS) std::memcpy(base, &made.base, sizeof made.base);
  return made.error_class;
}

template <class Routine, class Unit>
int allocate_shared(MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm communicator, void* base, MPI_Win* win) {
  const bool has_places = base != nullptr && win != nullptr;
  const Created made =
      create(Routine::kName, {MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit, has_places}, info, communicator, win);
  if (!made.is_taken) {
    const int code = Routine::below(size, disp_unit, info, communicator, base, win);
    return code == MPI_SUCCESS && size == 0 ? place_own_empty_part(communicator, *win, base) : code;
  }
  if (made.error_class == MPI_SUCCESS) std::memcpy(base, &made.base, sizeof made.base);
  return made.error_class;
}

void set_unit(int* place, MPI_Aint disp_unit) { *place = interpose::small_disp_unit(disp_unit); }
[[maybe_unused]] void set_unit(MPI_Aint* place, MPI_Aint disp_unit) { *place = disp_unit; }

template <class Routine, class Unit>
int shared_query(MPI_Win win, int rank, MPI_Aint* size, Unit* disp_unit, void* base) {
  Window* const window = find_window(win);
  if (window == nullptr) {
    const int code = Routine::below(win, rank, size, disp_unit, base);
    if (code == MPI_SUCCESS && *size == 0 && rank >= 0) place_empty_part(win, rank, base);
    return code;
  }
  const Target* part = nullptr;
  int code = interpose::find_part(*window, rank, part);
  if (size == nullptr || disp_unit == nullptr || base == nullptr) code = interpose::no_place();
  if (code != MPI_SUCCESS) return finish(*window, Routine::kName, code);
  *size = part == nullptr ? 0 : static_cast<MPI_Aint>(part->offer.bytes);
  set_unit(disp_unit, part == nullptr ? 1 : part->offer.disp_unit);
  void* const address = part == nullptr ? nullptr : part->mapped;
  std::memcpy(base, &address, sizeof address);
  return MPI_SUCCESS;
}

}  // namespace

SHMEMX_BY_FUNCTION(Win_create, 6, create_over)
SHMEMX_BY_FUNCTION(Win_allocate, 6, allocate)
SHMEMX_BY_FUNCTION(Win_allocate_shared, 6, allocate_shared)
SHMEMX_BY_FUNCTION(Win_shared_query, 5, shared_query)

#if MPI_VERSION >= 4
SHMEMX_BY_FUNCTION(Win_create_c, 6, create_over)
SHMEMX_BY_FUNCTION(Win_allocate_c, 6, allocate)
SHMEMX_BY_FUNCTION(Win_allocate_shared_c, 6, allocate_shared)
SHMEMX_BY_FUNCTION(Win_shared_query_c, 5, shared_query)
#endif

SHMEMX_ENTRY int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm communicator, MPI_Win* win) {
  const Created made = create("MPI_Win_create_dynamic", {MPI_WIN_FLAVOR_DYNAMIC, nullptr, 0, 1, win != nullptr}, info,
                              communicator, win);
  return made.is_taken ? made.error_class : below().Win_create_dynamic(info, communicator, win);
}
SHMEMX_BOTH_NAMES(Win_create_dynamic, 3)

SHMEMX_ENTRY int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_attach(win, base, size);
  return finish(*window, "MPI_Win_attach", interpose::add_memory(*window, base, size));
}
SHMEMX_BOTH_NAMES(Win_attach, 3)

SHMEMX_ENTRY int PMPI_Win_detach(MPI_Win win, const void* base) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_detach(win, base);
  return finish(*window, "MPI_Win_detach", interpose::remove_memory(*window, base));
}
SHMEMX_BOTH_NAMES(Win_detach, 2)

SHMEMX_ENTRY int PMPI_Win_free(MPI_Win* win) {
  if (win == nullptr) return interpose::raise(MPI_COMM_WORLD, "MPI_Win_free", interpose::no_place());
  Window* const window = find_window(*win);
  if (window == nullptr) return below().Win_free(win);
  const int code = interpose::check_free(*window);
  return code == MPI_SUCCESS ? interpose::free_window(*window, win) : finish(*window, "MPI_Win_free", code);
}
SHMEMX_BOTH_NAMES(Win_free, 1)

SHMEMX_ENTRY int PMPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag) {
  Window* const window = find_window(win);
  void* own = nullptr;
  if (window == nullptr || !interpose::find_attribute(*window, keyval, own))
    return below().Win_get_attr(win, keyval, value, flag);
  if (value == nullptr || flag == nullptr) return finish(*window, "MPI_Win_get_attr", interpose::no_place());
  std::memcpy(value, &own, sizeof own);
  *flag = 1;
  return MPI_SUCCESS;
}
SHMEMX_BOTH_NAMES(Win_get_attr, 4)

SHMEMX_ENTRY int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_get_group(win, group);
  return below().Group_excl(window->group, 0, nullptr, group);  // a handle that the program frees
}
SHMEMX_BOTH_NAMES(Win_get_group, 2)

SHMEMX_ENTRY int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_set_info(win, info);
  if (info == MPI_INFO_NULL)
    return finish(*window, "MPI_Win_set_info", interpose::wrong(MPI_ERR_INFO, "the info is null"));
  const std::lock_guard guard(window->mutex);
  window->hints->change(info);
  return MPI_SUCCESS;
}
SHMEMX_BOTH_NAMES(Win_set_info, 2)

SHMEMX_ENTRY int PMPI_Win_get_info(MPI_Win win, MPI_Info* info) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Win_get_info(win, info);
  std::unique_lock guard(window->mutex);
  const int code = window->hints->copy_to(info);
  guard.unlock();
  return finish(*window, "MPI_Win_get_info", code);
}
SHMEMX_BOTH_NAMES(Win_get_info, 2)
