// Nodes of a job: divides the PEs into nodes, exchanges records before the geometry is computed, and chooses a network
// for each internode PE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "am/net_channel.hpp"
#include "base/contact_table.hpp"
#include "base/result.hpp"
#include "bootstrap/bootstrap.hpp"
#include "config/config.hpp"
#include "context/context.hpp"
#include "runtime/peer_addresses.hpp"
#include "transport/devices.hpp"
#include "transport/registry.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// The endpoint addresses, as one transport reads them.
class NetworkAddresses;

struct Nodes {
  int n_nodes = 1;
  int mine = 0;
  NodeIndex index{0};       // of this PE on its node
  std::vector<int> here;    // the PEs of this node, in ascending order
  std::size_t in_file = 0;  // this node's number among those that share its arena
  windows::Sharing sharing{1};
  const bootstrap::NodeMap* map = nullptr;  // the launcher's
  std::vector<std::uint32_t> machines;      // by node: which of the launcher's it is on; empty: the same number
  std::string why;                          // why one machine is several nodes; may be empty
  transport::Setup setup;
  std::uint32_t probe_ms = 0;  // time of a path probe, if there are several networks
  std::vector<transport::Candidate> networks;
  std::unique_ptr<PeerAddresses> peer_addresses;             // if there are several nodes
  std::vector<std::unique_ptr<NetworkAddresses>> addresses;  // of each network
  std::vector<transport::Transport*> open;                   // networks that may lead to some PE
  ContactTable<std::uint8_t> route;                          // see am::PathProbe

  bool several() const noexcept { return n_nodes > 1; }
  bool is_here(int pe) const noexcept { return std::binary_search(here.begin(), here.end(), pe); }
  std::string host_of(int pe) const;
  // Translates the PEs of this node.
  NodePes index_of(const windows::Arena& arena) const noexcept;
  // Returns a bit for each of `open` that may lead to `pe`, of another node.
  std::uint8_t paths_of(int pe) const noexcept;
  ~Nodes();
  Nodes();
};

// Divides the PEs into nodes, by the launcher's map and SHMEMX_PES_PER_NODE. The lowest PE of the arena writes their
// locations there, by world PE.
void divide(Nodes& nodes, const bootstrap::NodeMap& map, const bootstrap::Identity& identity,
            const config::Config& config, const windows::Arena& arena);
// Returns the networks in the order in which a job over several nodes tries them.
transport::AutomaticOrder network_order(const config::Config& config);
// Opens the networks and writes this PE's endpoint addresses. Does nothing in a job on one node.
Status open_networks(Nodes& nodes, windows::Arena& arena, bootstrap::Bootstrap& launcher, const config::Config& config);
// Writes what matters of the records of other arenas' PEs into this arena, and publishes the endpoint addresses of this
// one's PEs. Collective over the job, which has several arenas. All PEs of this arena have filled theirs.
Status exchange_records(Nodes& nodes, const windows::Arena& arena, bootstrap::Bootstrap& launcher);
// Chooses a network for each internode PE: the first of this job's that both sides have. A path probe shows later
// whether it leads there.
Status choose_networks(Nodes& nodes, const windows::Arena& arena);

// Describes to users how each class of PEs is reached, and why not by other networks. In a job on one node: the
// networks that could be used.
std::string describe_peers(const Nodes& nodes, const std::string& path_reason, const config::Config& config);

// Describes what this PE has moved through the launcher; empty if nothing.
std::string describe_launcher(const bootstrap::Bootstrap& launcher);

// Describes the connections to some of the PEs of other nodes that this PE has exchanged messages with: what they use
// is known at the end only.
std::string describe_links(const Nodes& nodes);
// Describes the route to one PE of the job: a word, a colon, details.
std::string describe_route(int pe);

// The small operations that this PE has sent to other nodes, and the messages that carried them; and a line about them.
am::GatherCounts gather_counts() noexcept;
std::string describe_gathering(const am::GatherCounts& counts);
// The frames of its networks, by their fate; and a line about them, empty if the networks leave frames to others.
transport::FrameCounts frame_counts() noexcept;
std::string describe_frames(const transport::FrameCounts& counts);

}  // namespace shmemx::runtime
