// Updates of one element of a predefined datatype, and accumulates of such elements without gaps. All other accumulates
// are in update.cpp. Everything here is inline, so that what a call of MPI passes stays in registers.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "interpose/direct.hpp"
#include "interpose/operation.hpp"
#include "interpose/range.hpp"
#include "interpose/recent_targets.hpp"

namespace shmemx::interpose {

// Where the elements are. `layout` is null for MPI_PROC_NULL.
struct FoundItems {
  Target* target = nullptr;
  const Layout* layout = nullptr;
  std::uint64_t address = 0;
};

// Elements of one type without gaps, from the first byte of an item.
inline bool is_plain(const Layout* layout) noexcept {
  return layout != nullptr && layout->plain_bytes != 0 && layout->dense_elements && layout->element != nullptr;
}

// Finds items of found.layout at found.target, of that many bytes. Returns an error class.
[[gnu::always_inline]] inline int find_items(Window& window, MPI_Aint disp, std::uint64_t bytes, FoundItems& found) {
  if (disp < 0) return wrong(MPI_ERR_DISP, "the displacement is negative");
  found.address = address_at(*found.target, disp);
  if (!is_inside(window, *found.target, {found.address, bytes})) return out_of_range();
  if (found.layout->element->shmemx_type == 0)
    return wrong(MPI_ERR_TYPE, "elements of this datatype cannot be accumulated");
  found.target->has_other.store(true, std::memory_order_relaxed);
  return attach(window, *found.target);
}

// Finds one element. Returns an error class.
[[gnu::always_inline]] inline int find_one(Window& window, const One& one, FoundItems& found) {
  if (const int code = find_target(window, one.rank, found.target); code != MPI_SUCCESS) return code;
  if (found.target == nullptr) return MPI_SUCCESS;
  const Layout* const layout = layout_of(one.type);
  if (layout != nullptr && layout->refusal.error_class != MPI_SUCCESS) return layout->refusal.note();
  if (layout == nullptr || layout->element == nullptr || layout->elements != 1 || !layout->dense_elements)
    return wrong(MPI_ERR_TYPE, "the datatype is not predefined");
  found.layout = layout;
  return find_items(window, one.disp, static_cast<std::uint64_t>(layout->bounds.high), found);
}

// Returns where the integer is if an instruction updates it, and sets its size; null for anything else.
[[gnu::always_inline]] inline std::byte* word_of(const Window& window, const FoundItems& found, std::size_t& bytes) {
  if (found.target->mapped == nullptr) return nullptr;
  bytes = update_bytes_of(window, *found.layout);
  return bytes == 0 ? nullptr : found.target->mapped + (found.address - found.target->offer.base);
}

[[gnu::always_inline]] inline int keep_updated(const Window& window, int rank, MPI_Datatype type,
                                               const FoundItems& found) {
  keep_recent_target(window, rank, {1, type, found.layout});
  return MPI_SUCCESS;
}

// All return an error class, as those of operation.hpp do.
[[gnu::always_inline]] inline int fetch_and_op(Window& window, const One& one, MPI_Op op) {
  FoundItems found;
  if (const int code = find_one(window, one, found); code != MPI_SUCCESS || found.layout == nullptr) return code;
  const Element& element = *found.layout->element;
  const int shmemx_op = find_operator(op, element.kind);
  if (shmemx_op == 0) return wrong_operator();
  if (const int code = check_buffer(one.result); code != MPI_SUCCESS) return code;
  if (const int code = op == MPI_NO_OP ? MPI_SUCCESS : check_buffer(one.origin); code != MPI_SUCCESS) return code;
  std::size_t bytes = 0;
  std::byte* const word = word_of(window, found, bytes);
  if (word != nullptr && update_integer(word, bytes, shmemx_op, one.origin, one.result))
    return keep_updated(window, one.rank, one.type, found);
  const shmemx_window_t data = found.target->data;
  const int type = update_type(window, element);
  const void* const origin = op == MPI_NO_OP ? nullptr : one.origin;  // which may point anywhere
  void* const address = pointer(found.address);
  return class_of(found.target->mapped != nullptr
                      ? shmemx_window_fetch_op(data, address, origin, one.result, type, shmemx_op)
                      : shmemx_window_fetch_op_nbi(data, address, origin, one.result, type, shmemx_op, nullptr));
}

[[gnu::always_inline]] inline int accumulate(Window& window, const Local& origin, const Remote& remote, MPI_Op op,
                                             long* counter) {
  const Layout* const layout = layout_of(remote.type);
  if (origin.type != remote.type || origin.count != remote.count || op == MPI_NO_OP || !is_plain(layout))
    return accumulate_any(window, origin, remote, op, counter);
  FoundItems found{nullptr, layout, 0};
  std::size_t bytes = 0;
  if (const int code = find_target(window, remote.rank, found.target); code != MPI_SUCCESS) return code;
  if (found.target == nullptr) return MPI_SUCCESS;
  if (const int code = count_bytes(layout, remote.count, bytes); code != MPI_SUCCESS) return code;
  if (bytes == 0) return MPI_SUCCESS;
  if (const int code = find_items(window, remote.disp, bytes, found); code != MPI_SUCCESS) return code;
  int shmemx_op = find_operator(op, layout->element->kind);
  if (shmemx_op == 0) return wrong_operator();
  if (const int code = check_buffer(origin.address); code != MPI_SUCCESS) return code;
  std::byte* const word = remote.count == 1 ? word_of(window, found, bytes) : nullptr;
  if (word != nullptr && update_integer(word, bytes, shmemx_op, origin.address, nullptr))
    return keep_updated(window, remote.rank, remote.type, found);
  if (is_alone(*found.target)) shmemx_op |= SHMEMX_OP_EXCLUSIVE;
  const std::size_t elements = static_cast<std::size_t>(remote.count) * layout->elements;
  return class_of(shmemx_window_accumulate_nbi(found.target->data, pointer(found.address), origin.address, elements,
                                               update_type(window, *layout->element), shmemx_op, counter));
}

[[gnu::always_inline]] inline int compare_and_swap(Window& window, const One& one, const void* compare) {
  FoundItems found;
  if (const int code = find_one(window, one, found); code != MPI_SUCCESS || found.layout == nullptr) return code;
  const Element& element = *found.layout->element;
  const Kind kind = element.kind;
  if (kind != Kind::integer && kind != Kind::logical && kind != Kind::byte)
    return wrong(MPI_ERR_TYPE, "compare and swap is for integers, logicals and bytes");
  for (const void* const data : {one.origin, static_cast<const void*>(one.result), compare})
    if (const int code = check_buffer(data); code != MPI_SUCCESS) return code;
  std::size_t bytes = 0;
  std::byte* const word = word_of(window, found, bytes);
  if (word != nullptr && swap_integer(word, bytes, compare, one.origin, one.result))
    return keep_updated(window, one.rank, one.type, found);
  const shmemx_window_t data = found.target->data;
  const int type = update_type(window, element);
  void* const address = pointer(found.address);
  return class_of(found.target->mapped != nullptr
                      ? shmemx_window_compare_swap(data, address, compare, one.origin, one.result, type)
                      : shmemx_window_compare_swap_nbi(data, address, compare, one.origin, one.result, type, nullptr));
}

}  // namespace shmemx::interpose
