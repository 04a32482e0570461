// Which node each PE is on, in few bytes where placement is regular: runs of PEs on one node, or on nodes whose numbers
// follow each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace shmemx::bootstrap {

class NodeRuns {
 public:
  NodeRuns() = default;
  NodeRuns(std::initializer_list<std::uint32_t> nodes) {
    for (const std::uint32_t node : nodes) add(node);
  }

  // The next PE is on `node`.
  void add(std::uint32_t node) {
    const std::size_t length = runs_.empty() ? 0 : n_pes_ - runs_.back().first_pe;
    if (length == 1 && node <= runs_.back().node + 1 && node >= runs_.back().node)
      runs_.back().step = node - runs_.back().node;
    else if (length == 0 || node != runs_.back().at(n_pes_))
      runs_.push_back({n_pes_, node, 0});
    ++n_pes_;
  }
  bool empty() const noexcept { return n_pes_ == 0; }
  std::size_t n_pes() const noexcept { return n_pes_; }
  std::size_t bytes() const noexcept { return runs_.capacity() * sizeof(Run); }
  std::uint32_t of(std::uint32_t pe) const noexcept {
    const auto next = std::upper_bound(runs_.begin(), runs_.end(), pe,
                                       [](std::uint32_t number, const Run& run) { return number < run.first_pe; });
    return (next - 1)->at(pe);
  }
  // Calls use(pe, node) for each PE, in ascending order.
  template <class Use>
  void for_each(const Use& use) const {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::uint32_t end = i + 1 < runs_.size() ? runs_[i + 1].first_pe : n_pes_;
      for (std::uint32_t pe = runs_[i].first_pe; pe < end; ++pe) use(static_cast<int>(pe), runs_[i].at(pe));
    }
  }
  friend bool operator==(const NodeRuns& left, const NodeRuns& right) {
    return left.n_pes_ == right.n_pes_ && left.runs_ == right.runs_;
  }

 private:
  struct Run {
    std::uint32_t first_pe;
    std::uint32_t node;
    std::uint32_t step;  // 0 or 1: to the node of the next PE
    std::uint32_t at(std::uint32_t pe) const noexcept { return node + (pe - first_pe) * step; }
    friend bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Run> runs_;
  std::uint32_t n_pes_ = 0;
};

}  // namespace shmemx::bootstrap
