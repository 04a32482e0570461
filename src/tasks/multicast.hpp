// How a multicast reaches the members of a team: along a tree of nodes, of which each gets it by one message if its
// members follow each other in the team. The receiver passes it on as the message arrives, to the members of its node
// and to the nodes that it was given; none of this needs its scheduler.
#pragma once

#include <cstdint>
#include <optional>

#include "tasks/wire.hpp"
#include "team/pe_set.hpp"

namespace shmemx::tasks {

// Members of a team that follow each other, around its end.
class MulticastPart {
 public:
  MulticastPart(const team::PeSet& team, std::uint32_t begin, std::uint32_t count) noexcept
      : team_(team), begin_(begin), count_(count) {}
  // Returns nothing if the head is damaged.
  static std::optional<MulticastPart> of(const MulticastHead& head, int n_pes) noexcept;

  std::uint32_t count() const noexcept { return count_; }
  // The world PE of its i-th member.
  int pe(std::uint32_t i) const noexcept {
    const std::uint32_t member = begin_ + i;  // of at most twice the size
    const auto size = static_cast<std::uint32_t>(team_.size());
    return team_.world(TeamPe{static_cast<int>(member < size ? member : member - size)}).value;
  }
  MulticastPart from(std::uint32_t i) const noexcept {
    const auto size = static_cast<std::uint32_t>(team_.size());
    return {team_, begin_ + i < size ? begin_ + i : begin_ + i - size, count_ - i};
  }
  MulticastPart first(std::uint32_t n) const noexcept { return {team_, begin_, n}; }
  MulticastPart one(std::uint32_t i) const noexcept { return from(i).first(1); }
  MulticastHead head(int origin) const noexcept {
    return {origin, team_.start(), team_.stride(), static_cast<std::uint32_t>(team_.size()), begin_, count_};
  }

 private:
  team::PeSet team_;
  std::uint32_t begin_;
  std::uint32_t count_;
};

inline std::optional<MulticastPart> MulticastPart::of(const MulticastHead& head, int n_pes) noexcept {
  const auto is_pe = [n_pes](std::int64_t pe) { return pe >= 0 && pe < n_pes; };
  if (head.size == 0 || head.size > static_cast<std::uint32_t>(n_pes) || head.begin >= head.size || head.count == 0 ||
      head.count > head.size || !is_pe(head.origin) || !is_pe(head.first) ||
      !is_pe(head.first + std::int64_t{head.step} * (head.size - 1)))
    return std::nullopt;
  return MulticastPart({Pe{head.first}, head.step, static_cast<int>(head.size)}, head.begin, head.count);
}

// One PE's share of a multicast. NodeOf: node_of(pe). IsReady: has the PE received all that was sent to it? Such a PE
// is likely to pass the task on soon. Send: send(pe, part) sends the task to a PE that sees to the part.
template <class NodeOf, class IsReady, class Send>
class MulticastSpread {
 public:
  MulticastSpread(int me, const NodeOf& node_of, const IsReady& is_ready, const Send& send) noexcept
      : me_(me), here_(node_of(me)), node_of_(node_of), is_ready_(is_ready), send_(send) {}

  // Returns whether the part is one for this PE, as received from another one: it is among the first members, which are
  // those of its node.
  bool holds(const MulticastPart& part) const {
    for (std::uint32_t i = 0; i < part.count() && is_here(part, i); ++i) {
      if (part.pe(i) == me_) return true;
    }
    return false;
  }

  // Sends to all members of the part but this PE. The largest parts leave first.
  void spread(MulticastPart part) const {
    part = send_to_first(part);
    while (part.count() != 0 && is_here(part, part.count() - 1)) {
      send_to_one(part, part.count() - 1);
      part = part.first(part.count() - 1);
    }
    while (part.count() != 0) {
      const std::uint32_t cut = cut_of(part);
      send_on(send_to_first(part.from(cut)));
      part = part.first(cut);
    }
  }

 private:
  bool is_here(const MulticastPart& part, std::uint32_t i) const { return node_of_(part.pe(i)) == here_; }

  void send_to_one(const MulticastPart& part, std::uint32_t i) const {
    if (part.pe(i) != me_) send_(part.pe(i), part.one(i));
  }
  // Sends to the first members that are of this node, and returns the others.
  MulticastPart send_to_first(MulticastPart part) const {
    while (part.count() != 0 && is_here(part, 0)) {
      send_to_one(part, 0);
      part = part.from(1);
    }
    return part;
  }
  // A PE of the first member's node gets the whole part.
  void send_on(const MulticastPart& part) const {
    if (part.count() == 0) return;
    const int node = node_of_(part.pe(0));
    for (std::uint32_t i = 0; i < kMostLooks && i < part.count() && node_of_(part.pe(i)) == node; ++i) {
      if (is_ready_(part.pe(i))) return send_(part.pe(i), part);
    }
    send_(part.pe(0), part);
  }
  // Returns where the second half begins: with the first member of a node.
  std::uint32_t cut_of(const MulticastPart& part) const {
    const auto begins_node = [&](std::uint32_t i) { return node_of_(part.pe(i)) != node_of_(part.pe(i - 1)); };
    const std::uint32_t middle = (part.count() + 1) / 2;
    for (std::uint32_t i = middle; i < part.count(); ++i) {
      if (begins_node(i)) return i;
    }
    for (std::uint32_t i = middle; i-- > 1;) {
      if (begins_node(i)) return i;
    }
    return 0;
  }

  static constexpr std::uint32_t kMostLooks = 8;

  int me_;
  int here_;
  const NodeOf& node_of_;
  const IsReady& is_ready_;
  const Send& send_;
};

}  // namespace shmemx::tasks
