// CPUs and memory that this process may really use: limits of the affinity mask and of control groups, not the size
// of the machine. Every function reads the current state; nothing is cached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shmemx {

// Returns the CPU numbers of the calling thread's affinity mask in ascending order; never empty.
std::vector<int> affinity_cpus();

// Returns the CPU time per second that the strictest control group above this process grants, in CPUs; 0 if there is
// no limit.
double cgroup_cpu_quota();

// Returns the bytes that the strictest control group above this process grants; 0 if there is no limit.
std::uint64_t cgroup_memory_limit();

// Returns the folders of the control groups above a process that may count memory; in each hierarchy the process's
// own group comes first. `process` is its folder in /proc.
std::vector<std::string> memory_groups(const std::string& process = "/proc/self",
                                       const std::string& root = "/sys/fs/cgroup");

// Returns the bytes that this one group grants; 0 if there is no limit.
std::uint64_t memory_limit_of(const std::string& group);

// Returns how many processes of this group the kernel has killed because memory ran out.
std::uint64_t memory_kills_of(const std::string& group);

// Returns the bytes that the control groups above this process still allow beyond their current use; the largest
// number if there is no limit.
std::uint64_t cgroup_memory_available();

// Returns the number of whole CPUs to count on: the affinity mask, limited by the quota rounded up. At least 1.
int usable_cpus();

// Convert between CPU numbers and the kernel's notation in /sys, "0-3,8". Parsing stops at the first unreadable
// character.
std::vector<int> parse_cpu_list(const std::string& text);
std::string format_cpu_list(const std::vector<int>& cpus);

// Returns the first line of a small file such as those in /proc and /sys; empty if it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace shmemx
