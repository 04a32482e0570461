// The sequence of orders: mechanisms take turns within each round, so that changes of the machine affect all of them.
#pragma once

#include <string>
#include <vector>

#include "pair.hpp"
#include "results.hpp"

namespace shmemx::bench {

struct Settings {
  std::string mode = "quick";
  std::vector<std::string> only;
  int rounds = 3;
  double budget_ms = 12;  // of one size in one round
  double limit_s = 50;    // no round begins later
  double far_ns = 90;
  std::size_t largest_bytes = std::size_t{16} << 20;
  int size_step = 4;
  std::size_t arena_bytes = 0;  // 0: more than eight times the last-level cache
};

Results measure_all(const Settings& settings);

}  // namespace shmemx::bench
