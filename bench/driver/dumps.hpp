// What callgrind has dumped of counted loops (../support/counted_loops.hpp).
#pragma once

#include <map>
#include <sstream>
#include <string>

namespace shmemx::bench {

// A loop that a dump belongs to.
struct CountedLoop {
  std::string name;
  long iterations = 0;

  // Looks whether a line of the dump tells it.
  void take(const std::string& line) {
    static const std::string kTrigger = "desc: Trigger: Client Request: ";
    if (line.starts_with(kTrigger)) std::istringstream(line.substr(kTrigger.size())) >> name >> iterations;
  }
};

// Instructions by name and length of a loop.
using LoopTotals = std::map<std::string, std::map<long, double>>;

// Returns the instructions of one iteration by name: (long - short) / iterations.
inline std::map<std::string, double> per_iteration(const LoopTotals& totals) {
  std::map<std::string, double> result;
  for (const auto& [name, by_length] : totals) {
    if (by_length.size() < 2) continue;
    const auto [short_length, short_total] = *by_length.begin();
    const auto [long_length, long_total] = *by_length.rbegin();
    result[name] = (long_total - short_total) / static_cast<double>(long_length - short_length);
  }
  return result;
}

}  // namespace shmemx::bench
