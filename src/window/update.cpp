#include "window/update.hpp"

#include <shmemx/windows.h>

#include "window/completion.hpp"

namespace shmemx::window {
namespace {

Code check(const Attached* window, const void* target, atomic::ElementType type, std::uint64_t count) {
  if (window == nullptr) return SHMEMX_ERR_WINDOW;
  const std::uint64_t address = number_of(target);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, std::uint64_t{atomic::element_bytes(type)}, &bytes)) return SHMEMX_ERR_RANGE;
  if (!in_window(*window, address, bytes)) return SHMEMX_ERR_RANGE;
  if (address % atomic::element_bytes(type) != 0) return SHMEMX_ERR_ALIGNMENT;
  return is_alive(*window) ? SHMEMX_SUCCESS : SHMEMX_ERR_STALE;
}

}  // namespace

bool make_update(int type, int op, bool arrays, atomic::Update& update) noexcept {
  update.exclusive = arrays && (op & SHMEMX_OP_EXCLUSIVE) != 0;
  const int plain = update.exclusive ? op & ~SHMEMX_OP_EXCLUSIVE : op;
  if (type <= 0 || type >= static_cast<int>(atomic::ElementType::end) || plain <= 0 ||
      plain >= static_cast<int>(atomic::ElementOp::end))
    return false;
  update.type = static_cast<atomic::ElementType>(type);
  update.op = static_cast<atomic::ElementOp>(plain);
  return atomic::go_together(update.type, update.op);
}

Code fetch_op(const char* routine, std::uint64_t handle, const void* target, const atomic::Operation& operation,
              std::uint64_t& old) noexcept {
  Attached* const window = find_attached(handle);
  if (const Code code = check(window, target, operation.type, 1); code != SHMEMX_SUCCESS) return code;
  const std::uint64_t offset = number_of(target) - window->base;
  if (window->mapped == nullptr)
    return note_result(*window,
                       onesided::fetch_checked(routine, {window->owner, window->name, offset}, operation, old));
  old = atomic::apply_one(operation, window->mapped + offset);
  if (operation.op != atomic::ElementOp::no_op) tell_owner(*window);
  return SHMEMX_SUCCESS;
}

Code accumulate(const char* routine, std::uint64_t handle, const void* target, const atomic::Update& update,
                Operands operands, Mode mode) noexcept {
  Attached* const window = find_attached(handle);
  if (const Code code = check(window, target, update.type, operands.count); code != SHMEMX_SUCCESS) return code;
  if (operands.count == 0) return SHMEMX_SUCCESS;
  const std::uint64_t offset = number_of(target) - window->base;
  if (window->mapped != nullptr) {
    atomic::apply(update, window->mapped + offset, operands.source, operands.result, operands.count);
    if (update.op != atomic::ElementOp::no_op) tell_owner(*window);
    return SHMEMX_SUCCESS;
  }
  if (!mode.blocking) {
    onesided::accumulate(nonblocking(routine, *window, mode.counter), offset, update, operands);
    return SHMEMX_SUCCESS;
  }
  onesided::Tracker open;
  onesided::accumulate(blocking(routine, *window, open), offset, update, operands);
  return await(routine, *window, open);
}

}  // namespace shmemx::window
