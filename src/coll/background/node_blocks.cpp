// fcollect and alltoall where members share nodes: a block crosses to another node once, short ones cross together.
#include <algorithm>

#include "coll/background/schedule.hpp"

namespace shmemx::coll::background {
namespace {

// Leaders gather the blocks of their nodes, exchange them in as many rounds as the number of nodes has bits, and send
// all to the members of their nodes. Nodes are counted from this one on, cyclically.
class LeaderFcollect {
 public:
  LeaderFcollect(const Members& members, const Equal& blocks, ListedSchedule& schedule)
      : nodes_(*members.nodes), blocks_(blocks), total_(index_of(members.size) * blocks.bytes), schedule_(schedule) {}

  void make() {
    if (!nodes_.leads()) {
      schedule_.add().send(nodes_.leader(nodes_.mine), blocks_.source, blocks_.bytes);
      schedule_.add().receive(nodes_.leader(nodes_.mine), blocks_.dest, total_);
      return;
    }
    all_ = schedule_.take_scratch(total_);
    gather();
    for (int distance = 1; distance < nodes_.count(); distance *= 2) exchange(distance);
    unpack(schedule_.add());
    Round& last = schedule_.add();
    for (const int pe : nodes_.here().subspan(1)) last.send(pe, blocks_.dest, total_);
  }

 private:
  void gather() {
    const NodeMembers here = nodes_.here();
    Round& round = schedule_.add();
    round.copy(all_, blocks_.source, blocks_.bytes);
    for (std::size_t i = 1; i < here.size(); ++i) round.receive(here[i], all_ + i * blocks_.bytes, blocks_.bytes);
  }

  // Bytes of `count` nodes from `first` on.
  std::size_t bytes_of(int first, int count) const {
    const int end = first + count;
    const auto before = [this](int node) { return nodes_.begin[index_of(node)]; };
    const int n = end <= nodes_.count() ? before(end) - before(first)
                                        : before(nodes_.count()) - before(first) + before(end - nodes_.count());
    return index_of(n) * blocks_.bytes;
  }

  void exchange(int distance) {
    const int more = std::min(distance, nodes_.count() - distance);
    Round& round = schedule_.add();
    round.receive(nodes_.leader(nodes_.ahead(distance)), all_ + bytes_of(nodes_.mine, distance),
                  bytes_of(nodes_.ahead(distance), more));
    round.send(nodes_.leader(nodes_.behind(distance)), all_, bytes_of(nodes_.mine, more));
  }

  // Members that follow each other are copied at once.
  void unpack(Round& round) const {
    const std::byte* from = all_;
    for (int i = 0; i < nodes_.count(); ++i) {
      int first = -1, count = 0;
      const auto copy_run = [&] {
        round.copy(blocks_.dest + index_of(std::max(first, 0)) * blocks_.bytes, from, index_of(count) * blocks_.bytes);
        from += index_of(count) * blocks_.bytes;
      };
      for (const int pe : nodes_.on(nodes_.ahead(i))) {
        if (first >= 0 && pe == first + count) {
          ++count;
          continue;
        }
        copy_run();
        first = pe;
        count = 1;
      }
      copy_run();
    }
  }

  const TeamNodes& nodes_;
  const Equal& blocks_;
  const std::size_t total_;
  ListedSchedule& schedule_;
  std::byte* all_ = nullptr;
};

// Each block crosses to one member of each other node, which passes it on there. While the blocks of one node are
// passed on, those of the next one cross.
class PassedFcollect {
 public:
  PassedFcollect(const Members& members, const Equal& blocks, ListedSchedule& schedule)
      : me_(members.me), nodes_(*members.nodes), blocks_(blocks), schedule_(schedule) {}

  void make() {
    Round* round = &schedule_.add();
    round->copy(at(me_), blocks_.source, blocks_.bytes);
    for (const int peer : nodes_.here()) {
      if (peer == me_) continue;
      round->receive(peer, at(peer), blocks_.bytes);
      round->send(peer, blocks_.source, blocks_.bytes);
    }
    for (int distance = 1; distance < nodes_.count(); ++distance) {
      cross(*round, distance);
      round = &schedule_.add();
      pass_on(*round, distance);
    }
  }

 private:
  std::byte* at(int member) const { return blocks_.dest + index_of(member) * blocks_.bytes; }
  // The one of this node that receives the block of the i-th member of another one.
  int receiver_of(std::size_t i) const { return nodes_.here()[i % nodes_.here().size()]; }

  void cross(Round& round, int distance) const {
    const NodeMembers there = nodes_.on(nodes_.ahead(distance));
    round.send(there[index_of(nodes_.index) % there.size()], blocks_.source, blocks_.bytes);
    const NodeMembers from = nodes_.on(nodes_.behind(distance));
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (receiver_of(i) == me_) round.receive(from[i], at(from[i]), blocks_.bytes);
    }
  }

  void pass_on(Round& round, int distance) const {
    const NodeMembers from = nodes_.on(nodes_.behind(distance));
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (receiver_of(i) != me_) {
        round.receive(receiver_of(i), at(from[i]), blocks_.bytes);
        continue;
      }
      for (const int peer : nodes_.here()) {
        if (peer != me_) round.send(peer, at(from[i]), blocks_.bytes);
      }
    }
  }

  const int me_;
  const TeamNodes& nodes_;
  const Equal& blocks_;
  ListedSchedule& schedule_;
};

// Leaders gather all blocks of their nodes, exchange what is for each other's nodes, and send the members theirs.
class LeaderAlltoall {
 public:
  LeaderAlltoall(const Members& members, const Equal& blocks, ListedSchedule& schedule)
      : nodes_(*members.nodes), blocks_(blocks), total_(index_of(members.size) * blocks.bytes), schedule_(schedule) {}

  void make() {
    if (!nodes_.leads()) {
      schedule_.add().send(nodes_.leader(nodes_.mine), blocks_.source, total_);
      schedule_.add().receive(nodes_.leader(nodes_.mine), blocks_.dest, total_);
      return;
    }
    const std::size_t all = nodes_.here().size() * total_;
    members_ = schedule_.take_scratch(3 * all);
    packed_ = members_ + all;
    received_ = packed_ + all;
    gather(schedule_.add());
    exchange(schedule_.add());
    Round& last = schedule_.add();
    for (std::size_t i = 1; i < nodes_.here().size(); ++i) last.send(nodes_.here()[i], members_ + i * total_, total_);
  }

 private:
  // Where the blocks from this node to another one lie in what is packed, and those from it in what is received.
  std::size_t place_of(int node) const {
    return index_of(nodes_.begin[index_of(node)]) * nodes_.here().size() * blocks_.bytes;
  }
  std::size_t bytes_with(int node) const {
    return index_of(nodes_.size_of(node)) * nodes_.here().size() * blocks_.bytes;
  }

  // Blocks of one sender follow each other.
  void gather(Round& round) const {
    const NodeMembers here = nodes_.here();
    round.copy(members_, blocks_.source, total_);
    for (std::size_t i = 1; i < here.size(); ++i) round.receive(here[i], members_ + i * total_, total_);
    for (int node = 0; node < nodes_.count(); ++node) {
      std::byte* at = packed_ + place_of(node);
      for (std::size_t i = 0; i < here.size(); ++i) {
        for (const int to : nodes_.on(node)) {
          round.copy(at, members_ + i * total_ + index_of(to) * blocks_.bytes, blocks_.bytes);
          at += blocks_.bytes;
        }
      }
    }
  }

  void exchange(Round& round) const {
    for (int distance = 1; distance < nodes_.count(); ++distance) {
      const int from = nodes_.behind(distance);
      const int to = nodes_.ahead(distance);
      round.receive(nodes_.leader(from), received_ + place_of(from), bytes_with(from));
      round.send(nodes_.leader(to), packed_ + place_of(to), bytes_with(to));
    }
    round.copy(received_ + place_of(nodes_.mine), packed_ + place_of(nodes_.mine), bytes_with(nodes_.mine));
    for (int node = 0; node < nodes_.count(); ++node) unpack(round, node);
  }

  // The sources have been packed, so the members' results take their place.
  void unpack(Round& round, int node) const {
    const std::byte* at = received_ + place_of(node);
    for (const int from : nodes_.on(node)) {
      for (std::size_t i = 0; i < nodes_.here().size(); ++i) {
        std::byte* const dest = i == 0 ? blocks_.dest : members_ + i * total_;
        round.copy(dest + index_of(from) * blocks_.bytes, at, blocks_.bytes);
        at += blocks_.bytes;
      }
    }
  }

  const TeamNodes& nodes_;
  const Equal& blocks_;
  const std::size_t total_;
  ListedSchedule& schedule_;
  std::byte* members_ = nullptr;  // source or result of each member of this node
  std::byte* packed_ = nullptr;   // what goes to each node
  std::byte* received_ = nullptr;
};

template <class Maker>
ScheduleOwner schedule_of(const Members& members, const Equal& blocks) {
  auto schedule = std::make_unique<ListedSchedule>();
  Maker(members, blocks, *schedule).make();
  return schedule;
}

}  // namespace

ScheduleOwner make_leader_fcollect(const Members& members, const Equal& blocks) noexcept {
  return schedule_of<LeaderFcollect>(members, blocks);
}

ScheduleOwner make_passed_fcollect(const Members& members, const Equal& blocks) noexcept {
  return schedule_of<PassedFcollect>(members, blocks);
}

ScheduleOwner make_leader_alltoall(const Members& members, const Equal& blocks) noexcept {
  return schedule_of<LeaderAlltoall>(members, blocks);
}

}  // namespace shmemx::coll::background
