// alltoall of blocks of different lengths: the lengths, if this side does not know them, then the blocks.
#include "base/fatal.hpp"
#include "coll/background/schedule.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll::background {
namespace {

class VariableAlltoall final : public Schedule {
 public:
  VariableAlltoall(const Members& members, const AlltoallV& arguments)
      : me_(members.me), size_(members.size), arguments_(arguments) {
    const auto n = static_cast<std::size_t>(size_);
    if (arguments.source_displs == nullptr) own_displs_ = alltoallv_displs(arguments, arguments.source_counts, size_);
    if (arguments.dest_counts == nullptr) {
      lengths_.resize(n);
      phase_ = make_alltoall(members, {reinterpret_cast<std::byte*>(lengths_.data()),
                                       reinterpret_cast<const std::byte*>(arguments.source_counts), sizeof(size_t)});
    } else {
      phase_ = exchange(arguments.dest_counts);
    }
  }

  bool next(Round& out) noexcept override {
    if (phase_->next(out)) return true;
    if (exchanges_blocks_) return false;
    phase_ = exchange(lengths_.data());
    return phase_->next(out);
  }

 private:
  ScheduleOwner exchange(const std::size_t* counts) {
    exchanges_blocks_ = true;
    if (arguments_.dest_displs == nullptr) displs_ = alltoallv_displs(arguments_, counts, size_);
    const std::size_t* const displs = arguments_.dest_displs == nullptr ? displs_.data() : arguments_.dest_displs;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size_); ++i) {
      check_alltoallv_block(arguments_, i, displs[i], counts[i]);
      if (arguments_.received != nullptr) arguments_.received[i] = counts[i];
    }
    check_own_block(arguments_, counts, me_);
    return make_pairwise_exchange({me_, size_, nullptr, false},
                                  {.out = {const_cast<std::byte*>(arguments_.source), 0, 0, arguments_.source_counts,
                                           own_displs_.empty() ? arguments_.source_displs : own_displs_.data()},
                                   .in = {arguments_.dest, 0, 0, counts, displs},
                                   .sends_empty = arguments_.dest_counts != nullptr});
  }

  const int me_;
  const int size_;
  const AlltoallV arguments_;
  std::vector<std::size_t> own_displs_;  // of the source; empty: the caller has some
  std::vector<std::size_t> displs_;      // of dest, the same
  std::vector<std::size_t> lengths_;     // that were exchanged
  ScheduleOwner phase_;
  bool exchanges_blocks_ = false;
};

}  // namespace

std::vector<std::size_t> alltoallv_displs(const AlltoallV& arguments, const std::size_t* counts, int size) {
  std::vector<std::size_t> displs;
  std::size_t at = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); at += counts[i++]) {
    displs.push_back(at);
    if (counts[i] > ~at) fatal(arguments.routine, "the blocks of this PE are more than %zu bytes", ~std::size_t{0});
  }
  return displs;
}

void check_alltoallv_block(const AlltoallV& arguments, std::size_t member, std::size_t at, std::size_t bytes) {
  if (bytes == 0 || (at <= arguments.dest_bytes && bytes <= arguments.dest_bytes - at)) return;
  fatal(arguments.routine,
        "the block of PE %zu of the team, %zu bytes at %zu, does not fit into argument 'dest', which has %zu bytes",
        member, bytes, at, arguments.dest_bytes);
}

void check_own_block(const AlltoallV& arguments, const std::size_t* counts, int me) {
  const std::size_t sent = arguments.source_counts[index_of(me)], expected = counts[index_of(me)];
  if (sent != expected) fatal(arguments.routine, "this PE sends %zu bytes to itself and expects %zu", sent, expected);
}

ScheduleOwner make_alltoallv(const Members& members, const AlltoallV& arguments) noexcept {
  if (gathers_alltoallv(*members.nodes, arguments.dest_counts != nullptr))
    return make_gathered_alltoallv(members, arguments);
  return std::make_unique<VariableAlltoall>(members, arguments);
}

}  // namespace shmemx::coll::background
