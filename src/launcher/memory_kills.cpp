#include "memory_kills.hpp"

#include <utility>
#include <vector>

#include "base/affinity.hpp"

namespace shmemx::launcher {

MemoryKills::MemoryKills(std::string proc, std::string root) : proc_(std::move(proc)), root_(std::move(root)) {
  for (const std::string& group : memory_groups(proc_ + "/self", root_)) kills_[group] = memory_kills_of(group);
}

// In version 2 a zombie stays in its group. In version 1 it is in the root, so this process's groups are examined
// too. Counters of version 2 include the groups below. A group that was not known before counts from 0, since the
// process entered it later.
std::string MemoryKills::describe(const std::string& process) {
  bool killed = false;
  std::uint64_t limit = 0;
  std::string limited;
  std::vector<std::string> groups = memory_groups(proc_ + "/" + process, root_);
  for (std::string& own : memory_groups(proc_ + "/self", root_)) groups.push_back(std::move(own));
  for (const std::string& group : groups) {
    const std::uint64_t now = memory_kills_of(group);
    killed = killed || now > kills_[group];
    kills_[group] = now;
    const std::uint64_t bytes = memory_limit_of(group);
    if (bytes == 0 || (limit != 0 && bytes >= limit)) continue;
    limit = bytes;
    limited = group;
  }
  if (!killed) return {};
  if (limit == 0) return "as the machine has run out of memory";
  return "at the memory limit of " + std::to_string(limit) + " bytes of the control group " + limited +
         "; raise it, or use fewer PEs or less memory";
}

}  // namespace shmemx::launcher
