// Schedules of all members in one process. A message is complete when its receive has been matched, as if none were
// eager: a schedule that needs more than that would stop here. Members take turns at random.
#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "coll/background/schedule.hpp"

namespace simulated_schedules {

using namespace shmemx;
using namespace shmemx::coll;
using namespace shmemx::coll::background;

// The nodes of a job whose PEs follow each other node by node.
inline TeamNodes nodes_of_member(int n, int node_pes, int me) {
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
  std::size_t node_pes = 1;
  std::size_t crossings = 0;  // messages between nodes of `node_pes` members

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
    crossings += send.member / node_pes != receive.member / node_pes;
    if (from.is_bounded != to.is_bounded || (to.is_bounded ? from.bytes > to.bytes : from.bytes != to.bytes)) {
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

inline constexpr Operator kSumOfDoubles{atomic::ElementType::double_, atomic::ElementOp::sum};
inline constexpr Operator kSumOfLongs{atomic::ElementType::int64, atomic::ElementOp::sum};

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

}  // namespace simulated_schedules
