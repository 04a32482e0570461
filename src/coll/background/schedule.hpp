// Schedules of collectives that run in the background: what one member sends, receives, combines and copies, round by
// round. A schedule depends on the arguments, the member and the nodes alone, so members need not agree on anything
// else. Those with few rounds are made at once, others produce theirs one by one.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/recycled_memory.hpp"
#include "coll/background/round.hpp"
#include "coll/common/nodes.hpp"

namespace shmemx::coll::background {

class Schedule {
 public:
  Schedule() noexcept = default;
  virtual ~Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  // Writes the next round to `out`, which is empty. Returns false if there is none.
  virtual bool next(Round& out) noexcept = 0;
};
using ScheduleOwner = std::unique_ptr<Schedule>;

// Rounds that are known from the begin, and the memory that they use.
class ListedSchedule final : public Schedule {
 public:
  bool next(Round& out) noexcept override {
    if (next_ == rounds_.size()) return false;
    out = std::move(rounds_[next_++]);
    return true;
  }
  Round& add() { return rounds_.emplace_back(); }
  std::byte* take_scratch(std::size_t bytes) {
    scratch_ = take_memory(bytes);
    return scratch_.get();
  }

 private:
  std::vector<Round> rounds_;
  std::size_t next_ = 0;
  RecycledMemory scratch_;
};

// What a schedule knows of its team.
struct Members {
  int me;
  int size;
  const TeamNodes* nodes;  // valid while a schedule is made
  bool by_tree;            // reductions take the combining tree of one node (node/tree.hpp)
};

// A reduction's arguments. `dest` may be `source`.
struct Reduction {
  Operator op;
  std::byte* dest;
  const std::byte* source;
  std::size_t bytes;
};

ScheduleOwner make_barrier(const Members& members) noexcept;

// Reductions associate operands like those that block (node/reduce.hpp, internode/reduce.hpp), so that results of
// floating-point numbers have the same bits.
ScheduleOwner make_reduction(const Members& members, const Reduction& reduction) noexcept;
ScheduleOwner make_short_reduction(const Members& members, const Reduction& reduction) noexcept;
ScheduleOwner make_long_reduction(const Members& members, const Reduction& reduction) noexcept;

}  // namespace shmemx::coll::background
