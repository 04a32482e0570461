// What the entry points of windows share: handles, lists, and how operations wait.
#pragma once

#include <shmemx/windows.h>

#include <cstdint>

#include "api/arg_check.hpp"
#include "public_windows/node.hpp"
#include "public_windows/transfer.hpp"
#include "rma/shape.hpp"

namespace shmemx::api::windows {

namespace context = shmemx::context;
namespace window_ops = shmemx::public_windows;
using rma::Place;
using rma::Shape;
using window_ops::Mode;

inline constexpr Mode kBlocking{true, nullptr};

inline std::uint64_t number_of(shmemx_window_t window) noexcept { return reinterpret_cast<std::uintptr_t>(window); }
inline shmemx_window_t handle_of(std::uint64_t number) noexcept {
  return reinterpret_cast<shmemx_window_t>(static_cast<std::uintptr_t>(number));
}

static_assert(sizeof(shmemx_iov_t) == sizeof(Place) && offsetof(shmemx_iov_t, bytes) == offsetof(Place, bytes));

inline Shape shape_of(const shmemx_iov_t* list, std::size_t count) noexcept {
  return Shape::of_list(reinterpret_cast<const Place*>(list), list == nullptr ? 0 : count);
}
inline Shape local_shape_of(const shmemx_iov_t* list, std::size_t count) noexcept {
  return Shape::of_local_list(reinterpret_cast<const Place*>(list), list == nullptr ? 0 : count);
}

}  // namespace shmemx::api::windows
