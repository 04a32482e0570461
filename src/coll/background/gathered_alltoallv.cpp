// alltoall of blocks of different lengths where members share nodes. Each member packs its short blocks, with the
// lengths of all, for the members of its node; each of these gathers what the node has for some members of other nodes
// and sends it to them. So a message crosses from a node to a member, and nobody needs to know lengths before. Long
// blocks go from each member to each other one: in a schedule of their own, which runs meanwhile, if the caller knows
// all lengths, else afterwards.
//
// A package: the length of each block, those that travel apart included, then the short blocks in that order.
#include <algorithm>

#include "base/fatal.hpp"
#include "coll/background/schedule.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll::background {
namespace {

// A package that is read block by block.
class Package {
 public:
  Package(const std::byte* at, std::size_t blocks, std::size_t most_short)
      : lengths_(at), data_(at + blocks * sizeof(std::size_t)), most_short_(most_short) {}

  struct Block {
    std::size_t bytes;
    const std::byte* data;  // null: it travels apart
  };
  Block take() {
    Block block{0, data_};
    std::memcpy(&block.bytes, lengths_, sizeof block.bytes);
    lengths_ += sizeof block.bytes;
    if (block.bytes > most_short_) {
      block.data = nullptr;
    } else {
      data_ += block.bytes;
    }
    return block;
  }

 private:
  const std::byte* lengths_;
  const std::byte* data_;
  std::size_t most_short_;
};

// The blocks that are not gathered, and the member's own one.
class ApartAlltoallv final : public Schedule {
 public:
  ApartAlltoallv(const Members& members, std::size_t most_short, const AlltoallV& arguments, const std::size_t* lengths)
      : out_(arguments.source_counts, arguments.source_counts + members.size), in_(lengths, lengths + members.size) {
    out_displs_ = places(arguments, arguments.source_displs, arguments.source_counts, members.size);
    in_displs_ = places(arguments, arguments.dest_displs, lengths, members.size);
    const auto me = index_of(members.me);
    check_own_block(arguments, lengths, members.me);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      check_alltoallv_block(arguments, i, in_displs_[i], in_[i]);
      if (i == me) continue;
      if (out_[i] <= most_short) out_[i] = 0;
      if (in_[i] <= most_short) in_[i] = 0;
    }
    blocks_ = make_pairwise_exchange(
        members, {.out = {const_cast<std::byte*>(arguments.source), 0, 0, out_.data(), out_displs_.data()},
                  .in = {arguments.dest, 0, 0, in_.data(), in_displs_.data()},
                  .sends_empty = false});
  }
  bool next(Round& out) noexcept override { return blocks_->next(out); }

 private:
  static std::vector<std::size_t> places(const AlltoallV& arguments, const std::size_t* given,
                                         const std::size_t* counts, int size) {
    if (given != nullptr) return {given, given + size};
    return alltoallv_displs(arguments, counts, size);
  }

  std::vector<std::size_t> out_, out_displs_, in_, in_displs_;
  ScheduleOwner blocks_;
};

ScheduleOwner exchange_apart(const Members& members, std::size_t most_short, const AlltoallV& arguments,
                             const std::size_t* lengths) {
  return std::make_unique<ApartAlltoallv>(members, most_short, arguments, lengths);
}

// Another node.
struct OtherNode {
  std::vector<int> members;
  std::vector<int> targets;  // members of the node `distance` places ahead that this one gathers for
  int gatherer;              // member of the node as many places behind that gathers for this one
  std::byte* received;
};

// Who gathers for whom.
struct GatherPlan {
  int me;
  int size;
  std::size_t index;  // on the node
  std::vector<int> here;
  std::vector<std::vector<int>> through;  // by member of this node: itself, and those that it gathers for
  std::vector<OtherNode> others;          // by distance

  explicit GatherPlan(const Members& members)
      : me(members.me), size(members.size), index(index_of(members.nodes->index)) {
    const TeamNodes& nodes = *members.nodes;
    here.assign(nodes.here().begin(), nodes.here().end());
    through.resize(here.size());
    for (std::size_t i = 0; i < here.size(); ++i) through[i].push_back(here[i]);
    for (int distance = 1; distance < nodes.count(); ++distance) {
      const NodeMembers from = nodes.on(nodes.behind(distance));
      OtherNode& node = others.emplace_back();
      node.members.assign(from.begin(), from.end());
      node.gatherer = from[index % from.size()];
      const NodeMembers to = nodes.on(nodes.ahead(distance));
      for (std::size_t i = 0; i < to.size(); ++i) {
        through[i % here.size()].push_back(to[i]);
        if (i % here.size() == index) node.targets.push_back(to[i]);
      }
    }
  }
};

class GatheredAlltoallv final : public Schedule {
 public:
  GatheredAlltoallv(const Members& members, const AlltoallV& arguments)
      : plan_(members), most_short_(gathered_block_bytes(*members.nodes)), arguments_(arguments) {
    found_.blocks.resize(index_of(plan_.size));
    if (arguments.source_displs == nullptr) own_displs_ = displs_of(arguments.source_counts);
    reserve();
  }

  bool next(Round& out) noexcept override {
    switch (phase_) {
      case Phase::pack:
        pack(out);
        phase_ = Phase::here;
        return true;
      case Phase::here:
        exchange_packages(out);
        phase_ = Phase::gather;
        return true;
      case Phase::gather:
        gather(out);
        phase_ = Phase::cross;
        return true;
      case Phase::cross:
        if (next_.node != plan_.others.size()) {
          cross(out);
          return true;
        }
        unpack(out);
        phase_ = Phase::apart;
        return true;
      case Phase::apart:
        return apart_ != nullptr && apart_->next(out);
    }
    return false;
  }

 private:
  enum class Phase : std::uint8_t { pack, here, gather, cross, apart };

  struct Packages {
    RecycledMemory memory;
    std::byte* packed = nullptr;     // for each other member of this node
    std::byte* from_here = nullptr;  // from each member of this node
    RecycledMemory gathered;
    std::vector<const std::byte*> gathered_ends;  // of the package for each target
  };
  // What crosses next.
  struct Next {
    std::size_t node = 0;
    std::size_t target = 0;
  };
  // What has come, by member.
  struct Found {
    std::vector<Package::Block> blocks;
    std::vector<std::size_t> lengths;
    std::vector<std::size_t> displs;  // in dest
  };

  std::size_t most_bytes(std::size_t blocks) const { return blocks * (sizeof(std::size_t) + most_short_); }
  std::size_t bytes_to(int member) const { return arguments_.source_counts[index_of(member)]; }
  bool is_short(std::size_t bytes) const { return bytes <= most_short_; }
  const std::byte* source_for(int member) const {
    const std::size_t* const displs = own_displs_.empty() ? arguments_.source_displs : own_displs_.data();
    return arguments_.source + displs[index_of(member)];
  }

  void reserve() {
    std::size_t packed = 0;
    for (const std::vector<int>& targets : plan_.through) packed += package_bytes(targets);
    std::size_t received = plan_.here.size() * most_bytes(plan_.through[plan_.index].size());
    for (const OtherNode& node : plan_.others) received += most_bytes(node.members.size());
    packages_.memory = take_memory(packed + received);
    packages_.packed = packages_.memory.get();
    packages_.from_here = packages_.packed + packed;
    std::byte* at = packages_.from_here + plan_.here.size() * most_bytes(plan_.through[plan_.index].size());
    for (OtherNode& node : plan_.others) {
      node.received = at;
      at += most_bytes(node.members.size());
    }
  }
  std::size_t package_bytes(const std::vector<int>& targets) const {
    std::size_t bytes = targets.size() * sizeof(std::size_t);
    for (const int member : targets) bytes += is_short(bytes_to(member)) ? bytes_to(member) : 0;
    return bytes;
  }
  std::byte* package_from(std::size_t peer) const {
    return packages_.from_here + peer * most_bytes(plan_.through[plan_.index].size());
  }

  // Lengths are written at once, blocks are copied by the round.
  void pack(Round& round) const {
    std::byte* at = packages_.packed;
    for (std::size_t peer = 0; peer < plan_.here.size(); ++peer) {
      std::byte* const begin = peer == plan_.index ? package_from(plan_.index) : at;
      std::byte* data = begin + plan_.through[peer].size() * sizeof(std::size_t);
      std::byte* length = begin;
      for (const int member : plan_.through[peer]) {
        const std::size_t bytes = bytes_to(member);
        std::memcpy(length, &bytes, sizeof bytes);
        length += sizeof bytes;
        if (!is_short(bytes)) continue;
        round.copy(data, source_for(member), bytes);
        data += bytes;
      }
      if (peer != plan_.index) at = data;
    }
  }

  void exchange_packages(Round& round) const {
    const std::byte* at = packages_.packed;
    for (std::size_t peer = 0; peer < plan_.here.size(); ++peer) {
      if (peer == plan_.index) continue;
      round.receive_bounded(plan_.here[peer], package_from(peer), most_bytes(plan_.through[plan_.index].size()));
      round.send_bounded(plan_.here[peer], at, package_bytes(plan_.through[peer]));
      at += package_bytes(plan_.through[peer]);
    }
  }

  // The first block of a package of this node is for this member.
  void gather(Round& round) {
    const std::size_t blocks = plan_.through[plan_.index].size();
    std::vector<Package> packages;
    for (std::size_t peer = 0; peer < plan_.here.size(); ++peer)
      packages.emplace_back(package_from(peer), blocks, most_short_);
    for (std::size_t peer = 0; peer < plan_.here.size(); ++peer)
      found_.blocks[index_of(plan_.here[peer])] = packages[peer].take();
    std::vector<Package> sizes = packages;
    std::size_t bytes = 0;
    for (std::size_t i = 1; i < blocks; ++i) bytes += gathered_bytes(sizes);
    packages_.gathered = take_memory(bytes);
    std::byte* at = packages_.gathered.get();
    for (std::size_t i = 1; i < blocks; ++i) {
      std::byte* data = at + plan_.here.size() * sizeof(std::size_t);
      for (Package& package : packages) {
        const Package::Block block = package.take();
        std::memcpy(at, &block.bytes, sizeof block.bytes);
        at += sizeof block.bytes;
        if (block.data == nullptr) continue;
        round.copy(data, block.data, block.bytes);
        data += block.bytes;
      }
      packages_.gathered_ends.push_back(at = data);
    }
  }
  std::size_t gathered_bytes(std::vector<Package>& packages) const {
    std::size_t bytes = packages.size() * sizeof(std::size_t);
    for (Package& package : packages) {
      const Package::Block block = package.take();
      bytes += block.data == nullptr ? 0 : block.bytes;
    }
    return bytes;
  }

  void cross(Round& round) {
    for (int i = 0; i < kBackgroundWindow && next_.node != plan_.others.size(); ++i) {
      const OtherNode& node = plan_.others[next_.node++];
      for (const int target : node.targets) {
        const std::byte* const begin =
            next_.target == 0 ? packages_.gathered.get() : packages_.gathered_ends[next_.target - 1];
        round.send_bounded(target, begin, static_cast<std::size_t>(packages_.gathered_ends[next_.target++] - begin));
      }
      round.receive_bounded(node.gatherer, node.received, most_bytes(node.members.size()));
    }
  }

  void unpack(Round& round) {
    for (const OtherNode& node : plan_.others) {
      Package package(node.received, node.members.size(), most_short_);
      for (const int member : node.members) found_.blocks[index_of(member)] = package.take();
    }
    for (const Package::Block& block : found_.blocks) found_.lengths.push_back(block.bytes);
    check_lengths();
    if (arguments_.dest_displs == nullptr) found_.displs = displs_of(found_.lengths.data());
    const std::size_t* const displs = arguments_.dest_displs == nullptr ? found_.displs.data() : arguments_.dest_displs;
    for (std::size_t i = 0; i < found_.lengths.size(); ++i) {
      check_alltoallv_block(arguments_, i, displs[i], found_.lengths[i]);
      if (i != index_of(plan_.me) && is_short(found_.lengths[i]))
        round.copy(arguments_.dest + displs[i], found_.blocks[i].data, found_.lengths[i]);
    }
    if (arguments_.received != nullptr) std::copy(found_.lengths.begin(), found_.lengths.end(), arguments_.received);
    if (arguments_.dest_counts == nullptr)
      apart_ = exchange_apart({plan_.me, plan_.size, nullptr, false}, most_short_, arguments_, found_.lengths.data());
  }

  void check_lengths() const {
    if (arguments_.dest_counts == nullptr) return;
    for (std::size_t i = 0; i < found_.lengths.size(); ++i) {
      if (found_.lengths[i] == arguments_.dest_counts[i]) continue;
      fatal(arguments_.routine, "PE %zu of the team has sent %zu bytes, this PE expects %zu", i, found_.lengths[i],
            arguments_.dest_counts[i]);
    }
  }

  std::vector<std::size_t> displs_of(const std::size_t* counts) const {
    return alltoallv_displs(arguments_, counts, plan_.size);
  }

  GatherPlan plan_;
  const std::size_t most_short_;  // longer blocks travel apart
  const AlltoallV arguments_;
  std::vector<std::size_t> own_displs_;  // of the source; empty: the caller has some
  Packages packages_;
  Next next_;
  Found found_;
  ScheduleOwner apart_;
  Phase phase_ = Phase::pack;
};

}  // namespace

ScheduleOwner make_gathered_alltoallv(const Members& members, const AlltoallV& arguments) noexcept {
  return std::make_unique<GatheredAlltoallv>(members, arguments);
}

ScheduleOwner make_alltoallv_apart(const Members& members, const AlltoallV& arguments) noexcept {
  const bool knows_lengths = arguments.dest_counts != nullptr;
  if (!knows_lengths || !gathers_alltoallv(*members.nodes, knows_lengths)) return nullptr;
  return exchange_apart(members, gathered_block_bytes(*members.nodes), arguments, arguments.dest_counts);
}

}  // namespace shmemx::coll::background
