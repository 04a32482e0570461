// "Did you mean": the known name that is closest to a misspelled one.
#pragma once

#include <cstddef>
#include <string_view>

namespace shmemx::config {

// Insertions, deletions and replacements that turn one text into the other. Texts longer than 63 characters are
// compared by their first 63.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The variable of the table that `name` most likely stands for, empty when none is close. `name` may have another
// prefix than the variable ("SHMEM_SPIN_NS" finds "SHMEMX_SPIN_NS").
std::string_view nearest_variable(std::string_view name);

}  // namespace shmemx::config
