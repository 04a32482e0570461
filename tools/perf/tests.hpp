// The list of tests.
#pragma once

#include <span>
#include <string_view>

#include "perf/work.hpp"

namespace shmemx::perf {

std::span<const Test> all_tests();
// Returns null if there is no test of this name.
const Test* find_test(std::string_view name);

}  // namespace shmemx::perf
