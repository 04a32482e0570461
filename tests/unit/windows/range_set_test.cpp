#include "windows/range_set.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <vector>

#include "windows/exposure.hpp"

BOOST_AUTO_TEST_SUITE(windows_range_set)

using namespace shmemx::windows;

// The tests' addresses are none of this process.
static bool all_mapped(std::uint64_t, std::uint64_t) noexcept { return true; }

// Found when the range is looked up, and not before: it may be mapped later.
BOOST_AUTO_TEST_CASE(memory_that_is_not_mapped_is_not_found) {
  static int looks;
  static bool answer;
  looks = 0;
  answer = false;
  RangeSet set([](std::uint64_t address, std::uint64_t bytes) noexcept {
    ++looks;
    return answer || address != 200 || bytes != 50;
  });
  BOOST_TEST((set.add(100, 100) && set.add(200, 50) && set.add(250, 50)));
  BOOST_TEST(looks == 0);
  BOOST_TEST(set.has(120, 80));
  BOOST_TEST(looks == 1);
  BOOST_TEST(!set.has(120, 81));
  BOOST_TEST(!set.has(249, 2));
  std::uint64_t begin = 0;
  BOOST_TEST(set.range_around(210, begin) == 0u);
  BOOST_TEST(set.range_around(250, begin) == 50u);
  answer = true;
  BOOST_TEST((set.has(120, 180) && set.range_around(210, begin) == 50u));
  looks = 0;
  BOOST_TEST(set.has(100, 200));
  BOOST_TEST(looks == 0);
  BOOST_TEST(set.remove(100) == 100u);
  answer = false;
  BOOST_TEST(set.add(100, 100));
  BOOST_TEST(set.has(100, 100));
  BOOST_TEST(looks == 1);  // nothing is known of the new range
}

BOOST_AUTO_TEST_CASE(a_range_leaves_when_its_own_users_have_ended) {
  RangeSet set(all_mapped);
  BOOST_TEST((set.add(100, 50) && set.add(150, 50) && set.add(300, 8)));
  set.begin_use(300, 8);
  set.begin_use(140, 20);  // of the first two
  set.begin_use(110, 5);
  BOOST_TEST(set.remove(150));
  BOOST_TEST((set.is_leaving(150) && !set.has(150, 1)));
  BOOST_TEST(!set.add(160, 5));  // not yet
  BOOST_TEST(!set.remove(150));
  set.end_use(140, 20);
  BOOST_TEST(!set.is_leaving(150));  // whatever is done with others
  BOOST_TEST(set.add(160, 5));
  BOOST_TEST(set.remove(100));
  BOOST_TEST(set.is_leaving(100));
  set.end_use(110, 5);
  BOOST_TEST(!set.is_leaving(100));
  set.clear();
  BOOST_TEST((set.is_leaving(300) && !set.is_leaving(160)));
  BOOST_TEST(set.size() == 0u);
  set.end_use(300, 8);
  BOOST_TEST(!set.is_leaving(300));
}

BOOST_AUTO_TEST_CASE(ranges_are_found_whole_and_across_borders) {
  RangeSet set(all_mapped);
  BOOST_TEST(set.add(100, 50));
  BOOST_TEST(set.add(150, 50));
  BOOST_TEST(set.add(300, 8));
  BOOST_TEST(set.has(100, 100));
  BOOST_TEST(set.has(149, 2));
  BOOST_TEST(set.has(307, 1));
  BOOST_TEST(!set.has(99, 2));
  BOOST_TEST(!set.has(100, 101));
  BOOST_TEST(!set.has(200, 1));
  BOOST_TEST(!set.has(190, 118));
  BOOST_TEST(!set.has(~std::uint64_t{0}, 2));
  BOOST_TEST(set.remove(150));
  BOOST_TEST(!set.remove(150));
  BOOST_TEST(!set.remove(101));
  BOOST_TEST(!set.has(149, 2));
  BOOST_TEST(set.has(149, 1));
  set.clear();
  BOOST_TEST(!set.has(100, 1));
}

BOOST_AUTO_TEST_CASE(the_newest_range_is_one_of_the_set) {
  RangeSet set(all_mapped);
  BOOST_TEST(set.add(100, 50));
  BOOST_TEST(!set.add(149, 50));
  BOOST_TEST((set.add(200, 50) && set.has(100, 50)));
  BOOST_TEST(set.remove(200) == 50u);
  BOOST_TEST(set.remove(200) == 0u);
  BOOST_TEST((!set.has(200, 1) && set.size() == 1u));
  BOOST_TEST(set.add(200, 50));
  set.begin_use(200, 8);
  BOOST_TEST(set.remove(200) == 50u);
  BOOST_TEST(set.is_leaving(200));
  BOOST_TEST(!set.add(249, 1));
  set.end_use(200, 8);
  BOOST_TEST(set.add(249, 1));
  set.clear();
  BOOST_TEST(set.size() == 0u);
}

BOOST_AUTO_TEST_CASE(overlapping_ranges_are_refused) {
  RangeSet set(all_mapped);
  BOOST_TEST(set.add(100, 50));
  for (const std::uint64_t begin : {51U, 99U, 100U, 149U}) BOOST_TEST(!set.add(begin, 50));
  BOOST_TEST(!set.add(90, 100));
  BOOST_TEST(!set.add(~std::uint64_t{0} - 3, 8));
  BOOST_TEST(set.add(120, 0));
  BOOST_TEST(set.size() == 1U);
  BOOST_TEST(set.add(50, 50));
  BOOST_TEST(set.add(150, 50));
}

BOOST_AUTO_TEST_CASE(a_model_agrees) {
  constexpr std::uint64_t kSpace = 400;
  RangeSet set(all_mapped);
  std::vector<int> owner(kSpace + 40, -1);  // which range holds each address
  std::map<std::uint64_t, int> begins;
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t begin = random() % kSpace;
    const std::uint64_t bytes = 1 + random() % 30;
    const bool is_free = std::all_of(owner.begin() + static_cast<long>(begin),
                                     owner.begin() + static_cast<long>(begin + bytes), [](int o) { return o < 0; });
    const bool is_held = std::all_of(owner.begin() + static_cast<long>(begin),
                                     owner.begin() + static_cast<long>(begin + bytes), [](int o) { return o >= 0; });
    BOOST_REQUIRE_EQUAL(set.has(begin, bytes), is_held);
    if (random() % 2 == 0) {
      BOOST_REQUIRE_EQUAL(set.add(begin, bytes), is_free);
      if (!is_free) continue;
      begins[begin] = i;
      for (std::uint64_t k = begin; k < begin + bytes; ++k) owner[k] = i;
    } else {
      const auto found = begins.find(begin);
      const long removed = found == begins.end() ? 0 : std::count(owner.begin(), owner.end(), found->second);
      BOOST_REQUIRE_EQUAL(set.remove(begin), static_cast<std::uint64_t>(removed));
      if (found == begins.end()) continue;
      for (int& o : owner) o = o == found->second ? -1 : o;
      begins.erase(found);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_last_ranges_that_were_removed_are_known) {
  RangeSet set(all_mapped);
  BOOST_TEST(set.removed_at(0, 1000) == 0u);
  set.note_removed(100, 50, 3);
  set.note_removed(200, 50, 5);
  set.note_removed(120, 10, 7);
  BOOST_TEST(set.removed_at(100, 1) == 3u);
  BOOST_TEST(set.removed_at(149, 1) == 3u);
  BOOST_TEST(set.removed_at(125, 1) == 7u);
  BOOST_TEST(set.removed_at(0, 1000) == 7u);
  BOOST_TEST(set.removed_at(90, 10) == 0u);
  BOOST_TEST(set.removed_at(150, 50) == 0u);
  for (std::uint64_t i = 0; i < 100; ++i) set.note_removed(1000, 1, 10 + i);
  BOOST_TEST(set.removed_at(100, 1) == 0u);  // too many since
  BOOST_TEST(set.removed_at(1000, 1) == 109u);
  set.clear();
  BOOST_TEST(set.removed_at(0, 2000) == 0u);
}

BOOST_AUTO_TEST_CASE(sets_are_windows_without_a_base) {
  std::byte memory[64];
  const std::byte* const none = nullptr;
  const auto offset = reinterpret_cast<std::uintptr_t>(memory);
  WindowName name{};
  BOOST_REQUIRE(expose_ranges(name));
  BOOST_TEST(range_of_exposed(name).base != nullptr);
  BOOST_TEST(find_exposed(name, offset, 1) == none);
  BOOST_REQUIRE((set_of(name) != nullptr));
  BOOST_TEST(set_of(name)->add(offset, 64));
  BOOST_TEST(find_exposed(name, offset + 8, 56) == memory + 8);
  BOOST_TEST(find_exposed(name, offset + 8, 57) == none);
  set_of(name)->note_removed(offset + 64, 8, 3);
  BOOST_TEST(removed_at(name, offset + 64, 8) == 3u);
  BOOST_TEST(withdraw(name));
  BOOST_TEST(find_exposed(name, offset, 1) == none);
  BOOST_TEST((set_of(name) == nullptr));
  WindowName next{};  // of a plain window in its place: nothing of the set is left
  BOOST_REQUIRE(expose(memory, 8, next));
  BOOST_TEST(find_exposed(next, offset, 1) == none);
  BOOST_TEST((set_of(next) == nullptr));
  BOOST_TEST(withdraw(next));
  BOOST_REQUIRE(expose_ranges(name));
  BOOST_TEST(find_exposed(name, offset, 1) == none);
  BOOST_TEST(removed_at(name, offset + 64, 8) == 0u);
  BOOST_TEST(withdraw(name));
  BOOST_REQUIRE(expose(nullptr, 0, next));
  BOOST_TEST(range_of_exposed(next).base != nullptr);
  BOOST_TEST(find_exposed(next, 0, 1) == none);
  BOOST_TEST(withdraw(next));
}

BOOST_AUTO_TEST_SUITE_END()
