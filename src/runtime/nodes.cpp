#include "runtime/nodes.hpp"

#include <dirent.h>

#include <algorithm>

#include "am/net_channel.hpp"
#include "bootstrap/placement.hpp"
#include "runtime/record_exchange.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::PeAddresses;
using transport::Bytes;

// A PE without a progress thread replies only inside calls of the library, so it may be silent for longer by this
// factor.
constexpr std::uint32_t kPatienceWithoutAgents = 20;
constexpr std::uint32_t kMostProbeMs = 5000;

bool has_entries(const char* folder) {
  DIR* const dir = ::opendir(folder);
  if (dir == nullptr) return false;
  bool any = false;
  while (const dirent* const entry = ::readdir(dir)) any = any || entry->d_name[0] != '.';
  ::closedir(dir);
  return any;
}

// Returns true if the machine has RDMA hardware. Without it tcp is the fastest, and the plug-ins need not be loaded.
bool has_rdma_hardware() {
  return has_entries("/sys/class/infiniband") || has_entries("/sys/class/cxi") || has_entries("/sys/class/cxi_user");
}

std::vector<std::string> names_to_open(const config::Config& config) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < config.transport.count; ++i) names.emplace_back(config.transport.name(i));
  if (names.empty() && !has_rdma_hardware()) names.emplace_back("tcp");
  return names;
}

Error unreachable(const Nodes& nodes, int pe) {
  std::string tried;
  for (const transport::Candidate& network : nodes.networks)
    tried += (tried.empty() ? "" : ", ") + network.name + " (" +
             (network.transport == nullptr ? network.why_not : "that PE has none") + ")";
  return {Errc::unsupported, 0,
          "PE " + std::to_string(pe) + " on host " + nodes.host_of(pe) +
              " cannot be reached by any network of this PE: " + tried};
}

}  // namespace

class NetworkAddresses final : public transport::EndpointAddresses {
 public:
  NetworkAddresses(PeerAddresses& addresses, std::string network)
      : addresses_(addresses), network_(std::move(network)) {}
  Bytes address_of(int pe) const noexcept override { return addresses_.of(pe, network_); }
  bool has(int pe) const noexcept { return addresses_.has(pe, network_); }

 private:
  PeerAddresses& addresses_;
  std::string network_;
};

Nodes::Nodes() = default;
Nodes::~Nodes() = default;

std::uint8_t Nodes::paths_of(int pe) const noexcept {
  unsigned paths = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i]->has(pe)) paths |= 1U << i;
  }
  return static_cast<std::uint8_t>(paths);
}

NodePes Nodes::index_of(const windows::Arena& arena) const noexcept {
  const bool is_consecutive = here.back() - here.front() == static_cast<int>(here.size()) - 1;
  return is_consecutive ? NodePes(Pe{here.front()}) : NodePes(arena.locations());
}

namespace {

// Which of the nodes that are pretended on a machine each of its PEs belongs to.
std::vector<std::uint32_t> deal_out(std::size_t n_pes, std::size_t most, config::NodeOrder order) {
  const std::size_t n_nodes = (n_pes + most - 1) / most;
  std::vector<std::uint32_t> node_of(n_pes);
  for (std::size_t i = 0; i < n_pes; ++i)
    node_of[i] = static_cast<std::uint32_t>(order == config::NodeOrder::cyclic ? i % n_nodes : i / most);
  if (order != config::NodeOrder::mixed) return node_of;
  std::uint64_t state = 1;  // the same everywhere
  for (std::size_t i = n_pes; i > 1; --i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::swap(node_of[i - 1], node_of[(state >> 33) % i]);
  }
  return node_of;
}

// Deals the PEs of each node of the launcher out to nodes of at most SHMEMX_PES_PER_NODE.
class Division {
 public:
  Division(const bootstrap::NodeMap& map, int n_pes, const config::Config& config)
      : map_(map), machines_(static_cast<std::size_t>(map.n_nodes())) {
    for (int pe = 0; pe < n_pes; ++pe) ++machine_of(pe).n_pes;
    for (Machine& machine : machines_) {
      const std::uint64_t most = config.pes_per_node == 0 ? machine.n_pes : config.pes_per_node;
      machine.node_of = deal_out(machine.n_pes, std::min<std::uint64_t>(most, machine.n_pes), config.node_order);
    }
  }

  // For each PE, in ascending order. Nodes count in the order of their lowest PEs.
  PeLocation next(int pe) {
    Machine& machine = machine_of(pe);
    const std::size_t which = machine.node_of[machine.placed++];
    if (machine.nodes.size() <= which) machine.nodes.resize(which + 1);
    Filled& node = machine.nodes[which];
    if (node.n_pes == 0) {
      node.number = static_cast<std::uint32_t>(machine_of_node_.size());
      machine_of_node_.push_back(map_.node(pe));
    }
    largest_ = std::max<std::size_t>(largest_, node.n_pes + 1);
    return {node.number, node.n_pes++};
  }
  // When all are placed: the machines of the nodes, by the launcher's numbers; PEs of the largest node; how many nodes
  // share the file of `pe`, and the place of its own one among them.
  const std::vector<int>& machine_of_node() const { return machine_of_node_; }
  std::size_t largest() const { return largest_; }
  std::size_t nodes_in_file(int pe) { return machine_of(pe).nodes.size(); }
  std::size_t place_in_file(int pe, std::uint32_t node) {
    std::size_t place = 0;
    while (machine_of(pe).nodes[place].number != node) ++place;
    return place;
  }

 private:
  struct Filled {
    std::uint32_t number;
    std::uint32_t n_pes;
  };
  struct Machine {
    std::size_t n_pes = 0;
    std::size_t placed = 0;
    std::vector<std::uint32_t> node_of;  // by place of a PE on the machine
    std::vector<Filled> nodes;
  };
  Machine& machine_of(int pe) { return machines_[static_cast<std::size_t>(map_.node(pe))]; }

  const bootstrap::NodeMap& map_;
  std::vector<Machine> machines_;
  std::vector<int> machine_of_node_;
  std::size_t largest_ = 0;
};

}  // namespace

void divide(Nodes& nodes, const bootstrap::NodeMap& map, const bootstrap::Identity& identity,
            const config::Config& config, PeLocation* locations) {
  const int me = identity.pe;
  Division division(map, identity.n_pes, config);
  bool writes = true;  // no lower PE uses this arena
  std::vector<PeLocation> all;
  for (int pe = 0; pe < identity.n_pes; ++pe) {
    all.push_back(division.next(pe));
    writes = writes && (pe >= me || map.node(pe) != map.node(me));
  }
  if (writes) std::copy(all.begin(), all.end(), locations);
  const PeLocation mine = all[static_cast<std::size_t>(me)];
  nodes.mine = static_cast<int>(mine.node);
  nodes.index = {static_cast<int>(mine.index)};
  nodes.in_file = division.place_in_file(me, mine.node);
  nodes.here.clear();
  for (int pe = 0; pe < identity.n_pes; ++pe) {
    if (all[static_cast<std::size_t>(pe)].node == mine.node) nodes.here.push_back(pe);
  }
  nodes.hosts.clear();
  for (const int machine : division.machine_of_node()) {
    const auto number = static_cast<std::size_t>(machine);
    nodes.hosts.push_back(number < map.hosts.size() ? map.hosts[number] : bootstrap::describe_own_host().host);
  }
  nodes.n_nodes = static_cast<int>(nodes.hosts.size());
  nodes.sharing = {static_cast<std::size_t>(identity.n_pes), division.largest(), division.nodes_in_file(me)};
  nodes.why = config.pes_per_node != 0 ? "SHMEMX_PES_PER_NODE pretends it" : map.why;
  nodes.setup.me = me;
  nodes.setup.n_pes = identity.n_pes;
  nodes.setup.one_machine = map.n_nodes() == 1;
}

Status open_networks(Nodes& nodes, windows::Arena& arena, bootstrap::Bootstrap& launcher,
                     const config::Config& config) {
  if (!nodes.several()) return {};
  nodes.peer_addresses = std::make_unique<PeerAddresses>(arena, launcher);
  const bootstrap::JobHeader& header = arena.header();
  std::copy_n(header.secret, 2, nodes.setup.secret);
  nodes.setup.timeout_ms = static_cast<std::uint32_t>(config.net_timeout * 1000);
  const bool answers_always = config.progress != config::Progress::off;
  const std::uint32_t patience = answers_always ? 1 : kPatienceWithoutAgents;
  nodes.setup.silence_ms = nodes.setup.timeout_ms * patience;
  nodes.probe_ms = std::min(nodes.setup.timeout_ms / 2, kMostProbeMs) * patience;
  nodes.setup.sink = &am::network_sink();
  SHMEMX_TRY_ASSIGN(found, transport::open_transports(names_to_open(config), nodes.setup));
  nodes.networks = std::move(found);
  PeAddresses& addresses = arena.endpoint_addresses(nodes.setup.me);
  addresses.bytes = 0;
  for (transport::Candidate& network : nodes.networks) {
    if (network.transport == nullptr) continue;
    if (add_address(addresses, network.name, network.transport->endpoint_address())) continue;
    network.why_not = "its address is too long";
    network.transport.reset();
  }
  close_addresses(addresses);
  return {};
}

namespace {

// Reads the addresses that the lowest PE of a node needs in any case: they meet others in rounds whose distance
// doubles.
Status read_neighbours(const PeerAddresses& addresses, const bootstrap::NodeMap& map, int own, int n_pes) {
  std::vector<int> lowest(static_cast<std::size_t>(map.n_nodes()));
  for (int pe = n_pes - 1; pe >= 0; --pe) lowest[static_cast<std::size_t>(map.node(pe))] = pe;
  for (int step = 1; step < map.n_nodes(); step *= 2)
    SHMEMX_TRY(addresses.read_node_of(lowest[static_cast<std::size_t>((own + step) % map.n_nodes())]));
  return {};
}

}  // namespace

Status exchange_records(Nodes& nodes, const windows::Arena& arena, bootstrap::Bootstrap& launcher) {
  const bootstrap::NodeMap& map = launcher.nodes();
  const auto [me, n_pes] = launcher.identity();
  const int own = map.node(me);
  for (int pe = 0; pe < me; ++pe) {
    if (map.node(pe) == own) return follow_records(launcher);
  }
  const std::string addresses = addresses_of_node(arena, map, own);
  SHMEMX_TRY(launcher.publish(std::as_bytes(std::span(addresses.data(), addresses.size()))));
  SHMEMX_TRY(lead_records(arena, launcher));
  const bool needs_all = arena.header().networks_differ != 0 || !launcher.may_fetch_later();
  return needs_all ? nodes.peer_addresses->read_all() : read_neighbours(*nodes.peer_addresses, map, own, n_pes);
}

namespace {

// Keeps a network open if a PE of another node has an endpoint address for it.
void open_for_some(Nodes& nodes, transport::Candidate& network) {
  bool any = false;
  for (int pe = 0; pe < nodes.setup.n_pes && !any; ++pe) {
    any = !nodes.is_here(pe) && nodes.peer_addresses->has(pe, network.name);
  }
  if (!any) {
    network.transport.reset();
    network.why_not = "no other PE has it";
    return;
  }
  nodes.open.push_back(network.transport.get());
  nodes.addresses.push_back(std::make_unique<NetworkAddresses>(*nodes.peer_addresses, network.name));
  network.transport->set_addresses(*nodes.addresses.back());
}

}  // namespace

Status choose_networks(Nodes& nodes) {
  if (!nodes.several()) return {};
  for (transport::Candidate& network : nodes.networks) {
    if (network.transport != nullptr) open_for_some(nodes, network);
  }
  nodes.route.open(static_cast<std::size_t>(nodes.setup.n_pes));
  for (int pe = 0; pe < nodes.setup.n_pes; ++pe) {
    if (nodes.is_here(pe)) {
      nodes.route[pe] = am::kNodeRoute;
    } else if (nodes.paths_of(pe) == 0) {
      return unreachable(nodes, pe);
    }
  }
  return {};
}

}  // namespace shmemx::runtime
