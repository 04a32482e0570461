// Short reductions. Partial results climb the levels of a node; the leaders combine theirs, as combine_among_leaders()
// does; the result goes down the levels. All partial results lie in `dest`.
#include <algorithm>
#include <bit>

#include "coll/background/levels.hpp"
#include "coll/background/schedule.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll::background {
namespace {

class ShortReduction {
 public:
  ShortReduction(const Members& members, const Reduction& reduction, ListedSchedule& schedule)
      : members_(members),
        nodes_(*members.nodes),
        dest_(reduction.dest),
        source_(reduction.source),
        segment_bytes_(segment_bytes(reduction.op.element_bytes())),
        levels_(levels_of(members)),
        schedule_(schedule) {}

  void make(std::size_t bytes) {
    scratch_ = schedule_.take_scratch(slots() * std::min(bytes, segment_bytes_));
    do {  // also without elements: members then notice that others have some
      bytes_ = std::min(bytes, segment_bytes_);
      climb();
      if (levels_.parent < 0) combine_leaders();
      descend();
      dest_ += bytes_;
      source_ += bytes_;
      bytes -= bytes_;
    } while (bytes != 0);
  }

 private:
  // What travels at a time, so that no member needs more than about kBackgroundScratchBytes. The same on all members.
  std::size_t segment_bytes(std::size_t element_bytes) const {
    const int widest = members_.by_tree ? kTreeRadix : std::max(nodes_.max_size, kFewLeaders);
    const std::size_t elements = kBackgroundScratchBytes / static_cast<std::size_t>(widest) / element_bytes;
    return std::max<std::size_t>(1, elements) * element_bytes;
  }
  std::size_t slots() const {
    const auto leaders = static_cast<std::size_t>(exchanges_directly() ? nodes_.count() : 1);
    return std::max(levels_.widest(), leaders);
  }
  bool exchanges_directly() const { return leaders_exchange_directly(nodes_); }
  std::byte* slot(std::size_t i) const { return scratch_ + i * bytes_; }

  void climb() {
    const std::byte* partial = source_;
    for (const std::vector<int>& others : levels_.led) {
      Round& round = schedule_.add();
      for (std::size_t i = 0; i < others.size(); ++i) round.receive(others[i], slot(i), bytes_);
      round.copy(dest_, partial, bytes_);
      for (std::size_t i = 0; i < others.size(); ++i) round.combine(dest_, slot(i), bytes_);
      partial = dest_;
    }
    if (levels_.parent >= 0) {
      schedule_.add().send(levels_.parent, partial, bytes_);
    } else if (partial != dest_) {
      schedule_.add().copy(dest_, partial, bytes_);
    }
  }

  void descend() {
    if (levels_.parent >= 0) schedule_.add().receive(levels_.parent, dest_, bytes_);
    for (std::size_t level = levels_.led.size(); level-- > 0;) {
      Round& round = schedule_.add();
      for (const int pe : levels_.led[level]) round.send(pe, dest_, bytes_);
    }
  }

  void combine_leaders() {
    if (nodes_.count() == 1) return;
    if (exchanges_directly()) return exchange();
    double_recursively();
  }

  void exchange() {
    const int n = nodes_.count();
    Round& round = schedule_.add();
    const auto part = [&](int node) { return node == nodes_.mine ? dest_ : slot(static_cast<std::size_t>(node)); };
    for (int i = 1; i < n; ++i) {
      round.receive(nodes_.leader(nodes_.behind(i)), part(nodes_.behind(i)), bytes_);
      round.send(nodes_.leader(nodes_.ahead(i)), dest_, bytes_);
    }
    for (int node = 1; node < n; ++node) round.combine(part(0), part(node), bytes_);
    round.copy(dest_, part(0), bytes_);
  }

  // The partial result of `node` has come into slot 0. It is the left operand if the node is below.
  void combine_with(Round& round, bool from_below) {
    if (!from_below) return round.combine(dest_, slot(0), bytes_);
    round.combine(slot(0), dest_, bytes_);
    round.copy(dest_, slot(0), bytes_);
  }

  // If their number is no power of two, the first nodes pair up: the lower node of a pair acts for the upper one.
  void double_recursively() {
    const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes_.count())));
    const int pairs = nodes_.count() - power;
    const int mine = nodes_.mine;
    const bool is_paired = mine < 2 * pairs;
    if (is_paired && mine % 2 == 1) {
      schedule_.add().send(nodes_.leader(mine - 1), dest_, bytes_);
      schedule_.add().receive(nodes_.leader(mine - 1), dest_, bytes_);
      return;
    }
    if (is_paired) {
      Round& round = schedule_.add();
      round.receive(nodes_.leader(mine + 1), slot(0), bytes_);
      combine_with(round, false);
    }
    const int place = is_paired ? mine / 2 : mine - pairs;
    for (int distance = 1; distance < power; distance *= 2) {
      const int other = place ^ distance;
      const int leader = nodes_.leader(other < pairs ? 2 * other : other + pairs);
      Round& round = schedule_.add();
      round.receive(leader, slot(0), bytes_);
      round.send(leader, dest_, bytes_);
      combine_with(round, other < place);
    }
    if (is_paired) schedule_.add().send(nodes_.leader(mine + 1), dest_, bytes_);
  }

  const Members& members_;
  const TeamNodes& nodes_;
  std::byte* dest_;
  const std::byte* source_;
  std::size_t segment_bytes_;
  std::size_t bytes_ = 0;  // of the current segment
  Levels levels_;
  ListedSchedule& schedule_;
  std::byte* scratch_ = nullptr;
};

}  // namespace

ScheduleOwner make_short_reduction(const Members& members, const Reduction& reduction) noexcept {
  auto schedule = std::make_unique<ListedSchedule>();
  ShortReduction(members, reduction, *schedule).make(reduction.bytes);
  return schedule;
}

ScheduleOwner make_reduction(const Members& members, const Reduction& reduction) noexcept {
  const bool is_short = members.by_tree || reduce_by_leaders(*members.nodes, reduction.bytes);
  return is_short ? make_short_reduction(members, reduction) : make_long_reduction(members, reduction);
}

}  // namespace shmemx::coll::background
