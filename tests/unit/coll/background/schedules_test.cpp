// Schedules of barriers and reductions.
#include <boost/test/unit_test.hpp>

#include "simulated_schedules.hpp"

BOOST_AUTO_TEST_SUITE(coll_background_schedules)

using namespace simulated_schedules;

namespace {

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
