// alltoall of blocks of medium length where members share nodes: for each member of another node one member of this
// node gathers the blocks of all, which cross in one message. Blocks travel from where they lie, without packing.
// While the blocks of some nodes cross, those of the next ones are gathered.
#include <algorithm>

#include "coll/background/schedule.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll::background {
namespace {

class GatheredAlltoall {
 public:
  GatheredAlltoall(const Members& members, const Equal& blocks, ListedSchedule& schedule)
      : me_(members.me), nodes_(*members.nodes), here_(nodes_.here().size()), blocks_(blocks), schedule_(schedule) {
    window_ = std::max(1, kBackgroundWindow / static_cast<int>(here_));
    const std::size_t most_through = (index_of(nodes_.max_size) + here_ - 1) / here_;  // one gatherer, to one node
    gathered_bytes_ = index_of(window_) * most_through * here_ * blocks.bytes;
    received_bytes_ = nodes_.in_order ? 0 : index_of(window_ * nodes_.max_size) * blocks.bytes;
  }

  void make() {
    gathered_ = schedule_.take_scratch(2 * gathered_bytes_ + received_bytes_);
    received_ = gathered_ + 2 * gathered_bytes_;
    int first = 1;  // distance of the nodes that are next
    Round* round = &schedule_.add();
    exchange_here(*round);
    gather(*round, first);
    for (; first < nodes_.count(); first += window_) {
      round = &schedule_.add();
      cross(*round, first);
      if (first + window_ < nodes_.count()) gather(*round, first + window_);
    }
  }

 private:
  std::byte* dest_of(int member) const { return blocks_.dest + index_of(member) * blocks_.bytes; }
  const std::byte* source_for(int member) const { return blocks_.source + index_of(member) * blocks_.bytes; }
  // Returns the place on this node of the member that gathers for the i-th member of another one.
  std::size_t gatherer_of(std::size_t i) const { return i % here_; }
  int end_of(int first) const { return std::min(first + window_, nodes_.count()); }
  // Where the blocks for the nodes from this distance on are gathered: two windows are under way.
  std::byte* gathered(int first) const { return gathered_ + index_of((first / window_) % 2) * gathered_bytes_; }

  void exchange_here(Round& round) const {
    round.copy(dest_of(me_), source_for(me_), blocks_.bytes);
    for (const int peer : nodes_.here()) {
      if (peer == me_) continue;
      round.receive(peer, dest_of(peer), blocks_.bytes);
      round.send(peer, source_for(peer), blocks_.bytes);
    }
  }

  void gather(Round& round, int first) const {
    std::byte* at = gathered(first);
    for (int distance = first; distance < end_of(first); ++distance) {
      const NodeMembers there = nodes_.on(nodes_.ahead(distance));
      for (std::size_t i = 0; i < there.size(); ++i) {
        const std::size_t gatherer = gatherer_of(i);
        if (gatherer != index_of(nodes_.index)) {
          round.send(nodes_.here()[gatherer], source_for(there[i]), blocks_.bytes);
          continue;
        }
        for (const int peer : nodes_.here()) {
          if (peer == me_) {
            round.copy(at, source_for(there[i]), blocks_.bytes);
          } else {
            round.receive(peer, at, blocks_.bytes);
          }
          at += blocks_.bytes;
        }
      }
    }
  }

  void cross(Round& round, int first) const {
    const std::byte* at = gathered(first);
    std::byte* received = received_;
    for (int distance = first; distance < end_of(first); ++distance) {
      const NodeMembers there = nodes_.on(nodes_.ahead(distance));
      for (std::size_t i = index_of(nodes_.index); i < there.size(); i += here_) {
        round.send(there[i], at, here_ * blocks_.bytes);
        at += here_ * blocks_.bytes;
      }
      const NodeMembers from = nodes_.on(nodes_.behind(distance));
      const int gatherer = from[index_of(nodes_.index) % from.size()];
      if (nodes_.in_order) {
        round.receive(gatherer, dest_of(from[0]), from.size() * blocks_.bytes);
        continue;
      }
      round.receive(gatherer, received, from.size() * blocks_.bytes);
      for (const int member : from) {
        round.copy(dest_of(member), received, blocks_.bytes);
        received += blocks_.bytes;
      }
    }
  }

  const int me_;
  const TeamNodes& nodes_;
  const std::size_t here_;  // members of this node
  const Equal& blocks_;
  ListedSchedule& schedule_;
  int window_;  // nodes whose blocks cross in a round
  std::size_t gathered_bytes_;
  std::size_t received_bytes_;
  std::byte* gathered_ = nullptr;
  std::byte* received_ = nullptr;
};

}  // namespace

ScheduleOwner make_gathered_alltoall(const Members& members, const Equal& blocks) noexcept {
  auto schedule = std::make_unique<ListedSchedule>();
  GatheredAlltoall(members, blocks, *schedule).make();
  return schedule;
}

}  // namespace shmemx::coll::background
