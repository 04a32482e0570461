// Tells which deaths were kills of the kernel because memory ran out.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace shmemx::launcher {

class MemoryKills {
 public:
  // Notes how many kills the groups above this process have seen. `proc` and `root` are other folders in tests only.
  explicit MemoryKills(std::string proc = "/proc", std::string root = "/sys/fs/cgroup");

  // Describes the limit that a killed process ran into, as part of a sentence: "at the memory limit of ...". Empty if
  // none of the groups above it has seen a kill since the last call. `process` is its number, or "self"; it may be a
  // zombie.
  std::string describe(const std::string& process);

 private:
  std::string proc_;
  std::string root_;
  std::map<std::string, std::uint64_t> kills_;  // by group
};

}  // namespace shmemx::launcher
