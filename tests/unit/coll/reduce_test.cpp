#include "coll/reduce.hpp"

#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <vector>

#include "coll/scan.hpp"
#include "support/thread_pes.hpp"

BOOST_AUTO_TEST_SUITE(coll_reduce)

namespace {

using namespace shmemx;
using coll::Share;
using unit::Failures;
using unit::Node;

template <class T>
struct Elements {
  coll::Symmetric base;
  T* at(int pe) const { return reinterpret_cast<T*>(base.at(pe)); }
};

constexpr std::size_t kDest = 0;  // heap offsets
constexpr std::size_t kSource = std::size_t{2} << 20;
constexpr std::size_t kCounts[] = {1, 0, 17, 512, 513, 2048, 20001};  // short and long forms

Elements<long> elements_at(const Node& node, std::size_t offset) {
  return {{node.arena().heap(NodeIndex{0}) + offset, static_cast<std::int64_t>(node.arena().geometry().stride)}};
}

long value_of(int pe, std::size_t index, int round) { return (pe + 1) * 1000 + static_cast<long>(index) + round; }

// Returns the sum over PEs 0 .. last - 1.
long sum_of(int last, std::size_t index, int round) {
  return 500L * last * (last + 1) + last * (static_cast<long>(index) + round);
}

// Calls collective(group, dest, source, nelems) on all PEs of nodes of all sizes, in place every other round, and
// compares all elements with the sum over PEs 0 .. last(pe) - 1.
template <class Collective, class Last>
void check_sums(const Collective& collective, const Last& last) {
  const auto run = [&](const Node& node, bool counting) {
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      coll::TeamGroup group(team, "reduce_test");
      const int rounds = node.size() > 8 ? 7 : 14;
      for (int round = 0; round < rounds; ++round) {
        const std::size_t nelems = kCounts[round % 7];
        const Elements<long> source = elements_at(node, kSource);
        const Elements<long> dest = round % 2 == 0 ? elements_at(node, kDest) : source;
        for (std::size_t i = 0; i < nelems; ++i) source.at(pe)[i] = value_of(pe, i, round);
        collective(group, dest, source, nelems);
        for (std::size_t i = 0; i < nelems; ++i)
          wrong.expect(dest.at(pe)[i] == sum_of(last(pe, node.size()), i, round));
        group.sync();
      }
    });
    BOOST_TEST_CONTEXT(node.size() << " PEs, counting " << counting) BOOST_CHECK_EQUAL(wrong.count(), 0);
  };
  unit::for_each_node(run);
  unit::for_each_tree(run);
}

// Returns the bits of a sum whose rounding depends on the order; `arrival`: how late each PE comes.
std::vector<double> sums_of_fractions(const Node& node, int late) {
  std::vector<double> sums(static_cast<std::size_t>(node.size()));
  node.run([&](int pe) {
    coll::Team team = node.world_team(pe, true);
    const Elements<double> source{elements_at(node, kSource).base};
    const Elements<double> dest{elements_at(node, kDest).base};
    source.at(pe)[0] = 1.0 / (pe + 3) * (pe % 2 == 0 ? 1e8 : -1e-8);
    for (int i = 0; i < (pe * late) % 23; ++i) sched_yield();
    coll::TeamGroup group(team, "reduce_test");
    coll::reduce(group, dest.base, source.base, 1, coll::combine_of<double, coll::Sum>());
    sums[static_cast<std::size_t>(pe)] = dest.at(pe)[0];
  });
  return sums;
}

}  // namespace

BOOST_AUTO_TEST_CASE(shares_cover_every_element_exactly_once) {
  for (int n = 1; n <= 33; ++n) {
    for (std::size_t nelems = 0; nelems <= 70; ++nelems) {
      std::size_t next = 0;
      std::size_t least = nelems;
      std::size_t most = 0;
      for (int pe = 0; pe < n; ++pe) {
        const Share share = coll::share_of(nelems, pe, n);
        BOOST_REQUIRE_EQUAL(share.begin, next);
        BOOST_REQUIRE_LE(share.begin, share.end);
        next = share.end;
        least = std::min(least, share.end - share.begin);
        most = std::max(most, share.end - share.begin);
      }
      BOOST_REQUIRE_EQUAL(next, nelems);
      BOOST_REQUIRE_LE(most - least, 1U);
    }
  }
}

BOOST_AUTO_TEST_CASE(shares_of_very_many_elements_are_exact) {
  constexpr std::size_t kMany = (std::size_t{1} << 61) + 12345;
  std::size_t next = 0;
  for (int pe = 0; pe < 4096; ++pe) {
    const Share share = coll::share_of(kMany, pe, 4096);
    BOOST_REQUIRE_EQUAL(share.begin, next);
    next = share.end;
  }
  BOOST_CHECK_EQUAL(next, kMany);
}

BOOST_AUTO_TEST_CASE(accumulate_applies_the_operator_to_each_element) {
  for (const std::size_t nelems : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
    std::vector<int> into(nelems);
    std::vector<int> from(nelems);
    std::iota(into.begin(), into.end(), 1);
    std::iota(from.begin(), from.end(), 100);
    coll::combine_of<int, coll::Sum>().accumulate(reinterpret_cast<std::byte*>(into.data()),
                                                  reinterpret_cast<const std::byte*>(from.data()), nelems);
    for (std::size_t i = 0; i < nelems; ++i) BOOST_REQUIRE_EQUAL(into[i], static_cast<int>(101 + 2 * i));
  }
}

BOOST_AUTO_TEST_CASE(reductions_of_every_length_are_the_same_on_all_pes) {
  check_sums(
      [](coll::TeamGroup& group, Elements<long> dest, Elements<long> source, std::size_t nelems) {
        coll::reduce(group, dest.base, source.base, nelems, coll::combine_of<long, coll::Sum>());
      },
      [](int, int n) { return n; });
}

BOOST_AUTO_TEST_CASE(trees_of_few_members_reduce_too) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  for (const int n_pes : unit::kSmallTreePeCounts) {
    const Node node(n_pes);
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, true);
      coll::TeamGroup group(team, "reduce_test");
      for (int round = 0; round < 7; ++round) {
        const std::size_t nelems = kCounts[round];
        const Elements<long> source = elements_at(node, kSource);
        const Elements<long> dest = round % 2 == 0 ? elements_at(node, kDest) : source;
        for (std::size_t i = 0; i < nelems; ++i) source.at(pe)[i] = value_of(pe, i, round);
        coll::reduce_tree(group, dest.base, source.base, nelems, coll::combine_of<long, coll::Sum>());
        for (std::size_t i = 0; i < nelems; ++i) wrong.expect(dest.at(pe)[i] == sum_of(n_pes, i, round));
        group.sync();
      }
    });
    BOOST_TEST_CONTEXT(n_pes << " PEs") BOOST_CHECK_EQUAL(wrong.count(), 0);
  }
}

BOOST_AUTO_TEST_CASE(sums_of_fractions_are_the_same_bits_whoever_comes_last) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  for (const int n_pes : unit::kTreePeCounts) {
    const std::vector<double> first = sums_of_fractions(Node(n_pes), 0);
    for (const double sum : first) BOOST_CHECK_EQUAL(sum, first[0]);
    for (const int late : {1, 7, 11}) BOOST_CHECK(sums_of_fractions(Node(n_pes), late) == first);
  }
}

BOOST_AUTO_TEST_CASE(inclusive_scans_include_the_contribution_of_the_pe) {
  check_sums([](coll::TeamGroup& group, Elements<long> dest, Elements<long> source,
                std::size_t nelems) { coll::scan(group, dest.base, source.base, nelems, coll::kInclusiveScan<long>); },
             [](int pe, int) { return pe + 1; });
}

BOOST_AUTO_TEST_CASE(exclusive_scans_include_the_lower_contributions_only) {
  check_sums([](coll::TeamGroup& group, Elements<long> dest, Elements<long> source,
                std::size_t nelems) { coll::scan(group, dest.base, source.base, nelems, coll::kExclusiveScan<long>); },
             [](int pe, int) { return pe; });
}

BOOST_AUTO_TEST_SUITE_END()
