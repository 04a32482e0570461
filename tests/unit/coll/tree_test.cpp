#include "coll/node/tree.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

BOOST_AUTO_TEST_SUITE(coll_tree)

using namespace shmemx;
using coll::TreeGroup;

namespace {

constexpr int kRadix = coll::kTreeRadix;
constexpr int kSizes[] = {1, 2, 5, 7, 13, 15, 16, 17, 33, 65, 255, 256, 257, 272, 1000, 4096, 4097, 70000};

// Calls visit(group) for each group of `n` members, level by level.
template <class Visit>
void for_each_group(int n, const Visit& visit) {
  int level = 0;
  for (int step = 1; step < n; step *= kRadix, ++level) {
    for (int first = 0; first < n; first += step * kRadix) visit(coll::tree_group(n, first, step, level));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_member_but_the_first_is_released_by_one_other) {
  for (const int n : kSizes) {
    std::vector<int> released(static_cast<std::size_t>(n), 0);
    for_each_group(n, [&](const TreeGroup& group) {
      for (int i = 1; i < group.count; ++i) ++released[static_cast<std::size_t>(group.member(i))];
    });
    for (int pe = 0; pe < n; ++pe) BOOST_REQUIRE_EQUAL(released[static_cast<std::size_t>(pe)], pe == 0 ? 0 : 1);
  }
}

BOOST_AUTO_TEST_CASE(all_members_of_a_group_find_the_same_group) {
  for (const int n : kSizes) {
    for_each_group(n, [&](const TreeGroup& group) {
      BOOST_REQUIRE(group.count >= 1 && group.count <= kRadix);
      BOOST_REQUIRE_LT(group.member(group.count - 1), n);
      BOOST_REQUIRE(group.count == kRadix || group.member(group.count) >= n);
      for (int i = 0; i < group.count; ++i) {
        const TreeGroup same = coll::tree_group(n, group.member(i), group.step, group.level);
        BOOST_REQUIRE(same.first == group.first && same.count == group.count);
      }
    });
  }
}

// The members that one stands for follow each other, so what is combined is in the order of the numbers.
BOOST_AUTO_TEST_CASE(groups_stand_for_ranges_without_gaps) {
  for (const int n : kSizes) {
    std::vector<int> stands_for(static_cast<std::size_t>(n), 1);
    for_each_group(n, [&](const TreeGroup& group) {
      int next = group.first;
      for (int i = 0; i < group.count; ++i) {
        BOOST_REQUIRE_EQUAL(group.member(i), next);
        next += stands_for[static_cast<std::size_t>(group.member(i))];
      }
      stands_for[static_cast<std::size_t>(group.first)] = next - group.first;
    });
    BOOST_CHECK_EQUAL(stands_for[0], n);
  }
}

BOOST_AUTO_TEST_CASE(all_meet_at_the_root) {
  for (const int n : kSizes) {
    const TreeGroup root = coll::tree_root(n);
    BOOST_CHECK_EQUAL(root.first, 0);
    BOOST_CHECK_GE(root.step * kRadix, n);
    BOOST_CHECK(n == 1 || root.step < n);
    BOOST_CHECK_LT(root.level, coll::TreeNode::kLevels);
  }
}

BOOST_AUTO_TEST_SUITE_END()
