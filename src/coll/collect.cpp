// fcollect and collect over several nodes. Each PE stores its contribution into the dest of its node peers. Then either
// the leaders exchange what their nodes have, or each PE sends its own to one PE of every other node, which hands it
// on.
#include <cstring>

#include "coll/leader_gather.hpp"
#include "coll/leaders.hpp"
#include "coll/member_access.hpp"
#include "coll/remote.hpp"
#include "coll/select.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {
namespace {

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
    if (select::gather_by_leaders(nodes_, offsets_.back())) {
      by_leaders();
    } else {
      by_all();
    }
  }

 private:
  std::size_t bytes_of(int pe) const {
    const auto index = static_cast<std::size_t>(pe);
    return offsets_[index + 1] - offsets_[index];
  }
  std::byte* place_of(int pe) const { return dest_ + offsets_[static_cast<std::size_t>(pe)]; }

  // The contribution of `owner` into the dest of a node peer.
  void store(int peer, int owner, const std::byte* data) const {
    if (bytes_of(owner) != 0) rma::copy(mapped_copy(team_.route, place_of(owner), peer), data, bytes_of(owner));
  }

  void by_leaders() {
    const std::uint64_t epoch = ++team_.epoch;
    if (!gather_at_leader(team_, group_.routine(), epoch)) return;
    std::vector<std::size_t> bytes(static_cast<std::size_t>(nodes_.count()), 0);
    for (int node = 0; node < nodes_.count(); ++node) {
      for (const int pe : nodes_.on(node)) bytes[static_cast<std::size_t>(node)] += bytes_of(pe);
    }
    LeaderGather all(team_, group_.routine(), bytes);
    std::byte* at = all.own();
    for (const int pe : nodes_.here()) {
      if (bytes_of(pe) != 0) std::memcpy(at, place_of(pe), bytes_of(pe));
      at += bytes_of(pe);
    }
    all.exchange(epoch);
    for (int node = 0; node < nodes_.count(); ++node) {
      if (node != nodes_.mine) hand_out(node, all.of(node));
    }
    release_node(team_, group_.routine(), epoch);
  }

  void hand_out(int node, const std::byte* data) const {
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
      const int to = there[static_cast<std::size_t>(nodes_.rank) % there.size()];
      put_with_flag(group_, to, bytes_of(team_.me()) == 0 ? dest_ : place_of(team_.me()),
                    {source_, bytes_of(team_.me())}, epoch);
    }
    for (int i = 1; i < n; ++i) take_from(nodes_.on(nodes_.behind(i)), epoch);
    sync_node(team_, group_.routine());
  }

  // Those of another node that send to this PE.
  void take_from(std::span<const int> there, std::uint64_t epoch) {
    const auto here = nodes_.here();
    for (auto rank = static_cast<std::size_t>(nodes_.rank); rank < there.size(); rank += here.size()) {
      const int owner = there[rank];
      await_flag(team_, group_.routine(), owner, epoch);
      for (const int peer : here) {
        if (peer != team_.me()) store(peer, owner, place_of(owner));
      }
    }
  }

  TeamGroup& group_;
  Team& team_;
  const TeamNodes& nodes_;
  std::byte* dest_;
  const std::byte* source_;
  const Offsets& offsets_;
};

// The words of all members in the order of nodes_.members, known to leaders.
LeaderGather gather_words(TeamGroup& group, std::uint64_t epoch) {
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  std::vector<std::size_t> bytes;
  for (int node = 0; node < nodes.count(); ++node)
    bytes.push_back(sizeof(std::uint64_t) * static_cast<std::size_t>(nodes.size_of(node)));
  LeaderGather all(team, group.routine(), bytes);
  std::byte* at = all.own();
  for (const int pe : nodes.here()) {
    std::memcpy(at, team.scratch(pe, team.exchanges & 1), sizeof(std::uint64_t));
    at += sizeof(std::uint64_t);
  }
  all.exchange(epoch);
  return all;
}

void words_in_order(const TeamNodes& nodes, const LeaderGather& all, std::vector<std::uint64_t>& words) {
  for (int node = 0; node < nodes.count(); ++node) {
    const std::byte* at = all.of(node);
    for (const int pe : nodes.on(node)) {
      std::memcpy(&words[static_cast<std::size_t>(pe)], at, sizeof(std::uint64_t));
      at += sizeof(std::uint64_t);
    }
  }
}

// Through the leader's scratch area, as much at a time as it holds.
void share_with_node(TeamGroup& group, std::vector<std::uint64_t>& words, std::uint64_t first_epoch) {
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  constexpr std::size_t kWords = windows::kScratchBytes / sizeof(std::uint64_t);
  std::byte* const area = team.scratch(nodes.leader(nodes.mine), team.exchanges & 1);
  std::uint64_t epoch = first_epoch;
  for (std::size_t at = 0; at < words.size(); at += kWords) {
    const std::size_t bytes = sizeof(std::uint64_t) * std::min(kWords, words.size() - at);
    const bool first = at == 0;  // all have come together already
    if (!first) epoch = ++team.epoch;
    if (nodes.leads()) {
      if (!first) static_cast<void>(gather_at_leader(team, group.routine(), epoch));
      std::memcpy(area, words.data() + at, bytes);
      release_node(team, group.routine(), epoch);
    } else {
      static_cast<void>(gather_at_leader(team, group.routine(), epoch));
      std::memcpy(words.data() + at, area, bytes);
    }
  }
}

std::vector<std::uint64_t> exchange_words(TeamGroup& group, std::uint64_t word) {
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  std::memcpy(team.scratch(team.me(), ++team.exchanges & 1), &word, sizeof word);
  const std::uint64_t epoch = ++team.epoch;
  std::vector<std::uint64_t> words(static_cast<std::size_t>(team.size()));
  if (nodes.leads()) {
    static_cast<void>(gather_at_leader(team, group.routine(), epoch));
    words_in_order(nodes, gather_words(group, epoch), words);
  }
  share_with_node(group, words, epoch);
  return words;
}

}  // namespace

Offsets exchange_lengths(TeamGroup& group, std::uint64_t bytes) noexcept {
  Offsets offsets{0};
  for (const std::uint64_t length : exchange_words(group, bytes)) offsets.push_back(offsets.back() + length);
  return offsets;
}

void collect_remote(TeamGroup& group, Symmetric dest, const std::byte* source, const Offsets& offsets) noexcept {
  Collect(group, dest.pe0, source, offsets).run();
}

void fcollect_remote(TeamGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes) noexcept {
  Offsets offsets;
  for (int pe = 0; pe <= group.size(); ++pe) offsets.push_back(static_cast<std::uint64_t>(pe) * bytes);
  Collect(group, dest.pe0, source, offsets).run();
}

}  // namespace shmemx::coll
