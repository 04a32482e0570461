#include "base/machine.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "base/affinity.hpp"
#include "base/cache_line.hpp"
#include "support/child.hpp"

namespace {

using namespace shmemx;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsAllowed = false;  // the shadow memory is larger than any limit worth testing
#else
constexpr bool kLimitsAllowed = true;
#endif

BOOST_AUTO_TEST_SUITE(base_machine)

}  // namespace

BOOST_AUTO_TEST_CASE(available_memory_is_positive_and_at_most_that_of_the_machine) {
  BOOST_CHECK_GT(total_memory_bytes(), std::uint64_t{16} << 20);
  BOOST_CHECK_GT(available_memory_bytes(), 0U);
  BOOST_CHECK_LE(available_memory_bytes(), total_memory_bytes());
}

BOOST_AUTO_TEST_CASE(layouts_consist_of_whole_pages_of_this_kernel) {
  BOOST_CHECK_EQUAL(page_bytes(), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  BOOST_CHECK_EQUAL(kPageBytes % page_bytes(), 0U);
}

BOOST_AUTO_TEST_CASE(the_affinity_bits_are_those_of_the_mask) {
  std::uint64_t words[16] = {~std::uint64_t{0}};
  BOOST_REQUIRE(read_affinity(words));
  int bits = 0;
  for (const std::uint64_t word : words) bits += std::popcount(word);
  const auto cpus = affinity_cpus();
  BOOST_CHECK_EQUAL(static_cast<std::size_t>(bits), cpus.size());
  for (const int cpu : cpus) BOOST_CHECK((words[cpu / 64] >> (cpu % 64) & 1U) == 1U);
  BOOST_CHECK(!read_affinity({}));
}

BOOST_AUTO_TEST_CASE(the_quota_is_in_thousandths_of_a_core) {
  const double quota = cgroup_cpu_quota();
  if (quota > 0) {
    BOOST_CHECK_EQUAL(cpu_quota_milli(), static_cast<std::uint64_t>(quota * 1000));
  } else {
    BOOST_CHECK_EQUAL(cpu_quota_milli(), kUnlimited);
  }
}

BOOST_AUTO_TEST_CASE(the_last_cache_is_the_largest_one) {
  std::uint64_t largest = 0;
  for (int index = 0; index < 5; ++index) {
    std::ifstream size("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::uint64_t kib = 0;
    if (size >> kib) largest = std::max(largest, kib * 1024);
  }
  BOOST_CHECK_EQUAL(last_cache_bytes(), largest);
}

BOOST_AUTO_TEST_CASE(the_limit_of_the_address_space_is_reported) {
  rlimit now;
  BOOST_REQUIRE_EQUAL(::getrlimit(RLIMIT_AS, &now), 0);
  BOOST_CHECK_EQUAL(address_space_limit(), now.rlim_cur == RLIM_INFINITY ? kUnlimited : now.rlim_cur);
  if (!kLimitsAllowed) return;
  const auto end = unit::in_child([&] {
    constexpr rlim_t kLimit = rlim_t{3} << 30;
    const rlimit lower{kLimit, now.rlim_max};
    return ::setrlimit(RLIMIT_AS, &lower) == 0 && address_space_limit() == kLimit ? 0 : 1;
  });
  BOOST_CHECK_EQUAL(end.status, 0);
}

BOOST_AUTO_TEST_SUITE_END()
