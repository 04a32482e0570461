#include "coll/internode/broadcast.hpp"

#include <vector>

#include "coll/common/flags.hpp"
#include "coll/common/member_access.hpp"
#include "coll/common/nodes.hpp"
#include "coll/common/select.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {
namespace {

// This PE's node in the tree of nodes whose root is the root's node: its parent and its children.
class BroadcastTree {
 public:
  BroadcastTree(const TeamNodes& nodes, int root_node, NodesBroadcast shape) : nodes_(nodes), root_node_(root_node) {
    const int n = nodes.count();
    const int self = (nodes.mine - root_node + n) % n;
    switch (shape) {
      case NodesBroadcast::flat:
        make_flat(self);
        break;
      case NodesBroadcast::chain:
        make_chain(self);
        break;
      case NodesBroadcast::tree:
        make_binomial(self);
    }
  }
  int parent() const { return parent_; }  // not for the root's node
  const std::vector<int>& children() const { return children_; }

 private:
  // Nodes count from the root's one.
  int node_at(int number) const { return (number + root_node_ + nodes_.count()) % nodes_.count(); }

  void make_flat(int self) {
    parent_ = root_node_;
    for (int other = 1; self == 0 && other < nodes_.count(); ++other) children_.push_back(node_at(other));
  }
  void make_chain(int self) {
    parent_ = node_at(self - 1);
    if (self + 1 < nodes_.count()) children_.push_back(node_at(self + 1));
  }
  void make_binomial(int self) {
    const int n = nodes_.count();
    int span = 1;
    while (self == 0 ? span < n : (self & span) == 0) span *= 2;
    parent_ = node_at(self - span);
    for (int step = span / 2; step != 0; step /= 2) {  // the child with the largest subtree first
      if (self + step < n) children_.push_back(node_at(self + step));
    }
  }

  const TeamNodes& nodes_;
  int root_node_;
  int parent_ = 0;
  std::vector<int> children_;
};

class Broadcast {
 public:
  Broadcast(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root)
      : group_(group),
        team_(group.team()),
        nodes_(nodes_of(team_)),
        root_(root),
        root_node_(nodes_.node_of(root)),
        dest_(dest.pe0),
        source_(source.pe0),
        bytes_(bytes) {}

  void run(RootDest root_dest) {
    const NodesBroadcast shape = nodes_broadcast(nodes_, bytes_);
    const BroadcastTree tree(nodes_, root_node_, shape);
    const std::size_t segment = broadcast_segment(nodes_, shape);
    std::size_t at = 0;
    do {
      const std::size_t length = std::min(segment, bytes_ - at);
      const std::uint64_t epoch = ++team_.epoch;
      if (representative(nodes_.mine) == team_.me()) {
        forward(tree, at, length, epoch);
      } else {
        receive(at, length, epoch);
      }
      at += length;
    } while (at < bytes_);
    if (!pushes()) await_copies();
    const bool copies = team_.me() == root_ && root_dest == RootDest::written && dest_ != source_;
    if (copies && bytes_ != 0) rma::copy(dest_, source_, bytes_);
  }

 private:
  // The representative stores into the dest of its node peers; longer data they copy themselves.
  bool pushes() const { return bytes_ <= kPushBytes; }
  int representative(int node) const { return node == root_node_ ? root_ : nodes_.leader(node); }
  // Where the representative of this node has the data.
  const std::byte* data_of_node() const { return nodes_.mine == root_node_ ? source_ : dest_; }

  void forward(const BroadcastTree& tree, std::size_t at, std::size_t length, std::uint64_t epoch) {
    if (team_.me() != root_) await_flag(team_, group_.routine(), representative(tree.parent()), epoch);
    const std::span<const std::byte> data(data_of_node() + at, length);
    for (const int child : tree.children()) put_with_flag(group_, representative(child), dest_ + at, data, epoch);
    for (const int peer : nodes_.here()) {
      if (peer == team_.me()) continue;
      if (pushes()) {
        put_with_flag(group_, peer, dest_ + at, data, epoch);
      } else {
        set_flag(team_, group_.routine(), peer, epoch);
      }
    }
  }

  void receive(std::size_t at, std::size_t length, std::uint64_t epoch) {
    const int from = representative(nodes_.mine);
    await_flag(team_, group_.routine(), from, epoch);
    if (!pushes()) rma::copy(dest_ + at, mapped_copy(team_.route, data_of_node(), from) + at, length);
  }

  // The representative keeps its data unchanged until its node peers have copied them.
  void await_copies() {
    const std::uint64_t epoch = ++team_.epoch;
    const int from = representative(nodes_.mine);
    if (from != team_.me()) return set_flag(team_, group_.routine(), from, epoch);
    for (const int peer : nodes_.here()) {
      if (peer != team_.me()) await_flag(team_, group_.routine(), peer, epoch);
    }
  }

  TeamGroup& group_;
  Team& team_;
  const TeamNodes& nodes_;
  int root_;
  int root_node_;
  std::byte* dest_;  // this PE's copies
  const std::byte* source_;
  std::size_t bytes_;
};

}  // namespace

void broadcast_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root,
                      RootDest root_dest) noexcept {
  Broadcast(group, dest, source, bytes, root).run(root_dest);
}

}  // namespace shmemx::coll
