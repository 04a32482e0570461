// Finds the known name that is closest to a misspelled one.
#pragma once

#include <cstddef>
#include <string_view>

namespace shmemx::config {

// Returns the number of insertions, deletions and replacements that turn one text into the other. Compares at most
// the first 63 characters.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the variable of the table that `name` most likely stands for; empty if none is close. Prefixes may differ:
// "SHMEM_SPIN_NS" finds "SHMEMX_SPIN_NS".
std::string_view nearest_variable(std::string_view name);

}  // namespace shmemx::config
