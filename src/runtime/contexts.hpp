// Creates and destroys contexts. Local to the PE.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/common/team.hpp"
#include "context/context.hpp"

namespace shmemx::runtime {

// Returns the handle of a new context; 0 if the table is full.
std::uint64_t create_context(const coll::Team& team) noexcept;
void destroy_context(context::Context& context) noexcept;
// Returns the contexts of one team, but for the default one.
std::vector<context::Context*> contexts_of(std::uint32_t team_index) noexcept;
// Destroys the contexts of one team, when the team ends.
void drop_contexts_of(std::uint32_t team_index) noexcept;
// Destroys all contexts except the default one.
void drop_contexts() noexcept;
// Makes all contexts except the default one unusable without releasing them. Takes no lock: in a forked child another
// thread may have held it.
void make_contexts_unusable() noexcept;

}  // namespace shmemx::runtime
