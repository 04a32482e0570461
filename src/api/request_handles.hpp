// Handles of requests of two-sided messages: coded numbers.
#pragma once

#include <shmemx/messages.h>

#include <cstdint>

#include "pt2pt/messages.hpp"

namespace shmemx::api {

// A handle is the generation above index + 1, so it is never null.
inline shmemx_request_t handle_of(pt2pt::RequestId id) noexcept {
  return reinterpret_cast<shmemx_request_t>(std::uintptr_t{id.generation} << 32 | (id.index + 1));
}
inline pt2pt::RequestId id_of(shmemx_request_t request) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(request);
  return {static_cast<std::uint32_t>(value) - 1, static_cast<std::uint32_t>(value >> 32)};
}

}  // namespace shmemx::api
