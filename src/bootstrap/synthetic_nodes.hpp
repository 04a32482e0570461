// The nodes of a synthetic world: real ones at given places, between them nodes of equal size that do not exist.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/synthetic_world.hpp"

namespace shmemx::bootstrap {

struct SyntheticNode {
  int number;
  int first_pe;
  int n_pes;
};

class SyntheticNodes {
 public:
  // `n_real` PEs exist.
  static Result<SyntheticNodes> make(const config::SyntheticWorld& world, int n_real);

  int n_pes() const { return n_pes_; }
  const std::vector<int>& real_nodes() const { return real_nodes_; }
  SyntheticNode node_of(int pe) const;
  SyntheticNode node_at(int number) const;
  int pe_of_real(int real) const {
    return node_at(real_nodes_[static_cast<std::size_t>(real / each_)]).first_pe + real % each_;
  }
  // Returns -1 for a PE that does not exist.
  int real_of_pe(int pe) const;

 private:
  // Nodes of equal size that follow each other; the last one may be smaller.
  struct Row {
    int first_pe;
    int first_node;
    int node_pes;
  };

  std::vector<Row> rows_;
  std::vector<int> real_nodes_;
  int n_pes_ = 0;
  int each_ = 1;  // PEs of a real node
};

}  // namespace shmemx::bootstrap
