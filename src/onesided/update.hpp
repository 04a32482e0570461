// Atomics on memory that is not mapped: a message to the PE whose memory it is. That PE executes them by the same
// instructions as direct ones (atomic/direct.hpp), so both kinds are atomic with each other.
#pragma once

#include <cstdint>

#include "atomic/elements.hpp"
#include "context/location.hpp"
#include "onesided/wire.hpp"

namespace shmemx::onesided {

// Without the old value. Complete after quiet.
void post(const char* routine, const context::Place& place, const atomic::Operation& operation,
          am::SendOptions options = {}) noexcept;

// Returns the bits of the old value.
std::uint64_t fetch(const char* routine, const context::Place& place, const atomic::Operation& operation) noexcept;

// The old value goes to `fetch`, which has the type's size. Complete after the context's quiet.
void fetch_nbi(const char* routine, const context::Context& context, void* fetch, const context::Place& place,
               const atomic::Operation& operation) noexcept;

inline AtomicHeader header_of(const context::Place& place, const atomic::Operation& operation) noexcept {
  return {place.window, place.offset, operation.operand, operation.condition, 0, operation.type, operation.op, 0};
}

}  // namespace shmemx::onesided
