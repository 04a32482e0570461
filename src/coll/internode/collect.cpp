#include "coll/internode/collect.hpp"

#include <optional>

#include "base/bulk_copy.hpp"
#include "coll/common/flags.hpp"
#include "coll/common/member_access.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/leader_gather.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/prefix_groups.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {
namespace {

constinit CollectSetting setting;  // written before the first collective

class Collect {
 public:
  Collect(TeamGroup& group, std::byte* own_dest, const std::byte* source, const Offsets& offsets)
      : group_(group),
        team_(group.team()),
        nodes_(nodes_of(team_)),
        dest_(own_dest),
        source_(source),
        offsets_(offsets) {}

  void run() {
    for (const int peer : nodes_.here()) store(peer, team_.me(), source_);
    switch (nodes_collect(nodes_, offsets_.back(), setting)) {
      case NodesCollect::leaders:
        return by_leaders();
      case NodesCollect::prefix:
        return by_prefix();
      default:
        return by_all();
    }
  }

 private:
  std::size_t bytes_of(int pe) const {
    const auto index = static_cast<std::size_t>(pe);
    return offsets_[index + 1] - offsets_[index];
  }
  std::byte* place_of(int pe) const { return dest_ + offsets_[static_cast<std::size_t>(pe)]; }

  // Stores the contribution of `owner` into the dest of a node peer.
  void store(int peer, int owner, const std::byte* data) const {
    if (bytes_of(owner) != 0) rma::copy(mapped_copy(team_.route, place_of(owner), peer), data, bytes_of(owner));
  }

  std::vector<std::size_t> bytes_by_node() const {
    std::vector<std::size_t> bytes(static_cast<std::size_t>(nodes_.count()), 0);
    for (int node = 0; node < nodes_.count(); ++node) {
      for (const int pe : nodes_.on(node)) bytes[static_cast<std::size_t>(node)] += bytes_of(pe);
    }
    return bytes;
  }

  void by_leaders() {
    FirstRound round(team_, group_.routine(), ++team_.epoch);
    std::optional<LeaderGather> all;
    const auto prepare = [&] {
      all.emplace(round, bytes_by_node());
      pack(all->own());
    };
    if (!round.gather(prepare, [&] { all->send_first(); })) return;
    const bool has_packed = all.has_value();
    if (!has_packed) all.emplace(round, bytes_by_node());
    all->receive_first();
    if (!has_packed) pack(all->own());
    all->pass_on();
    for (int node = 0; node < nodes_.count(); ++node) {
      if (node != nodes_.mine) distribute(node, all->of(node));
    }
    release_node(team_, group_.routine(), round.epoch());
  }

  // Copies the contributions of this node, which each of its members has in its dest.
  void pack(std::byte* at) const {
    for (const int pe : nodes_.here()) {
      if (bytes_of(pe) != 0) copy_block(at, place_of(pe), bytes_of(pe));
      at += bytes_of(pe);
    }
  }

  // Stores the contributions of another node into the dests of this node.
  void distribute(int node, const std::byte* data) const {
    for (const int owner : nodes_.on(node)) {
      for (const int peer : nodes_.here()) store(peer, owner, data);
      data += bytes_of(owner);
    }
  }

  void by_all() {
    const std::uint64_t epoch = ++team_.epoch;
    const int n = nodes_.count();
    for (int i = 1; i < n; ++i) {
      const auto there = nodes_.on(nodes_.ahead(i));
      const int to = there[static_cast<std::size_t>(nodes_.index) % there.size()];
      send(to, team_.me(), source_, epoch);
    }
    for (int i = 1; i < n; ++i) receive_from(nodes_.on(nodes_.behind(i)), epoch);
    sync_node(team_, group_.routine());
  }

  void send(int to, int owner, const std::byte* data, std::uint64_t epoch) const {
    const std::size_t bytes = bytes_of(owner);
    put_with_flag(group_, to, bytes == 0 ? dest_ : place_of(owner), {data, bytes}, epoch);
  }

  // Requires nodes of one size: PEs of one index on their nodes exchange.
  void by_prefix() {
    const PrefixGroups groups(nodes_.count(), setting.group_nodes);
    std::uint64_t epoch = team_.epoch;
    team_.epoch += static_cast<std::uint64_t>(groups.rounds());
    for (int round = 0; round < groups.rounds(); ++round) {
      const int owner = twin_on(groups.passed_on(nodes_.mine, round));
      const std::byte* data = round == 0 ? source_ : place_of(owner);
      if (round != 0) receive(twin_on(groups.previous(nodes_.mine)), owner, epoch);
      ++epoch;
      if (round + 1 < groups.rounds()) send(twin_on(groups.next(nodes_.mine)), owner, data, epoch);
      for (int i = 1; i < groups.size(); ++i) send(twin_on(groups.target(nodes_.mine, i)), owner, data, epoch);
      for (int i = 1; i < groups.size(); ++i) {
        const int from = groups.source(nodes_.mine, i);
        receive(twin_on(from), twin_on(groups.passed_on(from, round)), epoch);
      }
    }
    sync_node(team_, group_.routine());
  }

  int twin_on(int node) const { return nodes_.on(node)[static_cast<std::size_t>(nodes_.index)]; }

  // Receives the contribution of `owner` from `from`.
  void receive(int from, int owner, std::uint64_t epoch) {
    await_flag(team_, group_.routine(), from, epoch);
    for (const int peer : nodes_.here()) {
      if (peer != team_.me()) store(peer, owner, place_of(owner));
    }
  }

  // Receives from the PEs of another node that send to this PE.
  void receive_from(const NodeMembers& there, std::uint64_t epoch) {
    const auto here = nodes_.here();
    for (auto index = static_cast<std::size_t>(nodes_.index); index < there.size(); index += here.size())
      receive(there[index], there[index], epoch);
  }

  TeamGroup& group_;
  Team& team_;
  const TeamNodes& nodes_;
  std::byte* dest_;
  const std::byte* source_;
  const Offsets& offsets_;
};

}  // namespace

void set_collect(const CollectSetting& asked) noexcept { setting = asked; }

void collect_remote(TeamGroup& group, Symmetric dest, const std::byte* source, const Offsets& offsets) noexcept {
  Collect(group, dest.pe0, source, offsets).run();
}

void fcollect_remote(TeamGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes) noexcept {
  Offsets offsets;
  for (int pe = 0; pe <= group.size(); ++pe) offsets.push_back(static_cast<std::uint64_t>(pe) * bytes);
  Collect(group, dest.pe0, source, offsets).run();
}

}  // namespace shmemx::coll
