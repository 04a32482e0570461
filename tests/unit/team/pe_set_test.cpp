#include "team/pe_set.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

BOOST_AUTO_TEST_SUITE(team_pe_set)

namespace {

using namespace shmemx;
using team::PeSet;

constexpr PeSet kWorld(Pe{0}, 1, 8);

static_assert(kWorld.subset(1, 2, 4)->world(TeamPe{3}) == Pe{7});
static_assert(kWorld.subset(7, -1, 8)->find(Pe{0}) == TeamPe{7});
static_assert(PeSet().size() == 0 && !PeSet().find(Pe{0}));

std::vector<int> members(const PeSet& set) {
  std::vector<int> pes;
  for (int i = 0; i < set.size(); ++i) pes.push_back(set.world(TeamPe{i}).value);
  return pes;
}

// Returns the expected subset by counting.
std::optional<std::vector<int>> expected(const PeSet& parent, int start, int stride, int size) {
  if (size < 1 || (size > 1 && stride == 0)) return std::nullopt;
  std::vector<int> pes;
  for (long pe = start; static_cast<int>(pes.size()) < size; pe += stride) {
    if (pe < 0 || pe >= parent.size()) return std::nullopt;
    pes.push_back(parent.world(TeamPe{static_cast<int>(pe)}).value);
  }
  return pes;
}

void check_all_subsets(const PeSet& parent) {
  for (int start = -2; start < 10; ++start) {
    for (int stride = -9; stride < 10; ++stride) {
      for (int size = -1; size < 10; ++size) {
        const auto subset = parent.subset(start, stride, size);
        const auto want = expected(parent, start, stride, size);
        BOOST_TEST_CONTEXT("start " << start << " stride " << stride << " size " << size) {
          BOOST_REQUIRE_EQUAL(subset.has_value(), want.has_value());
          if (subset) BOOST_REQUIRE(members(*subset) == *want);
        }
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(subsets_agree_with_counting) {
  check_all_subsets(kWorld);
  check_all_subsets(PeSet(Pe{3}, 2, 5));
  check_all_subsets(PeSet(Pe{20}, -3, 6));
  check_all_subsets(PeSet(Pe{4}, 0, 1));
}

BOOST_AUTO_TEST_CASE(find_is_the_inverse_of_world) {
  for (const PeSet& set : {kWorld, PeSet(Pe{3}, 2, 5), PeSet(Pe{20}, -3, 6), PeSet(Pe{4}, 0, 1), PeSet(Pe{4}, 7, 1),
                           PeSet(Pe{6}, -1, 7)}) {
    std::vector<int> found(64, -1);
    for (int i = 0; i < set.size(); ++i) found[static_cast<std::size_t>(set.world(TeamPe{i}).value)] = i;
    for (int pe = 0; pe < 64; ++pe) {
      const auto index = set.find(Pe{pe});
      BOOST_REQUIRE_EQUAL(index ? index->value : -1, found[static_cast<std::size_t>(pe)]);
    }
    BOOST_CHECK(!set.find(Pe{-1}));
  }
}

BOOST_AUTO_TEST_CASE(stride_zero_needs_size_one) {
  BOOST_REQUIRE(kWorld.subset(5, 0, 1));
  BOOST_CHECK(kWorld.subset(5, 0, 1)->find(Pe{5}) == TeamPe{0});
  BOOST_CHECK(!kWorld.subset(5, 0, 2));
}

BOOST_AUTO_TEST_CASE(a_member_outside_the_parent_is_refused) {
  BOOST_CHECK(kWorld.subset(0, 3, 3));   // 0 3 6
  BOOST_CHECK(!kWorld.subset(0, 3, 4));  // 9 is outside
  BOOST_CHECK(kWorld.subset(2, -2, 2));
  BOOST_CHECK(!kWorld.subset(2, -2, 3));
}

BOOST_AUTO_TEST_CASE(huge_arguments_do_not_overflow) {
  constexpr int kMost = 2147483647;
  BOOST_CHECK(!kWorld.subset(0, kMost, kMost));
  BOOST_CHECK(!kWorld.subset(7, -kMost - 1, kMost));
  BOOST_CHECK(!kWorld.subset(kMost, 1, 1));
  BOOST_CHECK(!kWorld.subset(0, 1, kMost));
}

BOOST_AUTO_TEST_CASE(a_single_pe_may_have_any_stride) {
  const auto one = kWorld.subset(5, 1 << 30, 1);
  BOOST_REQUIRE(one);
  BOOST_CHECK(one->find(Pe{5}) == TeamPe{0});
  const PeSet odd = *kWorld.subset(1, 2, 4);
  const auto wide = odd.subset(2, 2147483647, 1);  // the product with the parent's stride does not fit an int
  BOOST_REQUIRE(wide);
  BOOST_CHECK(wide->world(TeamPe{0}) == Pe{5});
}

BOOST_AUTO_TEST_SUITE_END()
