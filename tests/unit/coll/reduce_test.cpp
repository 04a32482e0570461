#include "coll/reduce.hpp"

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <vector>

#include "coll/scan.hpp"
#include "support/thread_pes.hpp"

namespace {

using namespace shmemx;
using coll::Elements;
using coll::Share;
using unit::Failures;
using unit::Node;

constexpr std::size_t kDest = 0;  // heap offsets
constexpr std::size_t kSource = std::size_t{2} << 20;
constexpr std::size_t kCounts[] = {1, 0, 17, 512, 513, 2048, 20001};  // short and long forms

Elements<long> elements_at(const Node& node, std::size_t offset) {
  return {{node.arena().heap(0) + offset, static_cast<std::int64_t>(node.arena().geometry().stride)}};
}

long value_of(int pe, std::size_t index, int round) { return (pe + 1) * 1000 + static_cast<long>(index) + round; }

// Returns the sum over PEs 0 .. last - 1.
long sum_of(int last, std::size_t index, int round) {
  long sum = 0;
  for (int pe = 0; pe < last; ++pe) sum += value_of(pe, index, round);
  return sum;
}

// Calls collective(group, dest, source, nelems) on all PEs of nodes of all sizes, in place every other round, and
// compares all elements with the sum over PEs 0 .. last(pe) - 1.
template <class Collective, class Last>
void check_sums(const Collective& collective, const Last& last) {
  unit::for_each_node([&](const Node& node, bool counting) {
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      coll::TeamGroup group(team, "reduce_test");
      for (int round = 0; round < 14; ++round) {
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
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coll_reduce)

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
    coll::accumulate<int, coll::Sum>(into.data(), from.data(), nelems);
    for (std::size_t i = 0; i < nelems; ++i) BOOST_REQUIRE_EQUAL(into[i], static_cast<int>(101 + 2 * i));
  }
}

BOOST_AUTO_TEST_CASE(reductions_of_every_length_are_the_same_on_all_pes) {
  check_sums([](coll::TeamGroup& group, Elements<long> dest, Elements<long> source,
                std::size_t nelems) { coll::reduce<long, coll::Sum>(group, dest, source, nelems); },
             [](int, int n) { return n; });
}

BOOST_AUTO_TEST_CASE(inclusive_scans_include_the_contribution_of_the_pe) {
  check_sums([](coll::TeamGroup& group, Elements<long> dest, Elements<long> source,
                std::size_t nelems) { coll::scan<long>(group, dest, source, nelems, false); },
             [](int pe, int) { return pe + 1; });
}

BOOST_AUTO_TEST_CASE(exclusive_scans_include_the_lower_contributions_only) {
  check_sums([](coll::TeamGroup& group, Elements<long> dest, Elements<long> source,
                std::size_t nelems) { coll::scan<long>(group, dest, source, nelems, true); },
             [](int pe, int) { return pe; });
}

BOOST_AUTO_TEST_SUITE_END()
