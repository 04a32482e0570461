#include "runtime/nodes.hpp"

#include <algorithm>

#include "am/net_channel.hpp"
#include "base/stopped_threads.hpp"
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

transport::AutomaticOrder network_order(const config::Config& config) {
  if (config.transport.count == 0) return transport::automatic_order(transport::rdma_devices());
  transport::AutomaticOrder order{{}, "SHMEMX_TRANSPORT"};
  for (std::size_t i = 0; i < config.transport.count; ++i) order.names.emplace_back(config.transport.name(i));
  return order;
}

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

std::string Nodes::host_of(int pe) const {
  const auto machine = static_cast<std::size_t>(map == nullptr ? 0 : map->node(pe));
  return map != nullptr && machine < map->hosts.size() ? map->hosts[machine] : bootstrap::describe_own_host().host;
}

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
      : machines_(static_cast<std::size_t>(map.n_nodes())) {
    map.for_each(n_pes, [&](int, std::uint32_t machine) { ++machines_[machine].n_pes; });
    if (config.pes_per_node == 0) return;
    for (Machine& machine : machines_)
      machine.node_of =
          deal_out(machine.n_pes, std::min<std::uint64_t>(config.pes_per_node, machine.n_pes), config.node_order);
  }

  // For each PE, in ascending order. Nodes count in the order of their lowest PEs.
  PeLocation next(std::uint32_t number) {
    Machine& machine = machines_[number];
    const std::size_t which = machine.node_of.empty() ? 0 : machine.node_of[machine.placed++];
    if (machine.nodes.size() <= which) machine.nodes.resize(which + 1);
    Filled& node = machine.nodes[which];
    if (node.n_pes == 0) {
      node.number = n_nodes_++;
      machine_of_.push_back(number);
    }
    largest_ = std::max<std::size_t>(largest_, node.n_pes + 1);
    return {node.number, node.n_pes++};
  }
  // When all are placed: the machine of each node, empty if it has the same number; how many nodes there are; PEs of
  // the largest one; how many share the file of a machine, and the place of a node among them.
  std::vector<std::uint32_t> machines() {
    return n_nodes_ == machines_.size() ? std::vector<std::uint32_t>() : std::move(machine_of_);
  }
  int n_nodes() const { return static_cast<int>(n_nodes_); }
  std::size_t largest() const { return largest_; }
  std::size_t nodes_in_file(int machine) const { return machines_[static_cast<std::size_t>(machine)].nodes.size(); }
  std::size_t place_in_file(int machine, std::uint32_t node) const {
    std::size_t place = 0;
    while (machines_[static_cast<std::size_t>(machine)].nodes[place].number != node) ++place;
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
    std::vector<std::uint32_t> node_of;  // by place of a PE on the machine; empty: it is one node
    std::vector<Filled> nodes;
  };

  std::vector<Machine> machines_;
  std::vector<std::uint32_t> machine_of_;  // by node
  std::uint32_t n_nodes_ = 0;
  std::size_t largest_ = 0;
};

}  // namespace

void divide(Nodes& nodes, const bootstrap::NodeMap& map, const bootstrap::Identity& identity,
            const config::Config& config, const windows::Arena& arena) {
  const int me = identity.pe;
  const int machine = map.node(me);
  Division division(map, identity.n_pes, config);
  const bool writes = arena.records().front().pe == me;
  std::vector<std::pair<int, PeLocation>> on_machine;
  map.for_each(identity.n_pes, [&](int pe, std::uint32_t its) {
    const PeLocation location = division.next(its);
    if (writes) arena.locations()[pe] = location;
    if (its == static_cast<std::uint32_t>(machine)) on_machine.emplace_back(pe, location);
  });
  const auto own = std::find_if(on_machine.begin(), on_machine.end(), [me](const auto& at) { return at.first == me; });
  const PeLocation mine = own->second;
  nodes.mine = static_cast<int>(mine.node);
  nodes.index = {static_cast<int>(mine.index)};
  nodes.in_file = division.place_in_file(machine, mine.node);
  nodes.here.clear();
  for (const auto& [pe, location] : on_machine) {
    if (location.node == mine.node) nodes.here.push_back(pe);
  }
  nodes.map = &map;
  nodes.n_nodes = division.n_nodes();
  nodes.machines = division.machines();
  nodes.sharing = {static_cast<std::size_t>(identity.n_pes), division.largest(), division.nodes_in_file(machine)};
  nodes.sharing.n_places = arena.header().n_places;
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
  nodes.setup.tcp_one_read = config.tcp_one_read;
  nodes.setup.ethernet = {config.eth_interface.text.data(), config.eth_mtu.value_or(0),
                          static_cast<std::uint32_t>(config.eth_block_packets),
                          static_cast<std::uint32_t>(config.eth_blocks),
                          static_cast<std::uint32_t>(config.eth_resend_us)};
  const std::vector<std::string> names = network_order(config).names;
  nodes.setup.has_reserve = names.size() != 1;
  nodes.setup.tcp_mac = config.net_mac == config::Switch::on;
  nodes.setup.stop_signal = config.static_data ? free_stop_signal() : 0;
  SHMEMX_TRY_ASSIGN(found, transport::open_transports(names, nodes.setup));
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
Status read_neighbours(const PeerAddresses& addresses, const bootstrap::NodeMap& map, int own) {
  for (int step = 1; step < map.n_nodes(); step *= 2) SHMEMX_TRY(addresses.read_node((own + step) % map.n_nodes()));
  return {};
}

}  // namespace

Status exchange_records(Nodes& nodes, const windows::Arena& arena, bootstrap::Bootstrap& launcher) {
  const int me = launcher.identity().pe;
  if (arena.records().front().pe != me) return follow_records(launcher);
  const std::string addresses = addresses_of_node(arena);
  SHMEMX_TRY(launcher.publish(std::as_bytes(std::span(addresses.data(), addresses.size()))));
  SHMEMX_TRY(lead_records(arena, launcher));
  const bool needs_all = arena.header().networks_differ != 0 || !launcher.may_fetch_later();
  return needs_all ? nodes.peer_addresses->read_all()
                   : read_neighbours(*nodes.peer_addresses, launcher.nodes(), launcher.nodes().node(me));
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

Status choose_networks(Nodes& nodes, const windows::Arena& arena) {
  if (!nodes.several()) return {};
  for (transport::Candidate& network : nodes.networks) {
    if (network.transport != nullptr) open_for_some(nodes, network);
  }
  nodes.route.open(static_cast<std::size_t>(nodes.setup.n_pes));
  for (const int pe : nodes.here) nodes.route[pe] = am::kNodeRoute;
  // Where all have the same networks, those that were kept lead to all.
  const bool is_same = arena.header().networks_differ == 0 && !nodes.open.empty();
  for (int pe = 0; pe < nodes.setup.n_pes && !is_same; ++pe) {
    if (!nodes.is_here(pe) && nodes.paths_of(pe) == 0) return unreachable(nodes, pe);
  }
  return {};
}

}  // namespace shmemx::runtime
