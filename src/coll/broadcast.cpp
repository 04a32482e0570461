// Broadcast over several nodes: each node has a representative (the root on its own node, else the leader); pieces go
// from one to the next down a tree or along a chain, and from each representative to its node peers.
#include <vector>

#include "coll/leaders.hpp"
#include "coll/member_access.hpp"
#include "coll/remote.hpp"
#include "coll/select.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {
namespace {

// This PE's node among the nodes, which count from the root's.
class BroadcastTree {
 public:
  BroadcastTree(const TeamNodes& nodes, int root_node, std::size_t bytes) : nodes_(nodes), root_node_(root_node) {
    const int n = nodes.count();
    const int self = (nodes.mine - root_node + n) % n;
    if (select::broadcast_flat(nodes, bytes)) {
      parent_ = root_node;
      for (int other = 1; self == 0 && other < n; ++other) children_.push_back(node_at(other));
      return;
    }
    if (select::broadcast_in_chain(nodes, bytes)) {
      parent_ = node_at(self - 1);
      if (self + 1 < n) children_.push_back(node_at(self + 1));
      return;
    }
    int reach = 1;
    while (self == 0 ? reach < n : (self & reach) == 0) reach *= 2;
    parent_ = node_at(self - reach);
    for (int step = reach / 2; step != 0; step /= 2) {  // the one with the largest subtree first
      if (self + step < n) children_.push_back(node_at(self + step));
    }
  }
  int parent() const { return parent_; }  // of other nodes than the root's
  const std::vector<int>& children() const { return children_; }

 private:
  int node_at(int number) const { return (number + root_node_ + nodes_.count()) % nodes_.count(); }

  const TeamNodes& nodes_;
  int root_node_;
  int parent_;
  std::vector<int> children_;
};

class Broadcast {
 public:
  Broadcast(TeamGroup& group, Symmetric dest, Symmetric source, int root)
      : group_(group),
        team_(group.team()),
        nodes_(nodes_of(team_)),
        root_(root),
        root_node_(nodes_.node_of(root)),
        own_(dest.pe0),
        source_(source.pe0) {}

  void run(std::size_t bytes) {
    pushes_ = bytes <= select::kPushBytes;
    const BroadcastTree tree(nodes_, root_node_, bytes);
    const std::size_t segment = select::broadcast_segment(nodes_);
    std::size_t at = 0;
    do {
      const std::size_t piece = std::min(segment, bytes - at);
      const std::uint64_t epoch = ++team_.epoch;
      if (representative(nodes_.mine) == team_.me()) {
        forward(tree, at, piece, epoch);
      } else {
        take(at, piece, epoch);
      }
      at += piece;
    } while (at < bytes);
    if (!pushes_) await_copies();
    if (team_.me() == root_ && own_ != source_ && bytes != 0) rma::copy(own_, source_, bytes);
  }

 private:
  int representative(int node) const { return node == root_node_ ? root_ : nodes_.leader(node); }
  const std::byte* held() const { return nodes_.mine == root_node_ ? source_ : own_; }

  void forward(const BroadcastTree& tree, std::size_t at, std::size_t piece, std::uint64_t epoch) {
    if (team_.me() != root_) await_flag(team_, group_.routine(), representative(tree.parent()), epoch);
    const std::span<const std::byte> data(held() + at, piece);
    for (const int child : tree.children()) put_with_flag(group_, representative(child), own_ + at, data, epoch);
    for (const int peer : nodes_.here()) {
      if (peer == team_.me()) continue;
      if (pushes_) {
        put_with_flag(group_, peer, own_ + at, data, epoch);
      } else {
        set_flag(team_, group_.routine(), peer, epoch);
      }
    }
  }

  void take(std::size_t at, std::size_t piece, std::uint64_t epoch) {
    const int from = representative(nodes_.mine);
    await_flag(team_, group_.routine(), from, epoch);
    if (!pushes_) rma::copy(own_ + at, mapped_copy(team_.route, held(), from) + at, piece);
  }

  // The representative's data stay until its node peers have copied them.
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
  std::byte* own_;
  const std::byte* source_;
  bool pushes_ = true;
};

}  // namespace

void broadcast_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  Broadcast(group, dest, source, root).run(bytes);
}

}  // namespace shmemx::coll
