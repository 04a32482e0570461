// Where PEs run, and which of them try to share an arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace shmemx::bootstrap {

// Where a PE runs. As text it has at most 120 characters, none of which needs quoting in a key-value store.
struct HostDescription {
  std::uint64_t machine = 0;  // digest of the kernel's boot id
  std::uint64_t uid = 0;
  std::uint64_t net = 0;  // inodes of namespaces
  std::uint64_t pid = 0;
  std::uint64_t others = 0;  // digest of the inodes of ipc, mnt and uts
  std::string host;
};
HostDescription describe_own_host();
// Returns the number of this process's namespace of a kind, such as "pid"; 0 if it is not known.
std::uint64_t namespace_inode(const char* name);
std::string encode(const HostDescription& host);
Result<HostDescription> decode_host(const std::string& text);

enum class Likeness {
  machine,    // same kernel and user: sharing may work
  namespaces  // the same namespaces, too: sharing cannot fail for lack of a common name
};

// By PE: the lowest PE of its group.
using Leaders = std::vector<int>;
inline constexpr int kNoGroup = -1;

// Where all PEs run: each description once, and which PE has which.
class Hosts {
 public:
  Hosts() = default;
  Hosts(std::vector<HostDescription> different, Leaders index)
      : different_(std::move(different)), index_(std::move(index)) {}

  std::size_t n_pes() const { return index_.size(); }
  std::size_t n_different() const { return different_.size(); }
  std::size_t number_of(int pe) const { return static_cast<std::size_t>(index_[static_cast<std::size_t>(pe)]); }
  const HostDescription& of(int pe) const { return different_[number_of(pe)]; }

 private:
  std::vector<HostDescription> different_;
  Leaders index_;
};

// Groups the PEs of `members`; the others get kNoGroup.
Leaders group_by(Likeness likeness, const Hosts& hosts, const std::vector<int>& members);
// Text of runs of equal numbers: "0-8.8-4" for 8 times 0 and 4 times 8, 'x' for PEs without a group. "0-8_100_8" stands
// for 100 such runs whose numbers increase by 8.
std::string encode(const Leaders& leaders);
Result<Leaders> decode_leaders(const std::string& text, int n_pes);

// Text of PE numbers in ascending order: "3.4.12".
std::string encode_pes(const std::vector<int>& pes);
Result<std::vector<int>> decode_pes(const std::string& text, int n_pes);

// Returns why two PEs of one machine are on two nodes: one clause.
std::string describe_parting(int first_pe, const HostDescription& first, int second_pe, const HostDescription& second);

}  // namespace shmemx::bootstrap
