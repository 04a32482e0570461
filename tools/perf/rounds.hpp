// All tests, sizes and pairs of PEs that the command line asks for.
#pragma once

#include <string>
#include <vector>

#include "perf/buffers.hpp"
#include "perf/measure.hpp"
#include "perf/output.hpp"
#include "perf/settings.hpp"

namespace shmemx::perf {

struct Pair {
  int from;
  int to;
};
using Round = std::vector<Pair>;  // at the same time

// Returns the rounds of PEs, each pair in a round of its own unless together. Throws std::invalid_argument.
std::vector<Round> rounds_of(const Settings& settings, int n_pes);

// Throws std::invalid_argument if a test cannot run with these rounds or sizes. The same on all PEs.
void check_runs(const Settings& settings, const std::vector<Round>& rounds, int n_pes);

// Collective. Returns false if there is no memory; `why` then says what was needed.
bool run_all(const Settings& settings, const std::vector<Round>& rounds, Output& output, std::string& why);

}  // namespace shmemx::perf
