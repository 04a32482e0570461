// Atomic operations and accumulates on attached windows.
#pragma once

#include "onesided/lists.hpp"
#include "window/attached.hpp"
#include "window/transfer.hpp"

namespace shmemx::window {

using onesided::Operands;

// The public numbers; false when there is no such pair. The operator may carry SHMEMX_OP_EXCLUSIVE where `arrays`.
bool make_update(int type, int op, bool arrays, atomic::Update& update) noexcept;

Code fetch_op(const char* routine, std::uint64_t handle, const void* target, const atomic::Operation& operation,
              std::uint64_t& old) noexcept;
Code accumulate(const char* routine, std::uint64_t handle, const void* target, const atomic::Update& update,
                Operands operands, Mode mode) noexcept;

}  // namespace shmemx::window
