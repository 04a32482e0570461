// Strided gets by messages: what the initiator requests, and what the target keeps for its replies.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "rdma_life.hpp"
#include "windows/exposure.hpp"

BOOST_AUTO_TEST_SUITE(onesided_strided_get)

namespace {

using namespace shmemx;
using unit::kRemoteBytes;
using unit::Life;
using unit::Log;

constexpr config::NetRma kAutomatic = config::NetRma::automatic;

// Gets blocks that lie `step` bytes apart into places that lie 8 bytes more apart, and compares them.
Log log_of_get(Life& life, std::size_t block_bytes, std::size_t count, std::size_t step) {
  constexpr std::byte kUntouched{0xee};
  constexpr std::size_t kFirst = 24;
  auto& remote = life.network.remote;
  for (std::size_t i = 0; i < remote.size(); ++i) remote[i] = static_cast<std::byte>(i * 5 + (i >> 7));
  const std::size_t local_step = step + 8;
  std::vector<std::byte> dest(count * local_step, kUntouched);
  std::vector<std::byte> expected = dest;
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(expected.data() + i * local_step, remote.data() + kFirst + i * step, block_bytes);
  life.network.log.clear();
  onesided::get_strided("ibget", context::default_context(), dest.data(), Life::at(kFirst),
                        {block_bytes, count, local_step, step});
  BOOST_CHECK(dest == expected);
  return life.network.log;
}

const std::string kBatch = "message";  // in which short requests leave together
std::string get_of(std::size_t count) { return "message get of " + std::to_string(count) + " blocks"; }

}  // namespace

BOOST_AUTO_TEST_CASE(one_request_names_64_kib_of_blocks) {
  Life life(kAutomatic, Life::Network::messages);
  BOOST_CHECK((log_of_get(life, 8, 1000, 16) == Log{get_of(1000)}));
  BOOST_CHECK((log_of_get(life, 64, 1000, 128) == Log{get_of(1000)}));
  BOOST_CHECK((log_of_get(life, 512, 100, 1000) == Log{get_of(100)}));
  BOOST_CHECK((log_of_get(life, 64, 1024, 72) == Log{get_of(1024)}));
  BOOST_CHECK((log_of_get(life, 5000, 13, 5008) == Log{get_of(13)}));
}

BOOST_AUTO_TEST_CASE(more_blocks_take_more_requests) {
  Life life(kAutomatic, Life::Network::messages);
  BOOST_CHECK((log_of_get(life, 64, 1025, 72) == Log{get_of(1024), get_of(1), kBatch}));
  BOOST_CHECK((log_of_get(life, 24, 20'000, 40) == Log{get_of(2730), get_of(2730), get_of(2730), get_of(2730),
                                                       get_of(2730), get_of(2730), get_of(2730), get_of(890), kBatch}));
}

// The other PE has not read its replies: what this one keeps for them does not grow with the requests.
BOOST_AUTO_TEST_CASE(the_target_keeps_a_bounded_number_of_replies) {
  constexpr std::size_t kRequests = 100;
  constexpr std::size_t kMostKept = 64;
  constexpr std::size_t kBytes = 32'000;
  Life life(kAutomatic, Life::Network::messages);
  std::vector<std::byte> heap(2 * kBytes);
  windows::expose_builtin(windows::kHeapWindow, heap.data(), heap.size());
  const auto poll = [] {
    const am::Locked endpoint;
    endpoint->poll();
  };
  life.network.reads_later = true;
  const std::string reply = "reply of " + std::to_string(kBytes) + " bytes";
  for (std::size_t i = 0; i < kRequests; ++i)
    life.network.request_blocks({windows::kHeapWindow, 0, 64, 32, kBytes / 32, 7, 0});
  for (int i = 0; i < 3; ++i) poll();
  BOOST_CHECK_EQUAL(life.network.count(reply), kMostKept);
  life.network.read_payloads();
  for (int i = 0; i < 3; ++i) poll();
  BOOST_CHECK_EQUAL(life.network.count(reply), kRequests);
  life.network.read_payloads();
  poll();
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

BOOST_AUTO_TEST_SUITE_END()
