// Start-up: this PE's number, the number of PEs, the nodes, one arena descriptor for each node, and an exchange between
// nodes. Back ends: oshrun (arena inherited), PMI-1, PMI-2, PMIx, Slurm's step, single; connect() chooses one at run
// time. Or the calling program, if it starts the library itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pe.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "bootstrap/node_runs.hpp"

namespace shmemx::bootstrap {

struct Identity {
  int pe = 0;
  int n_pes = 1;
};

// Which PEs share an arena. Nodes are numbered in the order of their lowest PE.
struct NodeMap {
  NodeRuns node_of;                // empty: all are on one node, or look_up_in() has been called
  std::vector<std::string> hosts;  // by node; a machine may be several nodes
  std::string why;                 // why one machine is several nodes: one clause, or empty
  std::vector<int> real_nodes;     // if others are only claimed to exist, these, in ascending order; else empty

  int n_nodes() const noexcept { return hosts.empty() ? 1 : static_cast<int>(hosts.size()); }
  int node(int pe) const noexcept {
    if (locations_ != nullptr) return node_at(locations_[pe]);
    return node_of.empty() ? 0 : static_cast<int>(node_of.of(static_cast<std::uint32_t>(pe)));
  }
  bool is_real(int node) const noexcept {
    return real_nodes.empty() || std::binary_search(real_nodes.begin(), real_nodes.end(), node);
  }
  // Calls use(pe, node) for each of n_pes PEs, in ascending order.
  template <class Use>
  void for_each(int n_pes, const Use& use) const {
    if (!node_of.empty()) return node_of.for_each(use);
    for (int pe = 0; pe < n_pes; ++pe) use(pe, static_cast<std::uint32_t>(node(pe)));
  }
  // The PEs of the node of `pe`, in ascending order.
  std::vector<int> pes_with(int pe, int n_pes) const;

  // From now on looks up the nodes of PEs in `locations`, by world PE, and forgets its own record of them. The nodes
  // that `locations` names may be parts of this map's: then `parts` says by their numbers of which; else it is empty.
  void look_up_in(const PeLocation* locations, std::vector<std::uint32_t> parts) {
    locations_ = locations;
    parts_ = std::move(parts);
    node_of = NodeRuns();
  }

 private:
  int node_at(PeLocation location) const noexcept {
    return static_cast<int>(parts_.empty() ? location.node : parts_[location.node]);
  }

  const PeLocation* locations_ = nullptr;
  std::vector<std::uint32_t> parts_;
};

// The map of a job on one node, and the error of an exchange between nodes there.
const NodeMap& one_node();
Result<std::string> nothing_to_exchange();

// Joins the contributions of two ranges of nodes or PEs, the lower one first.
using Merge = std::function<Result<std::string>(const std::string& lower, const std::string& higher)>;

// Counts of a launcher's key-value store. Values only, not their keys.
struct Traffic {
  std::uint64_t puts = 0;
  std::uint64_t put_bytes = 0;
  std::uint64_t gets = 0;
  std::uint64_t got_bytes = 0;
  std::uint64_t fences = 0;
};

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual Identity identity() const = 0;
  virtual std::string_view name() const = 0;  // "oshrun", "pmi1", "pmix", "caller", "single"
  // Returns the descriptor of the node's arena, header initialised (wire.hpp). Collective over the job.
  virtual Result<UniqueFd> arena() = 0;
  // Returns which PE is on which node. Valid after arena().
  virtual const NodeMap& nodes() const { return one_node(); }
  // See NodeMap::look_up_in. There are several nodes, and `locations` is valid until the process ends.
  virtual void look_up_nodes_in(const PeLocation* /*locations*/, std::vector<std::uint32_t> /*parts*/) {}
  // Combines what nodes contribute, along a tree. Collective over the job, after arena(), if there are several nodes.
  // The lowest PE of each node passes the text of its node and gets the result; `merge` joins those of neighbouring
  // ranges of nodes. The others contribute and get nothing; they wait for the lowest PE of their node by other means.
  virtual Result<std::string> combine(std::string, const Merge&) { return nothing_to_exchange(); }
  // Publishes bytes of this node: called by its lowest PE, once, before combine().
  virtual Status publish(std::span<const std::byte>) { return nothing_to_exchange().error(); }
  // Returns what a node has published. By any PE and thread, after combine() and until finalize().
  virtual Result<std::string> fetch(int /*node*/) { return nothing_to_exchange(); }
  // Returns false if fetch() is for the time of shmem_init only, since this library does not have the launcher to
  // itself.
  virtual bool may_fetch_later() const { return true; }
  // What this PE has moved through the launcher so far.
  virtual Traffic traffic() const { return {}; }
  // Returns a remark for the user on how the job was started: one line, or empty. The same on all PEs.
  virtual std::string note() const { return {}; }
  // Makes the launcher end the whole job. It may return; the caller then exits with `status`.
  virtual void abort(int status) = 0;
  // Returns true if abort() ends the processes of all PEs.
  virtual bool ends_all() const { return true; }
  // Reports to the launcher that this PE leaves in order. Called once, at process exit.
  virtual void finalize() = 0;
};

// Chooses the back end from the environment. Fails with Errc::no_launcher if a variable of a launcher says that it
// started more than one process, but no start-up interface replies. The text names the launcher, what was tried, and
// the remedy.
Result<std::unique_ptr<Bootstrap>> connect();

// What a program provides that starts the library itself (shmemx_init_attr). The functions return 0 if they succeed.
struct Caller {
  Identity identity;
  int (*allgather)(const void* mine, void* all, std::size_t bytes, void* user);
  int (*barrier)(void* user);
  void (*abort)(int status, void* user);  // may be null
  void* user;
};
// Uses no interface of a launcher. Calls allgather and barrier in arena() and combine() only: all PEs get all
// values there, and fetch() only looks them up.
Result<std::unique_ptr<Bootstrap>> connect_caller(const Caller& caller);

}  // namespace shmemx::bootstrap
