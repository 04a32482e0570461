// Atomics on memory that is not mapped: a message to the PE whose memory it is. That PE carries them out with the same
// instructions as direct ones (direct.hpp), so both kinds are atomic with each other.
#pragma once

#include <cstdint>

#include "context/location.hpp"
#include "onesided/update_wire.hpp"

namespace shmemx::onesided {

// Without the value before. Complete after quiet.
void post(const char* routine, const context::Place& place, const Operation& operation) noexcept;

// The bits of the value before.
std::uint64_t fetch(const char* routine, const context::Place& place, const Operation& operation) noexcept;

// The value before goes to `fetch`, which has the type's size. Complete after the context's quiet.
void fetch_nbi(const char* routine, const context::Context& context, void* fetch, const context::Place& place,
               const Operation& operation) noexcept;

// By set_handlers().
void set_update_handlers() noexcept;

}  // namespace shmemx::onesided
