// Public windows: arguments are checked here, the rest is done in window/.
#include <shmemx/start.h>
#include <shmemx/windows.h>

#include <cstring>

#include "am/endpoint.hpp"
#include "api/arg_check.hpp"
#include "base/fatal.hpp"
#include "progress/test_loop.hpp"
#include "runtime/public_windows.hpp"
#include "window/attached.hpp"
#include "window/completion.hpp"
#include "window/node.hpp"
#include "window/owned.hpp"
#include "window/transfer.hpp"
#include "window/update.hpp"

namespace atomic = shmemx::atomic;
namespace window_ops = shmemx::window;
namespace api = shmemx::api;
namespace context = shmemx::context;
namespace runtime = shmemx::runtime;

namespace {

using atomic::ElementOp;
using atomic::Update;
using shmemx::rma::Place;
using shmemx::rma::Shape;
using window_ops::Direction;
using window_ops::Mode;
using window_ops::Operands;

constexpr Mode kBlocking{true, nullptr};

std::uint64_t number_of(shmemx_window_t window) { return reinterpret_cast<std::uintptr_t>(window); }
shmemx_window_t handle_of(std::uint64_t number) {
  return reinterpret_cast<shmemx_window_t>(static_cast<std::uintptr_t>(number));
}

int transfer(const char* routine, shmemx_window_t window, Direction direction, const Shape& target, const Shape& local,
             Mode mode) {
  context::require_initialized(routine);
  return window_ops::is_started() ? window_ops::transfer(routine, number_of(window), direction, target, local, mode)
                                  : SHMEMX_ERR_WINDOW;
}

int transfer_range(const char* routine, shmemx_window_t window, Direction direction, const void* target,
                   window_ops::LocalRange local, Mode mode) {
  context::require_initialized(routine);
  return window_ops::is_started()
             ? window_ops::transfer_range(routine, number_of(window), direction, target, local, mode)
             : SHMEMX_ERR_WINDOW;
}

static_assert(sizeof(shmemx_iov_t) == sizeof(Place) && offsetof(shmemx_iov_t, bytes) == offsetof(Place, bytes));

Shape shape_of(const shmemx_iov_t* list, std::size_t count) {
  return Shape::of_list(reinterpret_cast<const Place*>(list), list == nullptr ? 0 : count);
}

struct Lists {
  const shmemx_iov_t* targets;
  std::size_t target_count;
  const shmemx_iov_t* locals;
  std::size_t local_count;
};

int transfer_lists(const char* routine, shmemx_window_t window, Direction direction, const Lists& lists, Mode mode) {
  if ((lists.targets == nullptr && lists.target_count != 0) || (lists.locals == nullptr && lists.local_count != 0))
    return SHMEMX_ERR_ARGUMENT;
  return transfer(routine, window, direction, shape_of(lists.targets, lists.target_count),
                  shape_of(lists.locals, lists.local_count), mode);
}

// An element's value in the low bytes of a number. Two known sizes, so that no copy routine is called.
std::uint64_t load(const void* from, std::size_t bytes) {
  if (from == nullptr) return 0;
  std::uint32_t half = 0;
  std::uint64_t whole = 0;
  if (bytes == sizeof half) {
    std::memcpy(&half, from, sizeof half);
    return half;
  }
  std::memcpy(&whole, from, sizeof whole);
  return whole;
}
void store(void* to, std::uint64_t value, std::size_t bytes) {
  if (bytes == sizeof(std::uint32_t)) {
    std::memcpy(to, &value, sizeof(std::uint32_t));
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

int one_element(const char* routine, shmemx_window_t window, void* target, const atomic::Operation& operation,
                void* result) {
  context::require_initialized(routine);
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  std::uint64_t old = 0;
  const int code = window_ops::fetch_op(routine, number_of(window), target, operation, old);
  if (code == SHMEMX_SUCCESS) store(result, old, atomic::element_bytes(operation.type));
  return code;
}

struct ArrayCall {
  void* target;
  int type;
  int op;
  Operands operands;
};

int accumulate(const char* routine, shmemx_window_t window, const ArrayCall& call, bool fetch, Mode mode) {
  context::require_initialized(routine);
  Update update{};
  if (!window_ops::make_update(call.type, call.op, true, update)) return SHMEMX_ERR_ARGUMENT;
  Operands operands = call.operands;
  if (update.op == ElementOp::no_op) operands.source = nullptr;
  if (operands.count != 0 &&
      ((operands.source == nullptr && update.op != ElementOp::no_op) || (operands.result == nullptr && fetch)))
    return SHMEMX_ERR_ARGUMENT;
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  return window_ops::accumulate(routine, number_of(window), call.target, update, operands, mode);
}

Operands operands_of(const void* source, void* result, std::size_t count) {
  return {static_cast<const std::byte*>(source), static_cast<std::byte*>(result), count};
}

}  // namespace

extern "C" {

const char* shmemx_error_text(int error) noexcept {
  switch (error) {
    case SHMEMX_SUCCESS:
      return "success";
    case SHMEMX_ERR_TRUNCATE:
      return "the message was longer than the receive";
    case SHMEMX_ERR_ARGUMENT:
      return "wrong argument";
    case SHMEMX_ERR_WINDOW:
      return "not a live window of the kind that is wanted";
    case SHMEMX_ERR_DESCRIPTION:
      return "not a description of a window of this job";
    case SHMEMX_ERR_STALE:
      return "the owner has freed the window";
    case SHMEMX_ERR_RANGE:
      return "outside the window";
    case SHMEMX_ERR_LIST:
      return "the sides of the list differ in length";
    case SHMEMX_ERR_ALIGNMENT:
      return "the target is not aligned to the element's size";
    case SHMEMX_ERR_MEMORY:
      return "no memory or address space";
    case SHMEMX_ERR_LIMIT:
      return "too many windows";
    case SHMEMX_ERR_FAULT:
      return "the system refused an address";
    case SHMEMX_ERR_VERSION:
      return "attributes of another version of the library";
    case SHMEMX_ERR_STARTED:
      return "the library has been started already";
    case SHMEMX_ERR_START:
      return "the library could not start";
    default:
      return "unknown error";
  }
}

// ---- the owner's side ----

int shmemx_window_allocate(size_t bytes, void** address, shmemx_window_t* window) noexcept {
  const bool ready = runtime::start_windows("shmemx_window_allocate");
  if (address == nullptr || window == nullptr) return SHMEMX_ERR_ARGUMENT;
  *address = nullptr;
  *window = SHMEMX_WINDOW_INVALID;
  if (!ready) return SHMEMX_ERR_MEMORY;
  std::uint64_t handle = 0;
  const int code = window_ops::allocate_window(bytes, address, handle);
  *window = handle_of(handle);
  return code;
}

int shmemx_window_expose(void* address, size_t bytes, shmemx_window_t* window) noexcept {
  const bool ready = runtime::start_windows("shmemx_window_expose");
  if (window == nullptr) return SHMEMX_ERR_ARGUMENT;
  *window = SHMEMX_WINDOW_INVALID;
  if (!ready) return SHMEMX_ERR_MEMORY;
  std::uint64_t handle = 0;
  const int code = window_ops::expose_window(address, bytes, handle);
  *window = handle_of(handle);
  return code;
}

int shmemx_window_describe(shmemx_window_t window, shmemx_window_description_t* description) noexcept {
  static_assert(sizeof(shmemx_window_description_t) == sizeof(shmemx::windows::Description));
  context::require_initialized("shmemx_window_describe");
  if (description == nullptr) return SHMEMX_ERR_ARGUMENT;
  shmemx::windows::Description made{};
  const int code = window_ops::is_started() ? window_ops::describe_window(number_of(window), made) : SHMEMX_ERR_WINDOW;
  if (code == SHMEMX_SUCCESS) std::memcpy(description, &made, sizeof made);
  return code;
}

int shmemx_window_free(shmemx_window_t window) noexcept {
  context::require_initialized("shmemx_window_free");
  return window_ops::is_started() ? window_ops::free_window("shmemx_window_free", number_of(window))
                                  : SHMEMX_ERR_WINDOW;
}

// ---- the user's side ----

int shmemx_window_attach(const shmemx_window_description_t* description, shmemx_window_t* window) noexcept {
  const bool ready = runtime::start_windows("shmemx_window_attach");
  if (description == nullptr || window == nullptr) return SHMEMX_ERR_ARGUMENT;
  *window = SHMEMX_WINDOW_INVALID;
  if (!ready) return SHMEMX_ERR_MEMORY;
  shmemx::windows::Description read{};
  std::memcpy(&read, description, sizeof read);
  std::uint64_t handle = 0;
  const int code = window_ops::attach_window("shmemx_window_attach", read, handle);
  *window = handle_of(handle);
  return code;
}

int shmemx_window_detach(shmemx_window_t window) noexcept {
  context::require_initialized("shmemx_window_detach");
  return window_ops::is_started() ? window_ops::detach_window("shmemx_window_detach", number_of(window))
                                  : SHMEMX_ERR_WINDOW;
}

void* shmemx_window_base(shmemx_window_t window) noexcept {
  if (!window_ops::is_started()) return nullptr;
  if (const window_ops::Owned* const own = window_ops::find_owned(number_of(window))) return own->base;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  return attached == nullptr ? nullptr : reinterpret_cast<void*>(static_cast<std::uintptr_t>(attached->base));
}

size_t shmemx_window_bytes(shmemx_window_t window) noexcept {
  if (!window_ops::is_started()) return 0;
  if (const window_ops::Owned* const own = window_ops::find_owned(number_of(window))) return own->bytes;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  return attached == nullptr ? 0 : attached->bytes;
}

int shmemx_window_owner(shmemx_window_t window) noexcept {
  if (!window_ops::is_started()) return -1;
  if (window_ops::find_owned(number_of(window)) != nullptr) return window_ops::node().me;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  return attached == nullptr ? -1 : attached->owner;
}

int shmemx_window_path(shmemx_window_t window) noexcept {
  if (!window_ops::is_started()) return 0;
  if (window_ops::find_owned(number_of(window)) != nullptr) return SHMEMX_WINDOW_MAPPED;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  return attached == nullptr ? 0 : static_cast<int>(window_ops::path_of(*attached));
}

void* shmemx_window_ptr(shmemx_window_t window, const void* target, size_t bytes) noexcept {
  if (!window_ops::is_started()) return nullptr;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  const std::uint64_t address = window_ops::number_of(target);
  if (attached == nullptr || attached->mapped == nullptr || !window_ops::in_window(*attached, address, bytes) ||
      !window_ops::is_alive(*attached))
    return nullptr;
  return attached->mapped + (address - attached->base);
}

// ---- put and get ----

int shmemx_window_put(shmemx_window_t window, void* target, const void* source, size_t bytes) noexcept {
  return transfer_range("shmemx_window_put", window, Direction::put, target, {source, bytes}, kBlocking);
}

int shmemx_window_get(shmemx_window_t window, void* dest, const void* target, size_t bytes) noexcept {
  return transfer_range("shmemx_window_get", window, Direction::get, target, {dest, bytes}, kBlocking);
}

int shmemx_window_put_nbi(shmemx_window_t window, void* target, const void* source, size_t bytes,
                          long* counter) noexcept {
  return transfer_range("shmemx_window_put_nbi", window, Direction::put, target, {source, bytes}, {false, counter});
}

int shmemx_window_get_nbi(shmemx_window_t window, void* dest, const void* target, size_t bytes,
                          long* counter) noexcept {
  return transfer_range("shmemx_window_get_nbi", window, Direction::get, target, {dest, bytes}, {false, counter});
}

int shmemx_window_putv(shmemx_window_t window, const shmemx_iov_t* targets, size_t target_count,
                       const shmemx_iov_t* sources, size_t source_count) noexcept {
  return transfer_lists("shmemx_window_putv", window, Direction::put, {targets, target_count, sources, source_count},
                        kBlocking);
}

int shmemx_window_getv(shmemx_window_t window, const shmemx_iov_t* dests, size_t dest_count,
                       const shmemx_iov_t* targets, size_t target_count) noexcept {
  return transfer_lists("shmemx_window_getv", window, Direction::get, {targets, target_count, dests, dest_count},
                        kBlocking);
}

int shmemx_window_putv_nbi(shmemx_window_t window, const shmemx_iov_t* targets, size_t target_count,
                           const shmemx_iov_t* sources, size_t source_count, long* counter) noexcept {
  return transfer_lists("shmemx_window_putv_nbi", window, Direction::put,
                        {targets, target_count, sources, source_count}, {false, counter});
}

int shmemx_window_getv_nbi(shmemx_window_t window, const shmemx_iov_t* dests, size_t dest_count,
                           const shmemx_iov_t* targets, size_t target_count, long* counter) noexcept {
  return transfer_lists("shmemx_window_getv_nbi", window, Direction::get, {targets, target_count, dests, dest_count},
                        {false, counter});
}

int shmemx_window_put_strided(shmemx_window_t window, void* target, ptrdiff_t target_stride, const void* source,
                              ptrdiff_t source_stride, size_t block_bytes, size_t blocks) noexcept {
  return transfer("shmemx_window_put_strided", window, Direction::put,
                  Shape::strided(target, block_bytes, target_stride, blocks),
                  Shape::strided(source, block_bytes, source_stride, blocks), kBlocking);
}

int shmemx_window_get_strided(shmemx_window_t window, void* dest, ptrdiff_t dest_stride, const void* target,
                              ptrdiff_t target_stride, size_t block_bytes, size_t blocks) noexcept {
  return transfer("shmemx_window_get_strided", window, Direction::get,
                  Shape::strided(target, block_bytes, target_stride, blocks),
                  Shape::strided(dest, block_bytes, dest_stride, blocks), kBlocking);
}

// ---- atomic operations and accumulates ----

int shmemx_window_fetch_op(shmemx_window_t window, void* target, const void* operand, void* result, int type,
                           int op) noexcept {
  Update update{};
  if (result == nullptr || !window_ops::make_update(type, op, false, update) ||
      (operand == nullptr && update.op != ElementOp::no_op))
    return SHMEMX_ERR_ARGUMENT;
  const std::size_t bytes = atomic::element_bytes(update.type);
  return one_element("shmemx_window_fetch_op", window, target, {update.op, update.type, load(operand, bytes), 0},
                     result);
}

int shmemx_window_compare_swap(shmemx_window_t window, void* target, const void* compare, const void* value,
                               void* result, int type) noexcept {
  Update update{};
  if (result == nullptr || compare == nullptr || value == nullptr ||
      !window_ops::make_update(type, SHMEMX_OP_REPLACE, false, update) || !atomic::is_integer(update.type))
    return SHMEMX_ERR_ARGUMENT;
  const std::size_t bytes = atomic::element_bytes(update.type);
  return one_element("shmemx_window_compare_swap", window, target,
                     {ElementOp::compare_swap, update.type, load(value, bytes), load(compare, bytes)}, result);
}

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

// ---- completion ----

int shmemx_window_flush(shmemx_window_t window) noexcept {
  context::require_initialized("shmemx_window_flush");
  window_ops::Attached* const attached =
      window_ops::is_started() ? window_ops::find_attached(number_of(window)) : nullptr;
  return attached == nullptr ? SHMEMX_ERR_WINDOW : window_ops::flush("shmemx_window_flush", *attached);
}

int shmemx_window_flush_pe(int pe) noexcept {
  context::require_initialized("shmemx_window_flush_pe");
  const int n_pes = static_cast<int>(context::default_context().n_pes);
  if (pe < -1 || pe >= n_pes)
    shmemx::fatal("shmemx_window_flush_pe", "argument 'pe' is %d, allowed are 0..%d, and -1 for all", pe, n_pes - 1);
  if (!window_ops::is_started()) return SHMEMX_SUCCESS;
  int first_error = SHMEMX_SUCCESS;
  for (int owner = pe < 0 ? 0 : pe; owner < (pe < 0 ? n_pes : pe + 1); ++owner) {
    const int code = window_ops::flush_pe("shmemx_window_flush_pe", owner);
    if (first_error == SHMEMX_SUCCESS) first_error = code;
  }
  return first_error;
}

int shmemx_window_test(const long* counter) noexcept {
  context::require_initialized("shmemx_window_test");
  api::check_result("shmemx_window_test", "counter", counter);
  if (window_ops::is_complete(counter)) return 1;
  shmemx::am::poll();
  if (window_ops::is_complete(counter)) return 1;
  shmemx::progress::test_failed();
  return 0;
}

void shmemx_window_wait(const long* counter) noexcept {
  context::require_initialized("shmemx_window_wait");
  api::check_result("shmemx_window_wait", "counter", counter);
  if (!window_ops::is_complete(counter)) window_ops::wait_for_counter("shmemx_window_wait", counter);
}

}  // extern "C"
