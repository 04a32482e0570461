// Variables of other OpenSHMEM libraries, and what does their work here. docs/migration.md has the same in longer form.
#pragma once

#include <string_view>

namespace shmemx::config {

enum class Match { whole, begin, end };

struct OtherVariable {
  std::string_view name;
  Match match;
  const char* instead;
};

inline constexpr char kNetworkInstead[] = "SHMEMX_TRANSPORT=ofi,tcp and FI_PROVIDER do that here";
inline constexpr char kHugePagesInstead[] = "SHMEMX_HUGE_PAGES does that here";
inline constexpr char kProgressInstead[] = "SHMEMX_PROGRESS says here whether a thread makes progress";
inline constexpr char kCollectivesInstead[] = "collectives choose here by size, PEs and cores";
inline constexpr char kGatheringInstead[] = "small operations gather here by themselves";

inline constexpr OtherVariable kOtherVariables[] = {
    {"SHMEM_OFI_", Match::begin, kNetworkInstead},
    {"SHMEM_SYMMETRIC_HEAP_USE_HUGE_PAGES", Match::whole, kHugePagesInstead},
    {"SHMEM_SYMMETRIC_HEAP_PAGE_SIZE", Match::whole, kHugePagesInstead},
    {"SHMEM_SYMMETRIC_HEAP_USE_MALLOC", Match::whole, "the heap is memory here that PEs of a node share"},
    {"SHMEM_SYMMETRIC_HEAP_ALLOCATOR", Match::whole, "there is one way here to allocate"},
    {"SHMEM_CMA_", Match::begin, "puts and gets within a node are loads and stores here"},
    {"SHMEM_BOUNCE_SIZE", Match::whole, kGatheringInstead},
    {"SHMEM_MAX_BOUNCE_BUFFERS", Match::whole, kGatheringInstead},
    {"_ALGORITHM", Match::end, kCollectivesInstead},
    {"_ALGO", Match::end, kCollectivesInstead},
    {"SHMEM_COLL_", Match::begin, kCollectivesInstead},
    {"SHMEM_TEAMS_MAX", Match::whole, "the number of teams has no limit here"},
    {"SHMEM_TEAM_SHARED_ONLY_SELF", Match::whole, "SHMEMX_PES_PER_NODE=1 makes each PE a node here"},
    {"SHMEM_PROGRESS_", Match::begin, kProgressInstead},
    {"SHMEM_LOGGING", Match::begin, "SHMEM_DEBUG does that here"},
    {"SHMEM_MEMINFO_DISPLAY", Match::whole, "the program shmem_info does that here"},
};

// Returns what to use in place of a variable of another library, or null if it is of none that is known.
constexpr const char* instead_of(std::string_view name) noexcept {
  for (const OtherVariable& other : kOtherVariables) {
    if (other.match == Match::whole   ? name == other.name
        : other.match == Match::begin ? name.starts_with(other.name)
                                      : name.starts_with("SHMEM_") && name.ends_with(other.name))
      return other.instead;
  }
  return nullptr;
}

}  // namespace shmemx::config
