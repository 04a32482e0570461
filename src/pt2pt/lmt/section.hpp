// Descriptions of memory for a peer that moves the bytes alone. A long description travels in sections of a few places.
// A cookie asks for the next section.
#pragma once

#include "pt2pt/platform.hpp"
#include "pt2pt/request.hpp"

namespace shmemx::pt2pt {

// Returns the space that all of a shape lies in, as `pe` sees it; private memory if its places lie in several.
Space space_of(Platform& platform, int pe, const Shape& shape) noexcept;

// Describes the next part of this side's memory, by which the cursor advances.
void describe(Platform& platform, LmtChoice choice, Request& request, Section& out) noexcept;

// Goes on with the peer's next section. Returns false if it is empty.
[[nodiscard]] bool use_section(Request& mover, const Section& section) noexcept;

}  // namespace shmemx::pt2pt
