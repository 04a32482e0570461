// Atomic operations and accumulates on public windows: arguments are checked here, the rest is done in window/.
#include <shmemx/window_updates.h>

#include <cstring>

#include "api/observed_window.hpp"
#include "api/window_handles.hpp"
#include "public_windows/update.hpp"

namespace atomic = shmemx::atomic;
namespace stats = shmemx::stats;

namespace {

using namespace shmemx::api::windows;
using atomic::ElementOp;
using atomic::Update;
using window_ops::Operands;

// An element's value in the low bytes of a number. Known sizes, so that no copy routine is called.
std::uint64_t load(const void* from, std::size_t bytes) {
  std::uint64_t whole = 0;
  if (from == nullptr) return whole;
  if (bytes == sizeof whole) {
    std::memcpy(&whole, from, sizeof whole);
  } else if (bytes == sizeof(std::uint32_t)) {
    std::memcpy(&whole, from, sizeof(std::uint32_t));
  } else if (bytes == sizeof(std::uint16_t)) {
    std::memcpy(&whole, from, sizeof(std::uint16_t));
  } else {
    std::memcpy(&whole, from, 1);
  }
  return whole;
}

int one_element(const char* routine, shmemx_window_t window, void* target, const atomic::Operation& operation,
                void* result, Mode mode) {
  context::require_initialized(routine);
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  return observe({routine, stats::Family::atomic, window, atomic::element_bytes(operation.type)},
                 [&] { return window_ops::fetch_op(routine, number_of(window), target, operation, result, mode); });
}

int run(const char* routine, shmemx_window_t window, void* target, const Update& update, const Operands& operands,
        Mode mode) {
  context::require_initialized(routine);
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  return observe({routine, stats::Family::atomic, window, operands.count * atomic::element_bytes(update.type)},
                 [&] { return window_ops::accumulate(routine, number_of(window), target, update, operands, mode); });
}

Operands operands_of(const void* source, void* result, std::size_t count) {
  return {static_cast<const std::byte*>(source), static_cast<std::byte*>(result), count};
}

struct ElementCall {
  void* target;
  const void* operand;
  void* result;
  int type;
  int op;
};

int fetch(const char* routine, shmemx_window_t window, const ElementCall& call, Mode mode) {
  Update update{};
  if (call.result == nullptr || !window_ops::make_update(call.type, call.op, false, update) ||
      (call.operand == nullptr && update.op != ElementOp::no_op))
    return SHMEMX_ERR_ARGUMENT;
  const void* const operand = update.op == ElementOp::no_op ? nullptr : call.operand;
  if (!atomic::fits_word(update.type)) {
    return run(routine, window, call.target, update, operands_of(operand, call.result, 1), mode);
  }
  const std::size_t bytes = atomic::element_bytes(update.type);
  return one_element(routine, window, call.target, {update.op, update.type, load(operand, bytes), 0}, call.result,
                     mode);
}

int compare_swap(const char* routine, shmemx_window_t window, const ElementCall& call, const void* compare, Mode mode) {
  Update update{};
  if (call.result == nullptr || compare == nullptr || call.operand == nullptr ||
      !window_ops::make_update(call.type, SHMEMX_OP_REPLACE, false, update) || !atomic::is_integer(update.type))
    return SHMEMX_ERR_ARGUMENT;
  const std::size_t bytes = atomic::element_bytes(update.type);
  return one_element(routine, window, call.target,
                     {ElementOp::compare_swap, update.type, load(call.operand, bytes), load(compare, bytes)},
                     call.result, mode);
}

struct ArrayCall {
  void* target;
  int type;
  int op;
  Operands operands;
};

int accumulate(const char* routine, shmemx_window_t window, const ArrayCall& call, bool fetch, Mode mode) {
  Update update{};
  if (!window_ops::make_update(call.type, call.op, true, update)) return SHMEMX_ERR_ARGUMENT;
  Operands operands = call.operands;
  if (update.op == ElementOp::no_op) operands.source = nullptr;
  if (operands.count != 0 &&
      ((operands.source == nullptr && update.op != ElementOp::no_op) || (operands.result == nullptr && fetch)))
    return SHMEMX_ERR_ARGUMENT;
  return run(routine, window, call.target, update, operands, mode);
}

// A side of an operation on lists.
struct List {
  const shmemx_iov_t* pieces;
  std::size_t count;

  bool is_missing() const { return pieces == nullptr && count != 0; }
  Shape shape() const { return shape_of(pieces, count); }
};
struct ListCall {
  int type;
  int op;
  List target;
  List source;
};

// `results` null: nothing is fetched.
int accumulate_lists(const char* routine, shmemx_window_t window, const ListCall& call, const List* results,
                     Mode mode) {
  context::require_initialized(routine);
  Update update{};
  if (!window_ops::make_update(call.type, call.op, true, update) || call.target.is_missing())
    return SHMEMX_ERR_ARGUMENT;
  const bool has_source = update.op != ElementOp::no_op;
  if ((has_source && call.source.is_missing()) || (results != nullptr && results->is_missing()))
    return SHMEMX_ERR_ARGUMENT;
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  const Shape source = call.source.shape();
  const Shape result = results == nullptr ? Shape{} : results->shape();
  const Shape target = call.target.shape();
  return observe({routine, stats::Family::atomic, window, target.bytes}, [&] {
    return window_ops::accumulate_shapes(
        routine, number_of(window), update,
        {target, has_source ? &source : nullptr, results == nullptr ? nullptr : &result}, mode);
  });
}

struct StridedCall {
  void* target;
  std::ptrdiff_t target_stride;
  const void* source;
  std::ptrdiff_t source_stride;
  std::size_t block_elements;
  std::size_t blocks;
};

int accumulate_strided(const char* routine, shmemx_window_t window, const StridedCall& call, int type, int op,
                       Mode mode) {
  context::require_initialized(routine);
  Update update{};
  if (!window_ops::make_update(type, op, true, update)) return SHMEMX_ERR_ARGUMENT;
  std::size_t block_bytes = 0;
  if (__builtin_mul_overflow(call.block_elements, atomic::element_bytes(update.type), &block_bytes))
    return SHMEMX_ERR_LIST;
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  const Shape source = Shape::strided(call.source, block_bytes, call.source_stride, call.blocks);
  const Shape target = Shape::strided(call.target, block_bytes, call.target_stride, call.blocks);
  const Shape* const used = update.op == ElementOp::no_op ? nullptr : &source;
  return observe({routine, stats::Family::atomic, window, target.bytes}, [&] {
    return window_ops::accumulate_shapes(routine, number_of(window), update, {target, used, nullptr}, mode);
  });
}

}  // namespace

extern "C" {

size_t shmemx_element_bytes(int type) noexcept {
  if (type <= 0 || type >= static_cast<int>(atomic::ElementType::end)) return 0;
  return atomic::element_bytes(static_cast<atomic::ElementType>(type));
}

// ---- one element ----

int shmemx_window_fetch_op(shmemx_window_t window, void* target, const void* operand, void* result, int type,
                           int op) noexcept {
  return fetch("shmemx_window_fetch_op", window, {target, operand, result, type, op}, kBlocking);
}

int shmemx_window_fetch_op_nbi(shmemx_window_t window, void* target, const void* operand, void* result, int type,
                               int op, long* counter) noexcept {
  return fetch("shmemx_window_fetch_op_nbi", window, {target, operand, result, type, op}, {false, counter});
}

int shmemx_window_compare_swap(shmemx_window_t window, void* target, const void* compare, const void* value,
                               void* result, int type) noexcept {
  return compare_swap("shmemx_window_compare_swap", window, {target, value, result, type, 0}, compare, kBlocking);
}

int shmemx_window_compare_swap_nbi(shmemx_window_t window, void* target, const void* compare, const void* value,
                                   void* result, int type, long* counter) noexcept {
  return compare_swap("shmemx_window_compare_swap_nbi", window, {target, value, result, type, 0}, compare,
                      {false, counter});
}

// ---- runs ----

int shmemx_window_accumulate(shmemx_window_t window, void* target, const void* source, size_t count, int type,
                             int op) noexcept {
  return accumulate("shmemx_window_accumulate", window, {target, type, op, operands_of(source, nullptr, count)}, false,
                    kBlocking);
}

int shmemx_window_get_accumulate(shmemx_window_t window, void* target, const void* source, void* result, size_t count,
                                 int type, int op) noexcept {
  return accumulate("shmemx_window_get_accumulate", window, {target, type, op, operands_of(source, result, count)},
                    true, kBlocking);
}

int shmemx_window_accumulate_nbi(shmemx_window_t window, void* target, const void* source, size_t count, int type,
                                 int op, long* counter) noexcept {
  return accumulate("shmemx_window_accumulate_nbi", window, {target, type, op, operands_of(source, nullptr, count)},
                    false, {false, counter});
}

int shmemx_window_get_accumulate_nbi(shmemx_window_t window, void* target, const void* source, void* result,
                                     size_t count, int type, int op, long* counter) noexcept {
  return accumulate("shmemx_window_get_accumulate_nbi", window, {target, type, op, operands_of(source, result, count)},
                    true, {false, counter});
}

// ---- lists and strides ----

int shmemx_window_accumulatev(shmemx_window_t window, const shmemx_iov_t* targets, size_t target_count,
                              const shmemx_iov_t* sources, size_t source_count, int type, int op) noexcept {
  return accumulate_lists("shmemx_window_accumulatev", window,
                          {type, op, {targets, target_count}, {sources, source_count}}, nullptr, kBlocking);
}

int shmemx_window_accumulatev_nbi(shmemx_window_t window, const shmemx_iov_t* targets, size_t target_count,
                                  const shmemx_iov_t* sources, size_t source_count, int type, int op,
                                  long* counter) noexcept {
  return accumulate_lists("shmemx_window_accumulatev_nbi", window,
                          {type, op, {targets, target_count}, {sources, source_count}}, nullptr, {false, counter});
}

int shmemx_window_get_accumulatev(shmemx_window_t window, const shmemx_iov_t* targets, size_t target_count,
                                  const shmemx_iov_t* sources, size_t source_count, const shmemx_iov_t* results,
                                  size_t result_count, int type, int op) noexcept {
  const List result{results, result_count};
  return accumulate_lists("shmemx_window_get_accumulatev", window,
                          {type, op, {targets, target_count}, {sources, source_count}}, &result, kBlocking);
}

int shmemx_window_get_accumulatev_nbi(shmemx_window_t window, const shmemx_iov_t* targets, size_t target_count,
                                      const shmemx_iov_t* sources, size_t source_count, const shmemx_iov_t* results,
                                      size_t result_count, int type, int op, long* counter) noexcept {
  const List result{results, result_count};
  return accumulate_lists("shmemx_window_get_accumulatev_nbi", window,
                          {type, op, {targets, target_count}, {sources, source_count}}, &result, {false, counter});
}

int shmemx_window_accumulate_strided(shmemx_window_t window, void* target, ptrdiff_t target_stride, const void* source,
                                     ptrdiff_t source_stride, size_t block_elements, size_t blocks, int type,
                                     int op) noexcept {
  return accumulate_strided("shmemx_window_accumulate_strided", window,
                            {target, target_stride, source, source_stride, block_elements, blocks}, type, op,
                            kBlocking);
}

int shmemx_window_accumulate_strided_nbi(shmemx_window_t window, void* target, ptrdiff_t target_stride,
                                         const void* source, ptrdiff_t source_stride, size_t block_elements,
                                         size_t blocks, int type, int op, long* counter) noexcept {
  return accumulate_strided("shmemx_window_accumulate_strided_nbi", window,
                            {target, target_stride, source, source_stride, block_elements, blocks}, type, op,
                            {false, counter});
}

}  // extern "C"
