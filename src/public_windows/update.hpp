// Atomic operations and accumulates on attached windows.
#pragma once

#include <shmemx/window_updates.h>

#include "onesided/lists.hpp"
#include "public_windows/attached.hpp"
#include "public_windows/transfer.hpp"

namespace shmemx::public_windows {

// The public numbers. Returns false if there is no such pair. With `arrays` the operator may carry SHMEMX_OP_EXCLUSIVE.
inline bool make_update(int type, int op, bool arrays, atomic::Update& update) noexcept {
  update.exclusive = arrays && (op & SHMEMX_OP_EXCLUSIVE) != 0;
  const int plain = update.exclusive ? op & ~SHMEMX_OP_EXCLUSIVE : op;
  if (type <= 0 || type >= static_cast<int>(atomic::ElementType::end) || plain <= 0 ||
      plain >= static_cast<int>(atomic::ElementOp::end))
    return false;
  update.type = static_cast<atomic::ElementType>(type);
  update.op = static_cast<atomic::ElementOp>(plain);
  return atomic::has_operator(update.type, update.op);
}

// One element of a type that fits a word. Its old value goes to `result`, which has the type's size; it is there when
// the operation is complete.
Code fetch_op(const char* routine, std::uint64_t handle, const void* target, const atomic::Operation& operation,
              void* result, Mode mode) noexcept;

// Elements that are contiguous on every side. `source` may be null with no_op; `result` null: nothing is fetched.
struct Operands {
  const std::byte* source;
  std::byte* result;
  std::uint64_t count;
};
Code accumulate(const char* routine, std::uint64_t handle, const void* target, const atomic::Update& update,
                Operands operands, Mode mode) noexcept;

// Elements of any shape. Sides that the operation has not are null.
struct UpdateShapes {
  const rma::Shape& target;
  const rma::Shape* source;
  const rma::Shape* result;
};
Code accumulate_shapes(const char* routine, std::uint64_t handle, const atomic::Update& update,
                       const UpdateShapes& shapes, Mode mode) noexcept;

}  // namespace shmemx::public_windows
