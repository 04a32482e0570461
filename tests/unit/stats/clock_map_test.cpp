#include "stats/clock_map.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "stats/ring.hpp"
#include "stats/trace_file.hpp"

BOOST_AUTO_TEST_SUITE(stats_clock_map)

namespace {

using namespace shmemx::stats;

constexpr std::uint64_t kSecond = 1'000'000'000;

// A clock that shows 5 s too little at its time 100 s, and 1 ms less than that 1000 s later.
constexpr ClockMap kSlow{{100 * kSecond, 5'000'000'000, 300}, {1100 * kSecond, 5'001'000'000, 700}};

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Writes the file of a node with a PE that made one call.
void write_ring(const std::string& path, std::uint32_t pe, const ClockMap& clock, std::uint64_t begin_ns) {
  RingHeader header{};
  header.magic = kRingMagic;
  header.job = 7;
  header.n_parts = 1;
  header.capacity = 8;
  header.owner = {pe, 2, pe, 2, "host"};
  header.clock = clock;
  BOOST_REQUIRE(open_ring(path.c_str(), 0, header, false).has_value());
  record({"shmem_test", Family::put, Path::network, static_cast<int>(1 - pe), 1, 8}, begin_ns, begin_ns + 1000,
         nullptr);
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_a_second_comparison_the_offset_stays) {
  const ClockMap once{{100, -40, 3}, {}};
  BOOST_CHECK_EQUAL(once.reference_ns(100), 60);
  BOOST_CHECK_EQUAL(once.reference_ns(1000), 960);
  BOOST_CHECK_EQUAL(once.drift_ns(), 0);
  BOOST_CHECK_EQUAL(ClockMap{}.reference_ns(12), 12);
}

BOOST_AUTO_TEST_CASE(between_comparisons_clocks_drift_evenly) {
  BOOST_CHECK_EQUAL(kSlow.reference_ns(100 * kSecond), 105'000'000'000);
  BOOST_CHECK_EQUAL(kSlow.reference_ns(600 * kSecond), 605'000'500'000);
  BOOST_CHECK_EQUAL(kSlow.reference_ns(1100 * kSecond), 1105'001'000'000);
  BOOST_CHECK_EQUAL(kSlow.reference_ns(1200 * kSecond), 1205'001'100'000);
  BOOST_CHECK_EQUAL(kSlow.reference_ns(0), 4'999'900'000);
  BOOST_CHECK_EQUAL(kSlow.drift_ns(), 1'000'000);
  BOOST_CHECK_EQUAL(kSlow.error_ns(), 700U);
}

BOOST_AUTO_TEST_CASE(later_stays_later) {
  const ClockMap fast{{1000, 500, 0}, {2000, 0, 0}};  // loses half of its time
  for (std::uint64_t ns = 900; ns < 2100; ++ns) BOOST_REQUIRE_LE(fast.reference_ns(ns), fast.reference_ns(ns + 1));
  BOOST_CHECK_EQUAL(fast.reference_ns(1500), 1750);
}

// Both PEs call at the same time of PE 0's clock, in the middle of the job.
BOOST_AUTO_TEST_CASE(a_trace_is_on_one_clock) {
  const std::string base = "clock_map_test." + std::to_string(::getpid());
  BOOST_REQUIRE(counters.contexts != nullptr || open_counters(2, 2));
  write_ring(base + ".node0", 0, {}, 605'000'500'000);
  write_ring(base + ".node1", 1, kSlow, 600 * kSecond);
  const auto written = write_trace({{base + ".node0", base + ".node1"}}, base);
  BOOST_REQUIRE(written.has_value());
  const std::string text = text_of_file(base);
  BOOST_CHECK_EQUAL(written.value().n_events, 2U);
  BOOST_CHECK(text.find(R"("pid":0,"tid":1,"ts":0.000,"dur":1.000)") != std::string::npos);
  BOOST_CHECK(text.find(R"("pid":1,"tid":1,"ts":0.000,"dur":1.000)") != std::string::npos);
  BOOST_CHECK(text.find(R"("clock_error_ns":700,"clock_drift_ns":1000000,"clock_comparisons":2)") != std::string::npos);
  for (const char* ending : {"", ".node0", ".node1"}) std::remove((base + ending).c_str());
}

BOOST_AUTO_TEST_SUITE_END()
