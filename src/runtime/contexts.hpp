// Creating and destroying contexts. Local to the PE.
#pragma once

#include <cstdint>

#include "coll/team.hpp"
#include "context/context.hpp"

namespace shmemx::runtime {

// The new handle; 0 when the table is full.
std::uint64_t create_context(const coll::Team& team, std::uint32_t options) noexcept;
void destroy_context(context::Context& context) noexcept;
// Those of one team, when it ends.
void drop_contexts_of(std::uint32_t team_index) noexcept;
// All but the default one.
void drop_contexts() noexcept;
// The same without giving them back and without a lock: in a forked child another thread may have held it.
void make_contexts_unusable() noexcept;

}  // namespace shmemx::runtime
