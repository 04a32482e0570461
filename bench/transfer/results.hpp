// The coordinator's results. Times in microseconds, sizes in bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mechanism.hpp"

namespace shmemx::bench {

using Samples = std::vector<double>;
using Figure = std::optional<double>;

Figure median(const Samples& samples);
// Returns the tenth percentile, for values that other programs can only increase.
Figure low(const Samples& samples);

// The medians of the rounds, by the distance of the two caches.
struct Timing {
  std::map<std::string, Samples> by_state;
  std::size_t samples = 0;
};

struct SetUp {
  Samples init_us, register_us, deregister_us, finalize_us;
};

// Re-reads of a working set.
struct Cache {
  Samples warm_ns, evicted_ns, after_ns;
  Figure disturbance() const;  // 0: cache untouched; 1: cache completely evicted
};

struct Measured {
  const MechanismInfo* info = nullptr;
  std::string why;  // the reason if it was not measured completely
  bool started = false;
  std::size_t chunk_bytes = 0;
  std::uint64_t checks = 0;
  std::uint64_t failures = 0;
  std::map<std::size_t, Timing> times;  // by bytes of the transfer
  std::map<std::size_t, Timing> sweep;  // by bytes of a buffer or cell
  SetUp set_up;
  Samples source_cpu_us, dest_cpu_us;  // of one transfer of `processor_bytes`
  Cache source_cache, dest_cache;
  std::map<std::size_t, Samples> help;  // by bytes; 1: the transfer waited for the target
  Samples overlap;                      // the target's speed while its memory is moved
};

struct CopyRoutine {
  std::string name;
  std::map<std::size_t, Samples> mib_per_s;
};

struct Results {
  std::string mode;
  std::string cpu;
  int cores = 0;
  std::string state;  // the state with the most samples
  std::size_t last_cache_bytes = 0, private_cache_bytes = 0, arena_bytes = 0, working_set_bytes = 0;
  std::size_t sweep_bytes = 0, processor_bytes = 0, disturb_bytes = 0, set_up_bytes = 0;
  int rounds = 0;
  double wall_s = 0;
  std::string copy;
  std::vector<Measured> mechanisms;
  std::vector<CopyRoutine> copies;
};

// Returns the figure in the common state, or in another one if there are no such samples.
struct Chosen {
  Figure us;
  std::string state;
};
Chosen choose(const Timing& timing, const std::string& state);
Chosen time_of(const Results& results, const Measured& measured, std::size_t bytes);
Figure mib_per_s(std::size_t bytes, const Figure& us);
std::string common_state(const std::vector<Measured>& mechanisms);

bool one_sided(const Measured& measured);
// Returns whether any transfer needed the target; nothing if that was not measured.
std::optional<bool> needs_help(const Measured& measured);

}  // namespace shmemx::bench
