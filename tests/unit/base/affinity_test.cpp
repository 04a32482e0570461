#include "base/affinity.hpp"

#include <sched.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>
#include <thread>

BOOST_AUTO_TEST_SUITE(base_affinity)

namespace {

using namespace shmemx;

using Cpus = std::vector<int>;

}  // namespace

BOOST_AUTO_TEST_CASE(cpu_lists_of_the_kernel_are_read) {
  BOOST_TEST(parse_cpu_list("0") == Cpus({0}), boost::test_tools::per_element());
  BOOST_TEST(parse_cpu_list("0-3,8") == Cpus({0, 1, 2, 3, 8}), boost::test_tools::per_element());
  BOOST_TEST(parse_cpu_list("7,5-6") == Cpus({7, 5, 6}), boost::test_tools::per_element());
  BOOST_TEST(parse_cpu_list("10-10\n") == Cpus({10}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_valid_part_of_a_malformed_list_is_kept) {
  BOOST_CHECK(parse_cpu_list("").empty());
  BOOST_CHECK(parse_cpu_list("none").empty());
  BOOST_CHECK(parse_cpu_list("-3").empty());
  BOOST_TEST(parse_cpu_list("1,2,x") == Cpus({1, 2}), boost::test_tools::per_element());
  BOOST_CHECK(parse_cpu_list("5-2").empty());
  BOOST_CHECK_LE(parse_cpu_list("0-99999999999").size(), std::size_t{1} << 20);
}

BOOST_AUTO_TEST_CASE(cpu_lists_are_written_as_the_kernel_writes_them) {
  BOOST_CHECK_EQUAL(format_cpu_list({}), "");
  BOOST_CHECK_EQUAL(format_cpu_list({4}), "4");
  BOOST_CHECK_EQUAL(format_cpu_list({0, 1, 2, 3, 8}), "0-3,8");
  BOOST_CHECK_EQUAL(format_cpu_list({1, 3, 5, 6}), "1,3,5-6");
  for (unsigned mask = 1; mask < 1024; ++mask) {
    Cpus cpus;
    for (int cpu = 0; cpu < 10; ++cpu) {
      if ((mask >> cpu & 1U) != 0) cpus.push_back(cpu);
    }
    BOOST_REQUIRE(parse_cpu_list(format_cpu_list(cpus)) == cpus);
  }
}

BOOST_AUTO_TEST_CASE(the_affinity_mask_of_the_calling_thread_counts) {
  const Cpus all = affinity_cpus();
  BOOST_REQUIRE(!all.empty());
  BOOST_CHECK(std::is_sorted(all.begin(), all.end()));
  Cpus bound;
  int usable = 0;
  bool could_bind = false;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(all.back()), &one);
    could_bind = ::sched_setaffinity(0, sizeof one, &one) == 0;
    bound = affinity_cpus();
    usable = usable_cpus();
  }).join();
  BOOST_REQUIRE(could_bind);
  BOOST_TEST(bound == Cpus({all.back()}), boost::test_tools::per_element());
  BOOST_CHECK_EQUAL(usable, 1);
  BOOST_CHECK(affinity_cpus() == all);
}

BOOST_AUTO_TEST_CASE(usable_cpus_are_bounded_by_mask_and_quota) {
  const int usable = usable_cpus();
  BOOST_CHECK_GE(usable, 1);
  BOOST_CHECK_LE(static_cast<std::size_t>(usable), affinity_cpus().size());
  const double quota = cgroup_cpu_quota();
  BOOST_CHECK_GE(quota, 0.0);
  if (quota > 0) BOOST_CHECK_LT(usable, quota + 1);
}

BOOST_AUTO_TEST_CASE(memory_of_control_groups_is_consistent) {
  const std::uint64_t limit = cgroup_memory_limit();
  const std::uint64_t available = cgroup_memory_available();
  if (limit != 0) BOOST_CHECK_LE(available, limit);
}

BOOST_AUTO_TEST_CASE(the_first_line_of_a_small_file_is_read) {
  char path[] = "/tmp/shmemx_unit_XXXXXX";
  std::FILE* const file = ::fdopen(::mkstemp(path), "w");
  BOOST_REQUIRE(file != nullptr);
  std::fputs("first 1\nsecond\n", file);
  std::fclose(file);
  BOOST_CHECK_EQUAL(read_small_file(path), "first 1");
  std::remove(path);
  BOOST_CHECK_EQUAL(read_small_file(path), "");
}

BOOST_AUTO_TEST_SUITE_END()
