#include "interpose/attributes.hpp"

#include <algorithm>
#include <climits>

#include "interpose/below.hpp"
#include "interpose/devices.hpp"
#include "interpose/errors.hpp"

namespace shmemx::interpose {
namespace {

bool remove_empty(Window& window, const void* base) {
  const std::lock_guard guard(window.mutex);
  std::vector<const void*>& pieces = window.own.empty_pieces;
  const auto piece = std::find(pieces.begin(), pieces.end(), base);
  if (piece == pieces.end()) return false;
  pieces.erase(piece);
  return true;
}

}  // namespace

bool find_attribute(Window& window, int keyval, void*& value) {
  static int model = MPI_WIN_UNIFIED;
  if (keyval == MPI_WIN_BASE)
    value = window.own.base;
  else if (keyval == MPI_WIN_SIZE)
    value = &window.own.bytes;
  else if (keyval == MPI_WIN_DISP_UNIT)
    value = &window.own.disp_unit_attribute;
  else if (keyval == MPI_WIN_CREATE_FLAVOR)
    value = &window.flavor;
  else if (keyval == MPI_WIN_MODEL)
    value = &model;
  else
    return false;
  return true;
}

int small_disp_unit(MPI_Aint disp_unit) noexcept {
  return disp_unit <= INT_MAX ? static_cast<int>(disp_unit) : MPI_UNDEFINED;
}

int find_part(Window& window, int rank, const Target*& part) {
  part = nullptr;
  if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) return wrong(MPI_ERR_RMA_FLAVOR, "the window is a dynamic one");
  if (rank != MPI_PROC_NULL && (rank < 0 || rank >= window.size))
    return wrong(MPI_ERR_RANK, "the rank is not in the window's group");
  const bool is_shared = window.flavor == MPI_WIN_FLAVOR_SHARED;
  for (int i = rank == MPI_PROC_NULL ? 0 : rank; i < window.size; ++i) {
    Target& target = window.targets[static_cast<std::size_t>(i)];
    if (rank == MPI_PROC_NULL && target.offer.bytes == 0) continue;
    if (const int code = attach(window, target); code != MPI_SUCCESS) return code;
    if (is_shared || target.mapped != nullptr) part = &target;
    if (part != nullptr || rank != MPI_PROC_NULL) break;
  }
  return MPI_SUCCESS;
}

void* place_of_empty_part(MPI_Win win, int rank) {
  MPI_Group group = MPI_GROUP_NULL;
  int size = 0;
  below().Win_get_group(win, &group);
  below().Group_size(group, &size);
  below().Group_free(&group);
  MPI_Aint bytes = 0;
  int unit = 0;
  std::byte* base = nullptr;
  for (int i = rank - 1; i >= 0; --i)
    if (below().Win_shared_query(win, i, &bytes, &unit, &base) == MPI_SUCCESS && bytes > 0) return base + bytes;
  for (int i = rank + 1; i < size; ++i)
    if (below().Win_shared_query(win, i, &bytes, &unit, &base) == MPI_SUCCESS && bytes > 0) return base;
  return nullptr;
}

int add_memory(Window& window, void* base, MPI_Aint bytes) {
  if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC) return wrong(MPI_ERR_RMA_FLAVOR, "the window is not a dynamic one");
  if (bytes < 0) return wrong(MPI_ERR_SIZE, "the size is negative");
  if (bytes == 0) {
    const std::lock_guard guard(window.mutex);
    window.own.empty_pieces.push_back(base);
    return MPI_SUCCESS;
  }
  if (is_device_memory(base)) return wrong(MPI_ERR_RMA_ATTACH, "the memory is a device's");
  const int code = shmemx_window_add_range(window.own.data, base, static_cast<std::size_t>(bytes));
  return code == SHMEMX_SUCCESS ? MPI_SUCCESS : wrong(MPI_ERR_RMA_ATTACH, shmemx_error_text(code));
}

int remove_memory(Window& window, const void* base) {
  if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC) return wrong(MPI_ERR_RMA_FLAVOR, "the window is not a dynamic one");
  const int code = shmemx_window_remove_range(window.own.data, const_cast<void*>(base));
  if (code == SHMEMX_SUCCESS || remove_empty(window, base)) return MPI_SUCCESS;
  return wrong(MPI_ERR_RMA_ATTACH, "no memory that begins here is attached");
}

}  // namespace shmemx::interpose
