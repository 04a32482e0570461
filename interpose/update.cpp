// Accumulates.
#include <array>

#include "interpose/job.hpp"
#include "interpose/operation.hpp"
#include "interpose/piece_walk.hpp"
#include "interpose/range.hpp"

namespace shmemx::interpose {
namespace {

// One side of an accumulate; `layout` is null if there is no such side.
struct Side {
  const Layout* layout = nullptr;
  std::uint64_t address = 0;

  bool is_dense() const noexcept { return layout == nullptr || layout->dense_elements; }
  void* first(std::size_t skipped) const noexcept {
    return layout == nullptr ? nullptr : pointer(address + static_cast<std::uint64_t>(layout->bounds.low) + skipped);
  }
};

// A checked operation.
struct Update {
  Target* target = nullptr;
  Side there;
  Side origin;
  Side result;
  std::size_t elements = 0;
  std::size_t skipped = 0;  // elements in front of them, on all sides
  std::size_t element_bytes = 0;
  int type = 0;
  int op = 0;
  long* counter = nullptr;
};

int update_dense(const Update& update) {
  const shmemx_window_t data = update.target->data;
  const std::size_t skipped = update.skipped * update.element_bytes;
  void* const there = update.there.first(skipped);
  const void* const origin = update.origin.first(skipped);
  if (update.result.layout == nullptr)
    return class_of(
        shmemx_window_accumulate_nbi(data, there, origin, update.elements, update.type, update.op, update.counter));
  return class_of(shmemx_window_get_accumulate_nbi(data, there, origin, update.result.first(skipped), update.elements,
                                                   update.type, update.op, update.counter));
}

struct Lists {
  std::vector<shmemx_iov_t> there;
  std::vector<shmemx_iov_t> origin;
  std::vector<shmemx_iov_t> result;
};

int send(const Update& update, Lists& lists) {
  const shmemx_window_t data = update.target->data;
  const std::size_t n = lists.there.size();
  int code = SHMEMX_SUCCESS;
  if (update.result.layout == nullptr) {
    code = shmemx_window_accumulatev_nbi(data, lists.there.data(), n, lists.origin.data(), lists.origin.size(),
                                         update.type, update.op, update.counter);
  } else {
    code = shmemx_window_get_accumulatev_nbi(data, lists.there.data(), n, lists.origin.data(), lists.origin.size(),
                                             lists.result.data(), n, update.type, update.op, update.counter);
  }
  lists.there.clear();
  lists.origin.clear();
  lists.result.clear();
  return class_of(code);
}

PieceWalk walk_of(const Side& side, std::size_t skipped) {
  PieceWalk walk{side.layout->whole_elements(), side.layout->extent, side.address};
  while (skipped != 0) {
    const std::size_t bytes = std::min(walk.bytes(), skipped);
    walk.advance(bytes);
    skipped -= bytes;
  }
  return walk;
}

// Cuts all sides into pieces of equal length. None cuts an element, since no piece of a side does.
int update_pieces(const Update& update) {
  const std::size_t skipped = update.skipped * update.element_bytes;
  PieceWalk there = walk_of(update.there, skipped);
  const bool has_origin = update.origin.layout != nullptr;
  const bool has_result = update.result.layout != nullptr;
  PieceWalk origin = has_origin ? walk_of(update.origin, skipped) : there;
  PieceWalk result = has_result ? walk_of(update.result, skipped) : there;
  Lists lists;
  for (std::size_t left = update.elements * update.element_bytes; left != 0;) {
    const std::size_t bytes = std::min({there.bytes(), origin.bytes(), result.bytes(), left});
    lists.there.push_back({pointer(there.address()), bytes});
    if (has_origin) lists.origin.push_back({pointer(origin.address()), bytes});
    if (has_result) lists.result.push_back({pointer(result.address()), bytes});
    there.advance(bytes);
    origin.advance(bytes);
    result.advance(bytes);
    left -= bytes;
    if (left != 0 && lists.there.size() != kListPieces) continue;
    if (const int code = send(update, lists); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

// Checks one side of this process against the target, and sets `elements` to its number of them.
int check_side(const Layout* layout, const Local& local, const Layout& there, std::size_t& elements) {
  std::size_t bytes = 0;
  if (const int code = count_bytes(layout, local.count, bytes); code != MPI_SUCCESS) return code;
  elements = static_cast<std::size_t>(local.count) * layout->elements;
  if (elements == 0) return MPI_SUCCESS;
  if (there.elements != 0 && layout->element != there.element)
    return wrong(MPI_ERR_TYPE, "the elements of the two sides are not of one predefined datatype");
  const auto address = reinterpret_cast<std::uintptr_t>(local.address);
  return check_buffer(address + static_cast<std::uint64_t>(layout->bounds.low));
}

// Finds the types and the operator. Returns an error class.
int resolve(const Window& window, const Remote& remote, MPI_Op op, Update& update) {
  const Layout* const there = layout_of(remote.type);
  std::size_t bytes = 0;
  if (const int code = count_bytes(there, remote.count, bytes); code != MPI_SUCCESS) return code;
  if (remote.disp < 0) return wrong(MPI_ERR_DISP, "the displacement is negative");
  update.there.layout = there;
  update.elements = static_cast<std::size_t>(remote.count) * there->elements;
  if (update.elements == 0) return MPI_SUCCESS;
  if (there->element == nullptr)
    return wrong(MPI_ERR_TYPE, "the elements of the target are not of one predefined datatype");
  update.type = update_type(window, *there->element);
  update.element_bytes = there->element->bytes;
  update.op = find_operator(op, there->element->kind);
  if (update.type == 0) return wrong(MPI_ERR_TYPE, "elements of this datatype cannot be accumulated");
  return update.op == 0 ? wrong_operator() : MPI_SUCCESS;
}

// The sides of this process; null: there is none.
struct Locals {
  const Local* origin;
  const Local* result;
};

// Checks these sides, and sets the number of elements to those of the origin. What is added fits into the target, and
// the target's elements fit into the result. Returns an error class.
int set_sides(const Locals& locals, Update& update) {
  const Layout& there = *update.there.layout;
  const std::size_t at_target = update.elements;
  std::size_t elements = 0;
  if (locals.origin != nullptr) {
    update.origin = {layout_of(locals.origin->type), reinterpret_cast<std::uintptr_t>(locals.origin->address)};
    const int code = check_side(update.origin.layout, *locals.origin, there, elements);
    if (code != MPI_SUCCESS) return code;
    if (elements > at_target) return wrong(MPI_ERR_TYPE, kDoNotFit);
    update.elements = elements;
  }
  if (locals.result == nullptr) return MPI_SUCCESS;
  update.result = {layout_of(locals.result->type), reinterpret_cast<std::uintptr_t>(locals.result->address)};
  const int code = check_side(update.result.layout, *locals.result, there, elements);
  return code == MPI_SUCCESS && elements < at_target ? wrong(MPI_ERR_TYPE, kDoNotFit) : code;
}

int start_update(const Update& update) {
  if (update.elements == 0) return MPI_SUCCESS;
  const bool dense = update.there.is_dense() && update.origin.is_dense() && update.result.is_dense();
  return dense ? update_dense(update) : update_pieces(update);
}

// The elements of the target that no origin reaches are fetched only.
int start_rest(Update update, std::size_t at_target) {
  if (update.result.layout == nullptr || update.elements == at_target) return MPI_SUCCESS;
  update.skipped = update.elements;
  update.elements = at_target - update.skipped;
  update.op = SHMEMX_OP_NO_OP;
  update.origin = {};
  return start_update(update);
}

int update_target(Window& window, const Remote& remote, const Locals& locals, MPI_Op op, long* counter) {
  Update update;
  if (const int code = find_target(window, remote.rank, update.target); code != MPI_SUCCESS) return code;
  if (update.target == nullptr) return MPI_SUCCESS;
  if (const int code = resolve(window, remote, op, update); code != MPI_SUCCESS) return code;
  const std::size_t at_target = update.elements;
  if (const int code = set_sides({op == MPI_NO_OP ? nullptr : locals.origin, locals.result}, update);
      code != MPI_SUCCESS)
    return code;
  const std::size_t touched = update.result.layout == nullptr ? update.elements : at_target;
  if (touched == 0) return MPI_SUCCESS;
  if (is_alone(*update.target)) update.op |= SHMEMX_OP_EXCLUSIVE;
  update.counter = counter;
  update.there.address = address_at(*update.target, remote.disp);
  const std::size_t of_item = update.there.layout->elements;
  const std::int64_t items =
      touched == at_target ? remote.count : static_cast<std::int64_t>((touched + of_item - 1) / of_item);
  Range range{};
  if (!find_range(*update.there.layout, update.there.address, items, range) ||
      !is_inside(window, *update.target, range))
    return out_of_range();
  if (const int code = attach(window, *update.target); code != MPI_SUCCESS) return code;
  update.target->has_other.store(true, std::memory_order_relaxed);
  if (const int code = start_update(update); code != MPI_SUCCESS) return code;
  return start_rest(update, at_target);
}

}  // namespace

int accumulate_any(Window& window, Local origin, Remote remote, MPI_Op op, long* counter) {
  return update_target(window, remote, {&origin, nullptr}, op, counter);
}

int get_accumulate(Window& window, const Local& origin, const Local& result, const Remote& remote, MPI_Op op,
                   long* counter) {
  return update_target(window, remote, {&origin, &result}, op, counter);
}

}  // namespace shmemx::interpose
