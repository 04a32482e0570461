// Sizes and lists of PEs on the command line. Errors are std::invalid_argument with a text for the user.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shmemx::perf {

// Parses "8", "1K", lists "8,64,1M", and ranges "1:4M" (doubling) or "1:4M:4" (by this factor).
std::vector<std::size_t> parse_sizes(const std::string& text);

// Parses "0", lists "0,3", ranges "0..3", and "all".
std::vector<int> parse_pes(const std::string& text, int n_pes);

}  // namespace shmemx::perf
