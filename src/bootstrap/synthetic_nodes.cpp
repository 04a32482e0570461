#include "bootstrap/synthetic_nodes.hpp"

#include <algorithm>

namespace shmemx::bootstrap {

Result<SyntheticNodes> SyntheticNodes::make(const config::SyntheticWorld& world, int n_real) {
  const auto n_nodes = static_cast<int>(world.n_nodes);
  const auto refuse = [&](const std::string& why) {
    return Error{Errc::invalid_argument, 0,
                 "SHMEMX_SYNTHETIC_WORLD=" + config::kind::synthetic_world::text(world) + " with " +
                     std::to_string(n_real) + " real PEs: " + why};
  };
  if (n_real % n_nodes != 0) return refuse("they cannot be divided into equal nodes");
  SyntheticNodes nodes;
  nodes.n_pes_ = world.n_pes;
  nodes.each_ = n_real / n_nodes;
  if (nodes.each_ > world.node_pes) return refuse("a node has fewer");
  int next_node = 0;
  for (int real = 0; real < n_nodes; ++real) {
    const auto at = static_cast<std::size_t>(real);
    const int first = world.first_pes[at];
    const int end = real + 1 < n_nodes ? world.first_pes[at + 1] : world.n_pes;
    if (first + nodes.each_ > end) return refuse("node of PE " + std::to_string(first) + " does not fit");
    nodes.rows_.push_back({first, next_node, nodes.each_});
    nodes.real_nodes_.push_back(next_node++);
    if (first + nodes.each_ == end) continue;
    nodes.rows_.push_back({first + nodes.each_, next_node, world.node_pes});
    next_node += (end - first - nodes.each_ + world.node_pes - 1) / world.node_pes;
  }
  return nodes;
}

SyntheticNode SyntheticNodes::node_of(int pe) const {
  const auto next = std::upper_bound(rows_.begin(), rows_.end(), pe,
                                     [](int number, const Row& row) { return number < row.first_pe; });
  const Row& row = *(next - 1);
  const int end = next == rows_.end() ? n_pes_ : next->first_pe;
  const int place = (pe - row.first_pe) / row.node_pes;
  const int first = row.first_pe + place * row.node_pes;
  return {row.first_node + place, first, std::min(row.node_pes, end - first)};
}

SyntheticNode SyntheticNodes::node_at(int number) const {
  const auto next = std::upper_bound(rows_.begin(), rows_.end(), number,
                                     [](int wanted, const Row& row) { return wanted < row.first_node; });
  const Row& row = *(next - 1);
  return node_of(row.first_pe + (number - row.first_node) * row.node_pes);
}

int SyntheticNodes::real_of_pe(int pe) const {
  const SyntheticNode node = node_of(pe);
  const auto found = std::lower_bound(real_nodes_.begin(), real_nodes_.end(), node.number);
  if (found == real_nodes_.end() || *found != node.number) return -1;
  return static_cast<int>(found - real_nodes_.begin()) * each_ + pe - node.first_pe;
}

}  // namespace shmemx::bootstrap
