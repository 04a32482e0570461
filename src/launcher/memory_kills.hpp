// Tells which deaths were kills by the kernel because memory ran out.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace shmemx::launcher {

class MemoryKills {
 public:
  // Records the kill counters of the groups above this process. `proc` and `root` differ in tests only.
  explicit MemoryKills(std::string proc = "/proc", std::string root = "/sys/fs/cgroup");

  // Describes the limit that a killed process exceeded, as part of a sentence: "at the memory limit of ...". Returns
  // an empty text if no group above it counted a kill since the last call. `process` is its number, or "self"; it may
  // be a zombie.
  std::string describe(const std::string& process);

 private:
  std::string proc_;
  std::string root_;
  std::map<std::string, std::uint64_t> kills_;  // by group
};

}  // namespace shmemx::launcher
