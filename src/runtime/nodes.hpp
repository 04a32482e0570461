// Which PEs are on other nodes, how all PEs learn of each other before the geometry is computed, and by which network
// each internode one is reached.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bootstrap/bootstrap.hpp"
#include "config/config.hpp"
#include "transport/registry.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// A PE's cards in the arena, as one transport sees them.
class ArenaAddresses;

struct Nodes {
  int n_nodes = 1;
  std::vector<std::uint32_t> node_of;  // by PE; empty: all on one node
  std::vector<std::uint8_t> mapped;    // by PE: on this PE's node
  std::vector<std::string> hosts;      // by node
  std::string why;                     // there are several nodes on one machine
  transport::Setup setup;
  std::uint32_t trial_ms = 0;  // so long may a network take to show that it leads to a PE, where there is another
  std::vector<transport::Candidate> networks;
  std::vector<std::unique_ptr<ArenaAddresses>> addresses;  // of each network
  std::vector<transport::Transport*> open;                 // those that may lead to some PE
  std::vector<std::uint8_t> route;                         // by PE: 0, or one more than an index of `open`
  std::vector<std::uint8_t> paths;                         // by PE: all of `open` that may lead there, one bit each

  bool several() const noexcept { return n_nodes > 1; }
  const std::string& host_of(int pe) const noexcept { return hosts[node_of[static_cast<std::size_t>(pe)]]; }
  ~Nodes();
  Nodes();
};

// From what the launcher says and SHMEMX_PES_PER_NODE.
void divide(Nodes& nodes, const bootstrap::NodeMap& map, int me, const config::Config& config, int n_pes);
// Opens the networks and writes this PE's cards. Does nothing in a job on one node.
Status open_networks(Nodes& nodes, windows::Arena& arena, const config::Config& config);
// Collective over the job where the launcher has several nodes: records and cards of the PEs of other nodes come into
// this node's arena. All PEs of this node have filled theirs.
Status exchange_records(const windows::Arena& arena, bootstrap::Bootstrap& launcher, int me);
// Each internode PE's network: the first of this job's that both have; it shows on use whether that one leads there.
Status choose_networks(Nodes& nodes, windows::Arena& arena);

// For people: how each class of PEs is reached, and why not in other ways. In a job on one node: what could be had.
std::string describe_peers(const Nodes& nodes, const std::string& path_reason, const config::Config& config);

}  // namespace shmemx::runtime
