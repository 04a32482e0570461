// Schedules of all members in one process. A message is complete when its receive has been matched, as if none were
// eager: a schedule that needs more than that would stop here. Members take turns at random.
#include <boost/test/unit_test.hpp>

#include "coll/background/schedule.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(coll_background_schedules)

namespace {

using namespace shmemx;
using namespace shmemx::coll;
using namespace shmemx::coll::background;

// The nodes of a job whose PEs follow each other node by node.
TeamNodes nodes_of_member(int n, int node_pes, int me) {
  TeamNodes nodes;
  for (int pe = 0; pe < n; pe += node_pes) nodes.begin.push_back(pe);
  nodes.begin.push_back(n);
  nodes.mine = me / node_pes;
  nodes.index = me % node_pes;
  nodes.min_size = nodes.max_size = nodes.size_of(0);
  for (int node = 0; node < nodes.count(); ++node) {
    nodes.min_size = std::min(nodes.min_size, nodes.size_of(node));
    nodes.max_size = std::max(nodes.max_size, nodes.size_of(node));
  }
  return nodes;
}

class SimulatedMember {
 public:
  explicit SimulatedMember(ScheduleOwner schedule) : schedule_(std::move(schedule)) { start_next(); }

  bool is_complete() const { return is_complete_; }
  Round& round() { return round_; }
  // The round's message of that number is complete.
  void finish(std::size_t message) {
    done_[message] = true;
    if (std::count(done_.begin(), done_.end(), false) == 0) is_ready_ = true;
  }
  bool is_ready() const { return is_ready_; }
  // Requires is_ready().
  void go_on(const Operator& op) {
    for (const LocalStep& step : round_.steps) {
      if (step.kind == LocalStep::Kind::copy) {
        std::memmove(step.to, step.from, step.bytes);
      } else {
        op.accumulate(step.to, step.from, step.bytes);
      }
    }
    start_next();
  }

 private:
  void start_next() {
    round_.clear();
    is_complete_ = !schedule_->next(round_);
    done_.assign(round_.messages.size(), false);
    is_ready_ = !is_complete_ && round_.messages.empty();
    is_new = true;
  }

  ScheduleOwner schedule_;
  Round round_;
  std::vector<bool> done_;
  bool is_ready_ = false;
  bool is_complete_ = false;

 public:
  bool is_new = true;  // its messages have not been posted yet
};

class Simulation {
 public:
  explicit Simulation(const Operator& op, unsigned seed) : op_(op), random_(seed) {}
  void add(ScheduleOwner schedule) { members_.push_back(std::make_unique<SimulatedMember>(std::move(schedule))); }

  // Returns false if not all members complete, a length differs, or a message is left.
  bool run() {
    std::vector<std::size_t> order(members_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (bool any = true; any;) {
      any = false;
      std::shuffle(order.begin(), order.end(), random_);
      for (const std::size_t member : order) any |= step(member);
    }
    const bool all = std::all_of(members_.begin(), members_.end(), [](const auto& one) { return one->is_complete(); });
    const bool none_left = std::all_of(wires_.begin(), wires_.end(), [](const auto& wire) {
      return wire.second.sends.empty() && wire.second.receives.empty();
    });
    return all && none_left && !lengths_differ_;
  }
  std::size_t messages = 0;

 private:
  struct Posted {
    std::size_t member;
    std::size_t message;
  };
  struct Wire {
    std::deque<Posted> sends;
    std::deque<Posted> receives;
  };

  bool step(std::size_t number) {
    SimulatedMember& member = *members_[number];
    if (member.is_complete()) return false;
    if (member.is_ready()) {
      member.go_on(op_);
      return true;
    }
    if (!member.is_new) return false;
    member.is_new = false;
    for (std::size_t i = 0; i < member.round().messages.size(); ++i) post(number, i);
    return true;
  }

  void post(std::size_t number, std::size_t i) {
    const Message& message = members_[number]->round().messages[i];
    const auto other = static_cast<std::size_t>(message.member);
    BOOST_REQUIRE(other != number);
    const bool sends = message.kind == Message::Kind::send;
    Wire& wire = wires_[sends ? std::pair{number, other} : std::pair{other, number}];
    (sends ? wire.sends : wire.receives).push_back({number, i});
    if (wire.sends.empty() || wire.receives.empty()) return;
    deliver(wire.sends.front(), wire.receives.front());
    wire.sends.pop_front();
    wire.receives.pop_front();
  }

  void deliver(const Posted& send, const Posted& receive) {
    const Message& from = members_[send.member]->round().messages[send.message];
    const Message& to = members_[receive.member]->round().messages[receive.message];
    ++messages;
    if (from.bytes != to.bytes) {
      lengths_differ_ = true;
    } else if (from.bytes != 0) {
      std::memcpy(to.at, from.at, from.bytes);
    }
    members_[send.member]->finish(send.message);
    members_[receive.member]->finish(receive.message);
  }

  Operator op_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<SimulatedMember>> members_;
  std::map<std::pair<std::size_t, std::size_t>, Wire> wires_;
  bool lengths_differ_ = false;
};

constexpr Operator kSumOfDoubles{atomic::ElementType::double_, atomic::ElementOp::sum};
constexpr Operator kSumOfLongs{atomic::ElementType::int64, atomic::ElementOp::sum};

// Calls use(n, node_pes) for jobs of 1 to 17 members on nodes of different sizes.
template <class Use>
void for_each_layout(const Use& use) {
  for (int n = 1; n <= 17; ++n) {
    for (const int node_pes : {1, 2, 3, 5, 17}) {
      if (node_pes > n && node_pes != 17) continue;
      BOOST_TEST_CONTEXT(n << " members, " << node_pes << " on a node") use(n, std::min(node_pes, n));
    }
  }
}

template <class Make>
void make_all(Simulation& job, int n, int node_pes, const Make& make) {
  for (int me = 0; me < n; ++me) {
    const TeamNodes nodes = nodes_of_member(n, node_pes, me);
    job.add(make(Members{me, n, &nodes, false}));
  }
}

// Values whose sum depends on the association of the operands.
double rough(int pe, std::size_t i) {
  return (pe % 3 == 1 ? 1e16 : 1.0) / (1.0 + static_cast<double>(pe) * 0.7 + static_cast<double>(i));
}

// What the collectives that block compute: members of a node in their order, then nodes, in their order or along the
// tree of recursive doubling.
double sum_by_nodes(int n, int node_pes, std::size_t i, bool doubles) {
  std::vector<double> partial;
  for (int pe = 0; pe < n; ++pe) {
    if (pe % node_pes == 0) {
      partial.push_back(rough(pe, i));
    } else {
      partial.back() += rough(pe, i);
    }
  }
  if (!doubles || partial.size() <= 3) {
    for (std::size_t node = 1; node < partial.size(); ++node) partial[0] += partial[node];
    return partial[0];
  }
  std::size_t power = 1;
  while (power * 2 <= partial.size()) power *= 2;
  const std::size_t pairs = partial.size() - power;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    partial[pair] += partial[pair + 1];
    partial.erase(partial.begin() + static_cast<std::ptrdiff_t>(pair) + 1);
  }
  for (std::size_t distance = 1; distance < power; distance *= 2) {
    for (std::size_t place = 0; place < power; place += 2 * distance) partial[place] += partial[place + distance];
  }
  return partial[0];
}

using MakeReduction = ScheduleOwner (*)(const Members&, const Reduction&) noexcept;

void check_reduction(int n, int node_pes, std::size_t elements, MakeReduction make, bool doubles, bool in_place) {
  std::vector<std::vector<double>> sources(static_cast<std::size_t>(n), std::vector<double>(elements));
  std::vector<std::vector<double>> dests = sources;
  for (int pe = 0; pe < n; ++pe) {
    for (std::size_t i = 0; i < elements; ++i) sources[static_cast<std::size_t>(pe)][i] = rough(pe, i);
  }
  if (in_place) dests = sources;
  Simulation job(kSumOfDoubles, static_cast<unsigned>(n * 31 + node_pes));
  make_all(job, n, node_pes, [&](const Members& members) {
    const auto me = static_cast<std::size_t>(members.me);
    auto* const dest = reinterpret_cast<std::byte*>(dests[me].data());
    const auto* const source = in_place ? dest : reinterpret_cast<const std::byte*>(sources[me].data());
    return make(members, {kSumOfDoubles, dest, source, elements * sizeof(double)});
  });
  BOOST_REQUIRE(job.run());
  std::vector<double> expected(elements);
  for (std::size_t i = 0; i < elements; ++i) expected[i] = sum_by_nodes(n, node_pes, i, doubles);
  for (const std::vector<double>& dest : dests)
    BOOST_TEST(std::memcmp(dest.data(), expected.data(), elements * sizeof(double)) == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_barrier_completes_when_all_have_begun) {
  for_each_layout([](int n, int node_pes) {
    Simulation job(kSumOfLongs, 7);
    make_all(job, n, node_pes, make_barrier);
    BOOST_TEST(job.run());
  });
}

BOOST_AUTO_TEST_CASE(a_barrier_waits_for_each_member) {
  for_each_layout([](int n, int node_pes) {
    // The last member never begins: a schedule without rounds for it leaves the others waiting.
    if (n == 1) return;
    Simulation job(kSumOfLongs, 7);
    for (int me = 0; me < n - 1; ++me) {
      const TeamNodes nodes = nodes_of_member(n, node_pes, me);
      job.add(make_barrier({me, n, &nodes, false}));
    }
    job.add(std::make_unique<ListedSchedule>());
    BOOST_TEST(!job.run());
  });
}

BOOST_AUTO_TEST_CASE(short_reductions_associate_as_those_that_block) {
  for_each_layout([](int n, int node_pes) {
    for (const std::size_t elements : {0, 1, 5}) {
      check_reduction(n, node_pes, elements, make_short_reduction, true, false);
      check_reduction(n, node_pes, elements, make_short_reduction, true, true);
    }
  });
}

BOOST_AUTO_TEST_CASE(long_reductions_associate_as_those_that_block) {
  for_each_layout([](int n, int node_pes) {
    for (const std::size_t elements : {0, 1, 3, 1000}) {
      check_reduction(n, node_pes, elements, make_long_reduction, false, false);
      check_reduction(n, node_pes, elements, make_long_reduction, false, true);
    }
  });
}

BOOST_AUTO_TEST_CASE(reductions_of_several_segments_are_complete) {
  for (const auto& [n, node_pes] : {std::pair{2, 2}, {3, 1}, {8, 3}, {1, 1}}) {
    BOOST_TEST_CONTEXT(n << " members, " << node_pes << " on a node") {
      check_reduction(n, node_pes, 700'001, make_long_reduction, false, false);
      check_reduction(n, node_pes, 300'001, make_short_reduction, true, true);
    }
  }
}

BOOST_AUTO_TEST_CASE(reductions_along_the_tree_combine_all_members) {
  for (const int n : {1, 2, 16, 17, 33, 257, 300}) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(n));
    Simulation job(kSumOfLongs, 5);
    const TeamNodes nodes = nodes_of_member(n, n, 0);
    for (int me = 0; me < n; ++me) {
      auto* const value = &values[static_cast<std::size_t>(me)];
      *value = me + 1;
      const Reduction reduction{kSumOfLongs, reinterpret_cast<std::byte*>(value),
                                reinterpret_cast<const std::byte*>(value), sizeof *value};
      job.add(make_reduction({me, n, &nodes, true}, reduction));
    }
    BOOST_TEST(job.run());
    BOOST_TEST(std::count(values.begin(), values.end(), std::int64_t{n} * (n + 1) / 2) == n);
  }
}

BOOST_AUTO_TEST_SUITE_END()
