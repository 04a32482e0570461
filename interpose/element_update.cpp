// Fetch_and_op and compare_and_swap: one element of a predefined datatype.
#include "interpose/operation.hpp"
#include "interpose/range.hpp"

namespace shmemx::interpose {
namespace {

// Where the element is. `element` is null for MPI_PROC_NULL.
struct Found {
  Target* target = nullptr;
  const Element* element = nullptr;
  void* address = nullptr;
};

int find(Window& window, const One& one, Found& found) {
  if (const int code = find_target(window, one.rank, found.target); code != MPI_SUCCESS) return code;
  if (found.target == nullptr) return MPI_SUCCESS;
  const Layout* const layout = layout_of(one.type);
  if (layout != nullptr && layout->error_class != MPI_SUCCESS) return wrong(layout->error_class, layout->error);
  if (layout == nullptr || layout->element == nullptr || layout->elements != 1 || !layout->dense_elements)
    return wrong(MPI_ERR_TYPE, "the datatype is not predefined");
  if (one.disp < 0) return wrong(MPI_ERR_DISP, "the displacement is negative");
  const std::uint64_t address = address_at(*found.target, one.disp);
  if (!is_inside(window, *found.target, {address, static_cast<std::uint64_t>(layout->high)})) return out_of_range();
  if (layout->element->shmemx_type == 0) return wrong(MPI_ERR_TYPE, "elements of this datatype cannot be accumulated");
  found.element = layout->element;
  found.target->has_other.store(true, std::memory_order_relaxed);
  found.address = reinterpret_cast<void*>(address);
  if (const int code = attach(window, *found.target); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

}  // namespace

int fetch_and_op(Window& window, const One& one, MPI_Op op) {
  Found found;
  if (const int code = find(window, one, found); code != MPI_SUCCESS || found.element == nullptr) return code;
  const int shmemx_op = find_operator(op, found.element->kind);
  if (shmemx_op == 0) return wrong(MPI_ERR_OP, "the operator is not predefined, or not for this datatype");
  if (const int code = check_buffer(one.result); code != MPI_SUCCESS) return code;
  if (const int code = op == MPI_NO_OP ? MPI_SUCCESS : check_buffer(one.origin); code != MPI_SUCCESS) return code;
  const shmemx_window_t data = found.target->data;
  const int type = update_type(window, *found.element);
  const void* const origin = op == MPI_NO_OP ? nullptr : one.origin;  // which may point anywhere
  return class_of(found.target->mapped != nullptr
                      ? shmemx_window_fetch_op(data, found.address, origin, one.result, type, shmemx_op)
                      : shmemx_window_fetch_op_nbi(data, found.address, origin, one.result, type, shmemx_op, nullptr));
}

int compare_and_swap(Window& window, const One& one, const void* compare) {
  Found found;
  if (const int code = find(window, one, found); code != MPI_SUCCESS || found.element == nullptr) return code;
  const Kind kind = found.element->kind;
  if (kind != Kind::integer && kind != Kind::logical && kind != Kind::byte)
    return wrong(MPI_ERR_TYPE, "compare and swap is for integers, logicals and bytes");
  for (const void* const data : {one.origin, static_cast<const void*>(one.result), compare})
    if (const int code = check_buffer(data); code != MPI_SUCCESS) return code;
  const shmemx_window_t data = found.target->data;
  const int type = update_type(window, *found.element);
  return class_of(
      found.target->mapped != nullptr
          ? shmemx_window_compare_swap(data, found.address, compare, one.origin, one.result, type)
          : shmemx_window_compare_swap_nbi(data, found.address, compare, one.origin, one.result, type, nullptr));
}

}  // namespace shmemx::interpose
