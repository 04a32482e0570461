// How many CPUs, and how much memory, this process may really use: affinity mask and control groups, not what the
// machine has. Read when asked; nothing is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shmemx {

// CPU numbers of the calling thread's affinity mask, ascending; never empty.
std::vector<int> affinity_cpus();

// CPUs' worth of time that the strictest control group above this process grants; 0 when there is no limit.
double cgroup_cpu_quota();

// Bytes that the strictest control group above this process grants; 0 when there is no limit.
std::uint64_t cgroup_memory_limit();

// Folders of the control groups above a process that may count memory, in each hierarchy its own first. `process` is
// its folder in /proc.
std::vector<std::string> memory_groups(const std::string& process = "/proc/self",
                                       const std::string& root = "/sys/fs/cgroup");

// Bytes that this one group grants; 0 when there is no limit.
std::uint64_t memory_limit_of(const std::string& group);

// Processes of this group that the kernel has killed because memory ran out.
std::uint64_t memory_kills_of(const std::string& group);

// Bytes that the control groups above this process still allow beside what they use; the largest number when there is
// no limit.
std::uint64_t cgroup_memory_available();

// Whole CPUs to count on: the affinity mask, cut down to the quota rounded up. At least 1.
int usable_cpus();

// "0-3,8" and back; what the kernel writes in /sys. An unreadable list gives what could be read of it.
std::vector<int> parse_cpu_list(const std::string& text);
std::string format_cpu_list(const std::vector<int>& cpus);

// The first line of a small file such as those in /proc and /sys; empty when it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace shmemx
