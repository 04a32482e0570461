// Repeated calls of the `any` routines report every satisfied element, also if a program tests several arrays in turn.
#include <vector>

#include "../../support/pe_test.hpp"

using namespace pe_test;

PE_TEST(arrays_in_turn_do_not_hide_elements) {
  constexpr std::size_t kWords = 4;
  Symmetric<long> many(kWords), one(1);
  for (std::size_t i = 0; i < kWords; ++i) many[i] = 1;
  one[0] = 1;
  std::vector<int> seen(kWords, 0);
  for (int round = 0; round < 64; ++round) {
    const std::size_t found = shmem_long_test_any(many.get(), kWords, nullptr, SHMEM_CMP_EQ, 1);
    if (CHECK(found < kWords)) ++seen[found];
    CHECK_EQUAL(shmem_long_wait_until_any(one.get(), 1, nullptr, SHMEM_CMP_EQ, 1), std::size_t{0});
  }
  for (std::size_t i = 0; i < kWords; ++i) CHECK(seen[i] > 0);
}
