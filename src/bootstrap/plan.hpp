// What PE 0 decides while the nodes are found, as it tells the other PEs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/handover.hpp"
#include "bootstrap/placement.hpp"

namespace shmemx::bootstrap {

// The hosts of the PEs that make arenas, in their order, and why the first two of them that share a machine do not
// share an arena; that is empty if there are no such two.
struct MakerHosts {
  std::vector<std::string> names;
  std::string why;
};
std::string encode(const MakerHosts& hosts);
Result<MakerHosts> decode_maker_hosts(const std::string& text);

// Which PEs try to share an arena.
struct Plan {
  Leaders leaders;
  bool one_group = false;  // of all PEs
  Offer offer;             // of PE 0, if there is one group; the rest otherwise
  std::uint64_t job_id = 0;
  std::uint64_t secret[2] = {};
  MakerHosts makers;
};
std::string encode(const Plan& plan);
Result<Plan> decode_plan(const std::string& text, int n_pes);

// The lowest PEs of the groups, in ascending order.
std::vector<int> makers_of(const Leaders& leaders);
MakerHosts describe_makers(const std::vector<int>& makers, const Hosts& hosts);

}  // namespace shmemx::bootstrap
