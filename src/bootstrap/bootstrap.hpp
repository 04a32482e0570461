// Who am I, how many are we, who is on my node, how do the PEs of this node get one arena descriptor, and how do the
// nodes tell each other what they need to connect.
// Back ends: oshrun (arena inherited), PMI-1, PMIx, single. Chosen at run time by connect().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::bootstrap {

struct Identity {
  int pe = 0;
  int n_pes = 1;
};

// Which PEs share an arena. Nodes are numbered in the order of their lowest PE.
struct NodeMap {
  std::vector<std::uint32_t> node_of;  // by PE; empty: all are on one node
  std::vector<std::string> hosts;      // by node; a machine may be several nodes
  std::string why;  // for whoever asks why there are several nodes on one machine: one clause, or empty

  int n_nodes() const noexcept { return node_of.empty() ? 1 : static_cast<int>(hosts.size()); }
  int node(int pe) const noexcept {
    return node_of.empty() ? 0 : static_cast<int>(node_of[static_cast<std::size_t>(pe)]);
  }
};

// For jobs that are on one node by their nature.
const NodeMap& one_node();
Result<std::vector<std::string>> nothing_to_exchange();

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual Identity identity() const = 0;
  virtual std::string_view name() const = 0;  // "oshrun", "pmi1", "pmix", "single"
  // The descriptor of the node's arena, header initialised (wire.hpp). Collective over the job.
  virtual Result<UniqueFd> arena() = 0;
  // After arena(): who is where.
  virtual const NodeMap& nodes() const { return one_node(); }
  // After arena(), collective over the job, where there are several nodes: the lowest PE of each node gives what its
  // node has to tell and gets what all nodes have told, by node number. The others give nothing and get nothing; they
  // have to wait for the lowest PE of their node in another way.
  virtual Result<std::vector<std::string>> exchange(std::span<const std::byte>) { return nothing_to_exchange(); }
  // What the user should hear about how the job was started: one line, or empty. The same on all PEs.
  virtual std::string note() const { return {}; }
  // Tell the launcher to end the whole job. May return; the caller then exits with `status`.
  virtual void abort(int status) = 0;
  // Tell the launcher that this PE leaves in order. Called once, at process exit.
  virtual void finalize() = 0;
};

// Chooses the back end from the environment. Fails with Errc::no_launcher, and a text that names the launcher seen,
// what was tried and the fix, when a launcher variable says that more than one process was started but nothing answers.
Result<std::unique_ptr<Bootstrap>> connect();

}  // namespace shmemx::bootstrap
