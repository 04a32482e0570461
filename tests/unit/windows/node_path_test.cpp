#include "windows/node_path.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "base/machine.hpp"

BOOST_AUTO_TEST_SUITE(windows_node_path)

namespace {

using namespace shmemx;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::size_t kChannelBytes = std::size_t{4} << 20;

// Records of PEs that ask for nothing special.
std::vector<bootstrap::PeRecord> records_of(std::size_t n_pes, std::uint64_t heap_bytes, std::uint8_t asked) {
  std::vector<bootstrap::PeRecord> records(n_pes);
  for (bootstrap::PeRecord& record : records) {
    record.heap_bytes = heap_bytes;
    record.heap_asked = asked;
    record.address_limit = kUnlimited;
    record.node_path = NodePath::automatic;
    record.queue_cells = 64;
    record.queue_cell_bytes = 8192;
  }
  return records;
}

std::vector<bootstrap::RecordOfPe> by_pe(const std::vector<bootstrap::PeRecord>& records) {
  std::vector<bootstrap::RecordOfPe> all;
  for (const bootstrap::PeRecord& record : records) all.push_back({static_cast<int>(all.size()), &record});
  return all;
}

Status check_agreement(const std::vector<bootstrap::PeRecord>& records) {
  return windows::check_agreement(by_pe(records));
}

auto plan_node(const std::vector<bootstrap::PeRecord>& records, const windows::Sharing& sharing,
               std::size_t channel_bytes) {
  return windows::plan_node(by_pe(records), sharing, channel_bytes);
}

// Of a job on one node.
auto plan_node(const std::vector<bootstrap::PeRecord>& records, std::size_t channel_bytes) {
  return plan_node(records, records.size(), channel_bytes);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(what_fits_is_mapped) {
  for (const std::size_t n_pes : {1, 2, 7, 4096}) {
    for (const std::uint8_t asked : {std::uint8_t{0}, std::uint8_t{1}}) {
      const auto plan = plan_node(records_of(n_pes, kGiB, asked), kChannelBytes);
      BOOST_REQUIRE(plan);
      BOOST_CHECK(plan.value().path == NodePath::direct);
      BOOST_CHECK_EQUAL(plan.value().geometry.heap_bytes, kGiB);
      BOOST_CHECK_EQUAL(plan.value().geometry.channel_bytes, kChannelBytes);
      BOOST_CHECK(!plan.value().why.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_heap_is_the_smallest_wish_and_the_statics_are_the_largest) {
  auto records = records_of(3, kGiB, 0);
  records[1].heap_bytes = kGiB / 4;
  records[2].static_bytes = 12 * kPageBytes;
  const auto plan = plan_node(records, kChannelBytes);
  BOOST_REQUIRE(plan);
  BOOST_CHECK_EQUAL(plan.value().geometry.heap_bytes, kGiB / 4);
  BOOST_CHECK_EQUAL(plan.value().geometry.static_bytes, 12 * kPageBytes);
}

BOOST_AUTO_TEST_CASE(a_default_heap_shrinks_before_messages_are_used) {
  auto records = records_of(8, 64 * kGiB, 0);
  records[5].address_limit = 16 * kGiB;  // the tightest one counts for all
  const auto plan = plan_node(records, kChannelBytes);
  BOOST_REQUIRE(plan);
  BOOST_CHECK(plan.value().path == NodePath::direct);
  BOOST_CHECK_LE(8 * plan.value().geometry.stride + kChannelBytes, 8 * kGiB);
  BOOST_CHECK_GE(plan.value().geometry.heap_bytes, kGiB / 4);
}

BOOST_AUTO_TEST_CASE(a_heap_that_was_asked_for_and_fits_once_only_goes_by_messages) {
  auto records = records_of(8, 2 * kGiB, 0);
  records[3].heap_asked = 1;
  records[5].address_limit = 10 * kGiB;
  const auto plan = plan_node(records, kChannelBytes);
  BOOST_REQUIRE(plan);
  BOOST_CHECK(plan.value().path == NodePath::queue);
  BOOST_CHECK(!plan.value().room_for_all);
  BOOST_CHECK_EQUAL(plan.value().geometry.heap_bytes, 2 * kGiB);
}

BOOST_AUTO_TEST_CASE(a_default_heap_that_cannot_shrink_enough_goes_by_messages) {
  auto records = records_of(4096, 64 * kGiB, 0);
  records[0].address_limit = 16 * kGiB;  // 2 MiB for each of 4096 PEs: less than their slots
  const auto plan = plan_node(records, kChannelBytes);
  BOOST_REQUIRE(plan);
  BOOST_CHECK(plan.value().path == NodePath::queue);
  BOOST_CHECK_LE(plan.value().geometry.stride, 8 * kGiB);
}

BOOST_AUTO_TEST_CASE(a_heap_has_to_fit_for_the_pes_of_a_node_only) {
  constexpr std::uint64_t kAsked = 20480 * kGiB;
  for (const std::size_t world : {4, 64, 4096}) {
    const auto records = records_of(world, kAsked, 1);
    const auto plan = plan_node(records, {world, 2, 1}, kChannelBytes);
    BOOST_REQUIRE(plan);
    BOOST_CHECK(plan.value().path == NodePath::direct);
    BOOST_CHECK_EQUAL(plan.value().geometry.heap_bytes, kAsked);
    BOOST_CHECK_EQUAL(plan.value().warning, "");
    BOOST_CHECK(plan_node(records, {world, 4, 1}, kChannelBytes).value().path == NodePath::queue);
  }
}

BOOST_AUTO_TEST_CASE(a_heap_that_was_asked_for_is_never_reached_by_messages_silently) {
  const auto plan = plan_node(records_of(8, 20480 * kGiB, 1), {8, 4, 2}, kChannelBytes);
  BOOST_REQUIRE(plan);
  BOOST_CHECK(plan.value().path == NodePath::queue);
  const std::string& warning = plan.value().warning;
  BOOST_CHECK_MESSAGE(contains(warning, "requests 21990232555520 bytes for each of 4 PEs of a node"), warning);
  BOOST_CHECK_MESSAGE(contains(warning, "a PE's address space (70368744177664 bytes, "), warning);
  BOOST_CHECK_MESSAGE(contains(warning, "use messages"), warning);
  // The size that it names is the largest that avoids this.
  const std::string before = "to at most ";
  const std::size_t at = warning.find(before);
  BOOST_REQUIRE(at != std::string::npos);
  const std::uint64_t room = std::stoull(warning.substr(at + before.size()));
  for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{1}}) {
    const auto other = plan_node(records_of(8, room + more, 1), {8, 4, 2}, kChannelBytes);
    BOOST_CHECK(other.value().path == (more == 0 ? NodePath::direct : NodePath::queue));
  }
  // Nobody has asked for memory to be mapped, or for this size.
  auto records = records_of(8, 20480 * kGiB, 1);
  records[0].node_path = NodePath::queue;
  BOOST_CHECK_EQUAL(plan_node(records, {8, 4, 2}, kChannelBytes).value().warning, "");
  records = records_of(4096, 64 * kGiB, 0);
  records[0].address_limit = 16 * kGiB;
  BOOST_CHECK_EQUAL(plan_node(records, kChannelBytes).value().warning, "");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_once_is_an_error) {
  auto records = records_of(2, 8 * kGiB, 1);
  records[1].address_limit = 8 * kGiB;
  const auto plan = plan_node(records, kChannelBytes);
  BOOST_REQUIRE(!plan);
  BOOST_CHECK(plan.error().code == Errc::no_memory);
  BOOST_CHECK(contains(plan.error().text, "SHMEM_SYMMETRIC_SIZE asks for 8589934592 bytes for each of 2 PEs"));
  BOOST_CHECK(contains(plan.error().text, "(4294967296 bytes, see ulimit -v)"));
  records[0].heap_asked = records[1].heap_asked = 0;
  BOOST_CHECK(plan_node(records, kChannelBytes));
  records[1].address_limit = kPageBytes;
  BOOST_CHECK(!plan_node(records, kChannelBytes));
}

BOOST_AUTO_TEST_CASE(the_channel_segment_counts) {
  auto records = records_of(2, kGiB, 1);
  const windows::Geometry geometry = windows::make_geometry(2, 0, kGiB);
  records[0].address_limit = 2 * (2 * geometry.stride + kChannelBytes);
  BOOST_CHECK(plan_node(records, kChannelBytes).value().path == NodePath::direct);
  BOOST_CHECK(plan_node(records, kChannelBytes + 2 * kPageBytes).value().path == NodePath::queue);
  BOOST_CHECK(!plan_node(records, 2 * kGiB + kHugePageBytes));
}

BOOST_AUTO_TEST_CASE(one_wish_for_messages_is_enough) {
  auto records = records_of(4, kGiB, 0);
  records[2].node_path = NodePath::queue;
  BOOST_REQUIRE(check_agreement(records));
  const auto plan = plan_node(records, kChannelBytes);
  BOOST_REQUIRE(plan);
  BOOST_CHECK(plan.value().path == NodePath::queue);
  BOOST_CHECK(plan.value().room_for_all);
  BOOST_CHECK(contains(plan.value().why, "SHMEMX_NODE_PATH"));
}

BOOST_AUTO_TEST_CASE(one_wish_for_mapping_forbids_messages) {
  auto records = records_of(8, 2 * kGiB, 1);
  records[7].node_path = NodePath::direct;
  BOOST_REQUIRE(check_agreement(records));
  BOOST_CHECK(plan_node(records, kChannelBytes).value().path == NodePath::direct);
  records[5].address_limit = 10 * kGiB;
  const auto plan = plan_node(records, kChannelBytes);
  BOOST_REQUIRE(!plan);
  BOOST_CHECK(contains(plan.error().text, "SHMEMX_NODE_PATH=queue"));
}

BOOST_AUTO_TEST_CASE(wishes_that_differ_are_named) {
  auto records = records_of(4, kGiB, 0);
  BOOST_CHECK(check_agreement(records));
  records[1].node_path = NodePath::direct;
  records[3].node_path = NodePath::queue;
  BOOST_CHECK_EQUAL(check_agreement(records).error().text,
                    "SHMEMX_NODE_PATH is direct on PE 1 and queue on PE 3, all PEs have to set the same");
  records = records_of(4, kGiB, 0);
  records[2].queue_cells = 128;
  BOOST_CHECK_EQUAL(check_agreement(records).error().text,
                    "SHMEMX_QUEUE_CELLS is 64 on PE 0 and 128 on PE 2, all PEs have to set the same");
  records = records_of(4, kGiB, 0);
  records[2].checks = 9;
  BOOST_CHECK_EQUAL(check_agreement(records).error().text,
                    "SHMEM_CHECK is 0 on PE 0 and heap,leaks on PE 2, all PEs have to set the same");
  records = records_of(4, kGiB, 0);
  records[3].node_order = 1;
  BOOST_CHECK_EQUAL(check_agreement(records).error().text,
                    "SHMEMX_NODE_ORDER is block on PE 0 and cyclic on PE 3, all PEs have to set the same");
  records = records_of(4, kGiB, 0);
  records[0].queue_cell_bytes = 512;
  BOOST_CHECK_EQUAL(check_agreement(records).error().text,
                    "SHMEMX_QUEUE_CELL_BYTES is 512 on PE 0 and 8192 on PE 1, all PEs have to set the same");
  BOOST_CHECK(check_agreement(records).error().code == Errc::invalid_argument);
  std::vector<bootstrap::RecordOfPe> some = by_pe(records);
  some[0].pe = 70'000;
  BOOST_CHECK_EQUAL(windows::check_agreement(some).error().text,
                    "SHMEMX_QUEUE_CELL_BYTES is 512 on PE 70000 and 8192 on PE 1, all PEs have to set the same");
}

BOOST_AUTO_TEST_SUITE_END()
