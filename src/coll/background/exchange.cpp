// Each member sends a block to each other one directly, a few at a time.
#include <algorithm>
#include <optional>

#include "coll/background/schedule.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll::background {
namespace {

class PairwiseExchange final : public Schedule {
 public:
  PairwiseExchange(const Members& members, const Exchange& exchange)
      : me_(members.me), size_(members.size), exchange_(exchange) {}

  bool next(Round& out) noexcept override {
    if (distance_ == size_) return false;
    if (distance_ == 0) {
      out.copy(exchange_.in.at(me_), exchange_.out.at(me_), exchange_.out.size_of(me_));
      ++distance_;
    }
    for (int i = 0; i < kBackgroundWindow && distance_ < size_; ++i, ++distance_) add(out);
    return true;
  }

 private:
  void add(Round& round) const {
    const int from = (me_ - distance_ + size_) % size_;
    const int to = static_cast<int>((static_cast<long>(me_) + distance_) % size_);
    if (exchange_.sends_empty || exchange_.in.size_of(from) != 0)
      round.receive(from, exchange_.in.at(from), exchange_.in.size_of(from));
    if (exchange_.sends_empty || exchange_.out.size_of(to) != 0)
      round.send(to, exchange_.out.at(to), exchange_.out.size_of(to));
  }

  const int me_;
  const int size_;
  const Exchange exchange_;
  int distance_ = 0;  // of the members that are next
};

constinit std::optional<std::uint64_t> alltoall_mesh;  // written before the first collective

}  // namespace

ScheduleOwner make_pairwise_exchange(const Members& members, const Exchange& exchange) noexcept {
  return std::make_unique<PairwiseExchange>(members, exchange);
}

ScheduleOwner make_fcollect(const Members& members, const Equal& blocks) noexcept {
  switch (background_fcollect(*members.nodes, blocks.bytes)) {
    case BackgroundBlocks::leaders:
      return make_leader_fcollect(members, blocks);
    case BackgroundBlocks::passed:
      return make_passed_fcollect(members, blocks);
    case BackgroundBlocks::rounds:
      return make_short_fcollect(members, blocks);
    case BackgroundBlocks::gathered:
    case BackgroundBlocks::pairs:
      break;
  }
  return make_pairwise_exchange(members, {.out = {const_cast<std::byte*>(blocks.source), blocks.bytes, 0},
                                          .in = {blocks.dest, blocks.bytes, blocks.bytes}});
}

void set_alltoall_mesh(std::optional<std::uint64_t> most_bytes) noexcept { alltoall_mesh = most_bytes; }

ScheduleOwner make_alltoall(const Members& members, const Equal& blocks) noexcept {
  const BackgroundBlocks how = background_alltoall(*members.nodes, blocks.bytes, alltoall_mesh);
  if (how == BackgroundBlocks::leaders) return make_leader_alltoall(members, blocks);
  if (how == BackgroundBlocks::gathered) return make_gathered_alltoall(members, blocks);
  if (how == BackgroundBlocks::rounds) return make_short_alltoall(members, blocks);
  return make_pairwise_exchange(members, {.out = {const_cast<std::byte*>(blocks.source), blocks.bytes, blocks.bytes},
                                          .in = {blocks.dest, blocks.bytes, blocks.bytes}});
}

}  // namespace shmemx::coll::background
