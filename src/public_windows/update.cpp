#include "public_windows/update.hpp"

#include <shmemx/windows.h>

#include <cstring>

#include "public_windows/completion.hpp"
#include "public_windows/error_detail.hpp"

namespace shmemx::public_windows {
namespace {

using rma::ElementRun;
using rma::ElementWalk;
using rma::Shape;

[[gnu::noinline, gnu::cold]] Code explain(const Attached* window, std::uint64_t address, std::uint64_t bytes) {
  if (window == nullptr) return SHMEMX_ERR_WINDOW;
  const Code code = in_window(*window, address, bytes) ? SHMEMX_ERR_STALE : SHMEMX_ERR_RANGE;
  return note_access(*window, address, bytes, code);
}

[[gnu::always_inline]] inline Code check(const Attached* window, const void* target, std::uint64_t bytes) {
  if (window != nullptr && in_window(*window, number_of(target), bytes) && is_alive(*window)) [[likely]]
    return SHMEMX_SUCCESS;
  return explain(window, number_of(target), bytes);
}

// An element of a mapped window as all PEs of the owner's node see it.
atomic::Elements elements_at(const Attached& window, std::uint64_t address) {
  return {window.mapped + (address - window.base), address, window.element_locks};
}

// Does every part consist of whole elements?
bool is_whole(const Shape& shape, std::size_t element_bytes) {
  if (shape.kind == Shape::Kind::contiguous) return shape.bytes % element_bytes == 0;
  if (shape.kind == Shape::Kind::strided) return shape.block_bytes % element_bytes == 0;
  for (std::size_t i = 0; i < shape.count; ++i) {
    if (shape.list[i].bytes % element_bytes != 0) return false;
  }
  return true;
}

Code check_local(const Shape* local, const Shape& target, std::size_t element_bytes) {
  if (local == nullptr) return SHMEMX_SUCCESS;
  if (local->bytes != target.bytes || !is_whole(*local, element_bytes)) return SHMEMX_ERR_LIST;
  return local->has_null() ? SHMEMX_ERR_ARGUMENT : SHMEMX_SUCCESS;
}

Code check_shapes(const Attached& window, const UpdateShapes& shapes, atomic::ElementType type) {
  const std::size_t element_bytes = atomic::element_bytes(type);
  if (!is_whole(shapes.target, element_bytes)) return SHMEMX_ERR_LIST;
  for (const Shape* const local : {shapes.source, shapes.result}) {
    if (const Code code = check_local(local, shapes.target, element_bytes); code != SHMEMX_SUCCESS) return code;
  }
  return check_target(window, shapes.target, element_bytes - atomic::span_bytes(type, 1));
}

void update_mapped(const Attached& window, const atomic::Update& update, ElementWalk walk) {
  for (rma::ElementSeries series{}; walk.next_series(series, SIZE_MAX);) {
    const ElementRun& run = series.first;
    atomic::apply_blocks(update, {elements_at(window, number_of(run.target)), run.source, run.result, run.count,
                                  series.count, series.target_step, series.source_step, series.result_step});
  }
  if (update.op != atomic::ElementOp::no_op) tell_owner(window);
}

Code update_remote(const char* routine, Attached& window, const atomic::Update& update, const ElementWalk& walk,
                   Mode mode) {
  if (!mode.blocking) {
    onesided::accumulate(nonblocking(routine, window, mode.counter), update, walk);
    return SHMEMX_SUCCESS;
  }
  onesided::Tracker open;
  onesided::accumulate(blocking(routine, window, open), update, walk);
  return await(routine, window, open);
}

[[gnu::noinline]] Code fetch_remote(const char* routine, Attached& window, std::uint64_t address,
                                    const atomic::Operation& operation, void* result, Mode mode) {
  const std::uint64_t offset = address - window.base;
  if (!mode.blocking) {
    onesided::fetch_one(nonblocking(routine, window, mode.counter), offset, operation, result);
    return SHMEMX_SUCCESS;
  }
  onesided::Tracker open;
  onesided::fetch_checked(routine, {window.owner, window.name, offset}, operation, result, open);
  return await(routine, window, open);
}

// The low bytes of a number as an element. Known sizes, so that no copy routine is called.
void store(void* to, std::uint64_t value, std::size_t bytes) {
  if (bytes == sizeof value) {
    std::memcpy(to, &value, sizeof value);
  } else if (bytes == sizeof(std::uint32_t)) {
    std::memcpy(to, &value, sizeof(std::uint32_t));
  } else if (bytes == sizeof(std::uint16_t)) {
    std::memcpy(to, &value, sizeof(std::uint16_t));
  } else {
    std::memcpy(to, &value, 1);
  }
}

}  // namespace

Code fetch_op(const char* routine, std::uint64_t handle, const void* target, const atomic::Operation& operation,
              void* result, Mode mode) noexcept {
  Attached* const window = find_attached(handle);
  const std::size_t bytes = atomic::element_bytes(operation.type);
  if (const Code code = check(window, target, bytes); code != SHMEMX_SUCCESS) return code;
  if (window->mapped == nullptr) return fetch_remote(routine, *window, number_of(target), operation, result, mode);
  store(result, atomic::apply_one(operation, elements_at(*window, number_of(target))), bytes);
  if (operation.op != atomic::ElementOp::no_op) tell_owner(*window);
  return SHMEMX_SUCCESS;
}

Code accumulate(const char* routine, std::uint64_t handle, const void* target, const atomic::Update& update,
                Operands operands, Mode mode) noexcept {
  Attached* const window = find_attached(handle);
  const std::size_t size = atomic::element_bytes(update.type);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(operands.count, size, &bytes)) return SHMEMX_ERR_RANGE;
  const std::uint64_t span = atomic::span_bytes(update.type, operands.count);
  if (const Code code = check(window, target, span); code != SHMEMX_SUCCESS) return code;
  if (operands.count == 0) return SHMEMX_SUCCESS;
  if (window->mapped != nullptr) {
    atomic::apply(update, elements_at(*window, number_of(target)), operands.source, operands.result, operands.count);
    if (update.op != atomic::ElementOp::no_op) tell_owner(*window);
    return SHMEMX_SUCCESS;
  }
  const Shape targets = Shape::contiguous(target, bytes);
  const Shape sources = Shape::contiguous(operands.source, bytes);
  const Shape results = Shape::contiguous(operands.result, bytes);
  return update_remote(routine, *window, update,
                       ElementWalk({&targets, operands.source == nullptr ? nullptr : &sources,
                                    operands.result == nullptr ? nullptr : &results, size}),
                       mode);
}

Code accumulate_shapes(const char* routine, std::uint64_t handle, const atomic::Update& update,
                       const UpdateShapes& shapes, Mode mode) noexcept {
  Attached* const window = find_attached(handle);
  if (window == nullptr) return SHMEMX_ERR_WINDOW;
  const std::size_t size = atomic::element_bytes(update.type);
  if (const Code code = check_shapes(*window, shapes, update.type); code != SHMEMX_SUCCESS) return code;
  if (shapes.target.bytes == 0) return SHMEMX_SUCCESS;
  const Shape targets = walked(*window, shapes.target);
  const ElementWalk walk({&targets, shapes.source, shapes.result, size});
  if (window->mapped == nullptr) return update_remote(routine, *window, update, walk, mode);
  update_mapped(*window, update, walk);
  return SHMEMX_SUCCESS;
}

}  // namespace shmemx::public_windows
