// Where PEs run, as they tell each other, and which of them shall try to share an arena.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace shmemx::bootstrap {

// What a PE says of itself. As text it has at most 120 characters, none of which needs quoting in a key-value store.
struct HostDescription {
  std::uint64_t machine = 0;  // digest of the kernel's boot id
  std::uint64_t uid = 0;
  std::uint64_t net = 0;  // inodes of namespaces
  std::uint64_t pid = 0;
  std::uint64_t others = 0;  // digest of the inodes of ipc, mnt and uts
  std::string host;
};
HostDescription describe_own_host();
std::string encode(const HostDescription& host);
Result<HostDescription> decode_host(const std::string& text);

enum class Likeness {
  machine,    // same kernel and user: worth trying
  namespaces  // the same namespaces too: cannot fail for lack of a common name
};

// For each PE the lowest PE of its group.
using Leaders = std::vector<int>;
inline constexpr int kNoGroup = -1;
// Groups the PEs of `members`; the others get kNoGroup.
Leaders group_by(Likeness likeness, const std::vector<HostDescription>& hosts, const std::vector<int>& members);
// Runs of equal numbers: "0-8.8-8", 'x' for PEs without a group.
std::string encode(const Leaders& leaders);
Result<Leaders> decode_leaders(const std::string& text, int n_pes);

// PE numbers in ascending order: "3.4.12".
std::string encode_pes(const std::vector<int>& pes);
Result<std::vector<int>> decode_pes(const std::string& text, int n_pes);

// Why two PEs of one machine are on two nodes: one clause.
std::string describe_parting(int first_pe, const HostDescription& first, int second_pe, const HostDescription& second);

}  // namespace shmemx::bootstrap
