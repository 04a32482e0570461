// Collectives under way, on engines of one process: tags, what one poll combines, several at once.
#include <boost/test/unit_test.hpp>

#include <memory>
#include <random>
#include <set>
#include <vector>

#include "../../pt2pt/simulated_job.hpp"
#include "coll/background/collective.hpp"
#include "simulated_schedules.hpp"

BOOST_AUTO_TEST_SUITE(coll_background_collective)

namespace {

using namespace shmemx;
using namespace shmemx::coll::background;
using pt2pt::LmtChoice;
using simulated_schedules::kSumOfDoubles;
using simulated_schedules::nodes_of_member;

// Engines whose messages are delivered at random, and collectives on each of them.
class EngineJob {
 public:
  EngineJob(int n, int node_pes, unsigned seed)
      : n_(n),
        node_pes_(node_pes),
        job_(n, simulated::plain_settings(LmtChoice::automatic), simulated::kHeapBytes, node_pes < n ? node_pes : 0),
        under_way_(static_cast<std::size_t>(n)),
        random_(seed) {
    route_.set = team::PeSet(Pe{0}, 1, n);
    route_.n_pes = static_cast<std::uint32_t>(n);
  }

  // make(members) makes the schedule of one PE.
  template <class Make>
  void begin(std::uint64_t number, const Operator& op, const Make& make) {
    for (int pe = 0; pe < n_; ++pe) {
      const coll::TeamNodes nodes = nodes_of_member(n_, node_pes_, pe);
      pt2pt::Operation* const request = job_.engine(pe).open_operation(0);
      requests.push_back(request);
      under_way_[static_cast<std::size_t>(pe)].push_back(std::make_unique<Collective>(
          Call{"test", &route_, 5, number, op, {}}, make(Members{pe, n_, &nodes, false}), *request));
    }
  }

  // Goes on until nothing moves. Returns false if something is not complete then.
  bool run(std::size_t bytes_per_poll) {
    for (int idle = 0; idle < 3; ++idle) {
      bool any = false;
      for (int turn = 0; turn < n_ * 4; ++turn) any |= step(bytes_per_poll);
      if (any) idle = -1;
    }
    bool all = true;
    for (const auto& collectives : under_way_) {
      for (const auto& collective : collectives) all &= collective->is_complete();
    }
    for (const pt2pt::Operation* request : requests) all &= request->phase == pt2pt::Phase::complete;
    return all;
  }
  int rejected() {
    int sum = 0;
    for (int pe = 0; pe < n_; ++pe) sum += job_.platform(pe).rejected + job_.platform(pe).exhaustions;
    return sum;
  }

  std::vector<pt2pt::Operation*> requests;
  std::size_t most_in_a_poll = 0;
  std::size_t polls_that_combined = 0;

 private:
  bool step(std::size_t bytes_per_poll) {
    const int pe = static_cast<int>(random_() % static_cast<unsigned>(n_));
    bool any = job_.engine(pe).progress();
    for (int from = 0; from < n_; ++from) {
      for (unsigned i = random_() % 4; i > 0; --i) any |= job_.deliver(from, pe);
    }
    std::size_t budget = bytes_per_poll;
    for (auto& collective : under_way_[static_cast<std::size_t>(pe)]) {
      if (collective->is_complete()) continue;
      any |= collective->advance(job_.engine(pe), budget);
      if (collective->is_complete()) collective->complete();
    }
    most_in_a_poll = std::max(most_in_a_poll, bytes_per_poll - budget);
    polls_that_combined += budget != bytes_per_poll;
    return any;
  }

  int n_;
  int node_pes_;
  simulated::Job job_;
  context::Context route_{};
  std::vector<std::vector<std::unique_ptr<Collective>>> under_way_;
  std::mt19937 random_;
};

std::byte* bytes_of(std::vector<double>& values) { return reinterpret_cast<std::byte*>(values.data()); }

}  // namespace

BOOST_AUTO_TEST_CASE(tags_name_team_and_number_and_are_no_tags_of_programs) {
  std::set<std::int32_t> tags;
  const std::uint32_t last = coll::kMaxTeams - 1;
  for (const std::uint32_t team : {0U, 1U, 2U, 700U, last}) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, kNumbers - 1}) {
      const std::int32_t tag = tag_of(team, number);
      BOOST_TEST(pt2pt::is_internal(tag));
      BOOST_TEST(tags.insert(tag).second);
      BOOST_TEST(tag_of(team, number + kNumbers) == tag);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_poll_combines_no_more_than_its_budget) {
  constexpr std::size_t kElements = 200'000;
  constexpr std::size_t kBudget = 64 << 10;
  EngineJob job(3, 3, 11);
  std::vector<std::vector<double>> values(3, std::vector<double>(kElements, 1.5));
  job.begin(0, kSumOfDoubles, [&](const Members& members) {
    std::byte* const own = bytes_of(values[static_cast<std::size_t>(members.me)]);
    return make_long_reduction(members, {kSumOfDoubles, own, own, kElements * sizeof(double)});
  });
  BOOST_TEST(job.run(kBudget));
  BOOST_TEST(job.most_in_a_poll == kBudget);
  BOOST_TEST(job.polls_that_combined >= 2 * kElements * sizeof(double) / kBudget);
  for (const auto& own : values) BOOST_TEST(std::count(own.begin(), own.end(), 4.5) == std::ptrdiff_t{kElements});
}

BOOST_AUTO_TEST_CASE(several_collectives_do_not_mix) {
  for (const auto& [n, node_pes] : {std::pair{2, 2}, {3, 2}, {5, 1}, {8, 3}}) {
    constexpr int kOpen = 12;
    EngineJob job(n, node_pes, static_cast<unsigned>(n));
    const auto count = static_cast<std::size_t>(n);
    // By collective and member: a sum, or a block for each member.
    std::vector<std::vector<std::vector<double>>> in(kOpen, std::vector<std::vector<double>>(count));
    auto out = in;
    for (int i = 0; i < kOpen; ++i) {
      const auto which = static_cast<std::size_t>(i);
      const std::size_t elements = which * which * 37 + 1;
      job.begin(which, kSumOfDoubles, [&](const Members& members) {
        std::vector<double>& source = in[which][static_cast<std::size_t>(members.me)];
        std::vector<double>& dest = out[which][static_cast<std::size_t>(members.me)];
        source.assign(elements * count, members.me + i);
        dest.resize(elements * count);
        const std::size_t bytes = elements * sizeof(double);
        if (i % 2 == 0) return make_reduction(members, {kSumOfDoubles, bytes_of(dest), bytes_of(source), bytes});
        return make_alltoall(members, {bytes_of(dest), bytes_of(source), bytes});
      });
    }
    BOOST_TEST(job.run(4096));
    BOOST_TEST(job.rejected() == 0);
    std::size_t wrong = 0;
    for (int i = 0; i < kOpen; ++i) {
      for (const std::vector<double>& dest : out[static_cast<std::size_t>(i)]) {
        const std::size_t elements = dest.size() / count;
        for (std::size_t k = 0; k < elements; ++k) {
          if (i % 2 == 0) {
            wrong += dest[k] != n * (n - 1) / 2.0 + static_cast<double>(i) * n;
          } else {
            for (std::size_t from = 0; from < count; ++from)
              wrong += dest[from * elements + k] != static_cast<double>(from) + i;
          }
        }
      }
    }
    BOOST_TEST(wrong == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
