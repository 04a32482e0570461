// Schedules of collectives that run in the background: what one member sends, receives, combines and copies, round by
// round. A schedule depends on the arguments, the member and the nodes alone, so members need not agree on anything
// else. Those with few rounds are made at once, others produce theirs one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/recycled_memory.hpp"
#include "coll/background/round.hpp"
#include "coll/common/nodes.hpp"

namespace shmemx::coll::background {

// Numbers of members and nodes are ints, as PEs are.
inline std::size_t index_of(int i) { return static_cast<std::size_t>(i); }

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

// The root copies `source` to its own `dest`; the others have no source.
struct Broadcast {
  std::byte* dest;
  const std::byte* source;
  std::size_t bytes;
  int root;
};
ScheduleOwner make_broadcast(const Members& members, const Broadcast& broadcast) noexcept;

// One block for each member, or from each: all of `bytes`, `stride` apart, or, with counts, as the arrays say, which
// have to stay until the end.
struct Blocks {
  std::byte* base;  // only read where blocks are sent
  std::size_t bytes;
  std::size_t stride;
  const std::size_t* counts = nullptr;
  const std::size_t* displs = nullptr;

  std::byte* at(int member) const noexcept {
    const auto i = static_cast<std::size_t>(member);
    return base + (counts == nullptr ? i * stride : displs[i]);
  }
  std::size_t size_of(int member) const noexcept {
    return counts == nullptr ? bytes : counts[static_cast<std::size_t>(member)];
  }
};
// Each member sends block i of `out` to member i, which receives it as the block of this member in `in`.
struct Exchange {
  Blocks out;
  Blocks in;
  bool sends_empty = true;  // else both sides know which blocks are empty
};
ScheduleOwner make_pairwise_exchange(const Members& members, const Exchange& exchange) noexcept;

// fcollect and alltoall, of `bytes` a block.
struct Equal {
  std::byte* dest;
  const std::byte* source;
  std::size_t bytes;
};
ScheduleOwner make_fcollect(const Members& members, const Equal& blocks) noexcept;
ScheduleOwner make_alltoall(const Members& members, const Equal& blocks) noexcept;
// Blocks up to this size take log2 rounds; without a value make_alltoall chooses. The same on all members.
void set_alltoall_mesh(std::optional<std::uint64_t> most_bytes) noexcept;
// By nodes of which some have several members: by their leaders, or passed on there.
ScheduleOwner make_leader_fcollect(const Members& members, const Equal& blocks) noexcept;
ScheduleOwner make_passed_fcollect(const Members& members, const Equal& blocks) noexcept;
ScheduleOwner make_leader_alltoall(const Members& members, const Equal& blocks) noexcept;
ScheduleOwner make_gathered_alltoall(const Members& members, const Equal& blocks) noexcept;
// In a logarithmic number of rounds, for short blocks.
ScheduleOwner make_short_fcollect(const Members& members, const Equal& blocks) noexcept;
ScheduleOwner make_short_alltoall(const Members& members, const Equal& blocks) noexcept;

// The arrays have to stay until the end.
struct AlltoallV {
  const char* routine;
  std::byte* dest;
  std::size_t dest_bytes;
  const std::size_t* dest_counts;  // null: the lengths are exchanged first
  const std::size_t* dest_displs;  // null: the blocks follow each other, as with `source_displs`
  const std::byte* source;
  const std::size_t* source_counts;
  const std::size_t* source_displs;
  std::size_t* received;       // null, or where the lengths go
  const void* site = nullptr;  // where the call returns to
};
// Where blocks of these lengths lie that follow each other.
std::vector<std::size_t> alltoallv_displs(const AlltoallV& arguments, const std::size_t* counts, int size);
// Ends the job if the block does not fit into dest.
void check_alltoallv_block(const AlltoallV& arguments, std::size_t member, std::size_t at, std::size_t bytes);
// Ends the job if the block of `me` for itself is expected with another length, of these, than it is sent with.
void check_own_block(const AlltoallV& arguments, const std::size_t* counts, int me);
ScheduleOwner make_alltoallv(const Members& members, const AlltoallV& arguments) noexcept;
// Short blocks with their lengths through members that gather them for one member of another node. Long blocks follow
// from each to each, or, if the caller knows the lengths, by a second schedule, which make_alltoallv_apart() returns
// then: the two run at once as two collectives.
ScheduleOwner make_gathered_alltoallv(const Members& members, const AlltoallV& arguments) noexcept;
ScheduleOwner make_alltoallv_apart(const Members& members, const AlltoallV& arguments) noexcept;

}  // namespace shmemx::coll::background
