// Contexts with endpoints of their own, over a network that plays the other PE (played_network.hpp).
#include "onesided/lane.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "onesided/direct.hpp"
#include "onesided/order.hpp"
#include "onesided/short_path.hpp"
#include "rdma_life.hpp"

BOOST_AUTO_TEST_SUITE(onesided_lane)

namespace {

using namespace shmemx;
using unit::kLong;
using unit::kOther;
using unit::kRemoteBytes;
using unit::Life;
using unit::Log;

// A context that one thread at a time uses, as shmem_ctx_create makes it.
class OwnContext {
 public:
  explicit OwnContext(std::size_t index = 20) : context_(context::context_table[index]) {
    onesided::want_lane(context_);
  }
  ~OwnContext() {
    onesided::quiet("shmem_ctx_destroy", {&context_});
    onesided::flush("shmem_ctx_destroy", {&context_});
    onesided::release_lane(context_);
  }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;

  const context::Context& operator*() const noexcept { return context_; }
  bool has_lane() const noexcept { return context_.lane != nullptr && context_.lane->network != nullptr; }
  void put(std::size_t offset, const std::vector<std::byte>& source, std::size_t bytes) const {
    onesided::put("put", context_, Life::at(offset), source.data(), bytes);
  }
  void put_nbi(std::size_t offset, const std::vector<std::byte>& source, std::size_t bytes) const {
    onesided::put_nbi("put_nbi", context_, Life::at(offset), source.data(), bytes);
  }
  void quiet() const { onesided::flush("quiet", {&context_}); }
  bool put_word(std::size_t offset, std::uint64_t word) const {
    BOOST_REQUIRE(has_stack(kRoomyStackBytes));
    return onesided::put_at_once(*context_.lane, kOther, offset, am::bytes_of(word));
  }
  transport::ShortGet get_word(std::size_t offset, std::uint64_t& word, transport::Completion& completion) const {
    BOOST_REQUIRE(has_stack(kRoomyStackBytes));
    return onesided::get_at_once(*context_.lane, kOther, offset, std::as_writable_bytes(std::span(&word, 1)),
                                 completion);
  }

 private:
  context::Context& context_;
};

// The key is known, and nothing is under way.
void begin(Life& life) {
  life.put_of_program(0, 8);
  onesided::flush("quiet", {&context::default_context()});
  life.network.log.clear();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lane_is_opened_by_the_first_operation) {
  Life life;
  begin(life);
  const OwnContext own;
  BOOST_CHECK(!own.has_lane());
  BOOST_CHECK_EQUAL(life.network.lanes_opened, 0u);
  own.put(64, life.source, 8);
  BOOST_CHECK(own.has_lane());
  own.quiet();
  BOOST_CHECK((life.network.log == Log{"lane imports", "by lane", "start put", "put"}));
  own.put(128, life.source, 100);
  own.quiet();
  BOOST_CHECK_EQUAL(life.network.count("lane imports"), 1u);
  BOOST_CHECK(life.has(64, 8) && life.has(128, 100));
}

BOOST_AUTO_TEST_CASE(the_first_access_of_all_requests_the_key) {
  Life life;
  const OwnContext own;
  own.put(64, life.source, 8);
  own.quiet();
  BOOST_CHECK(!own.has_lane());
  own.put(64, life.source, 8);
  BOOST_CHECK(own.has_lane());
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 1u);
}

BOOST_AUTO_TEST_CASE(every_kind_of_operation_goes_by_the_lane) {
  Life life;
  begin(life);
  const OwnContext own;
  std::vector<std::byte> back(kLong);
  own.put(0, life.source, kLong);
  own.put_nbi(kLong, life.source, 100);
  own.quiet();
  onesided::get("get", *own, back.data(), Life::at(0), kLong);
  BOOST_CHECK(std::memcmp(back.data(), life.source.data(), kLong) == 0);
  onesided::get_nbi("get_nbi", *own, back.data(), Life::at(kLong), 100);
  own.quiet();
  BOOST_CHECK(std::memcmp(back.data(), life.source.data(), 100) == 0);
  onesided::put_strided("iput", *own, Life::at(0), life.source.data(), {8, 10, 24, 16});
  onesided::get_strided("iget", *own, back.data(), Life::at(0), {8, 10, 20, 24});
  for (std::size_t i = 0; i < 10; ++i)
    BOOST_CHECK(std::memcmp(back.data() + 20 * i, life.source.data() + 16 * i, 8) == 0);
  std::uint64_t word = 0x0123456789abcdef;
  BOOST_CHECK(own.put_word(4096, word));
  own.quiet();
  std::uint64_t got = 0;
  transport::Completion completion;
  BOOST_CHECK(own.get_word(4096, got, completion) == transport::ShortGet::done);
  BOOST_CHECK_EQUAL(got, word);
  BOOST_CHECK_EQUAL(life.network.count("by lane"), life.network.count("start put") + life.network.count("start get"));
  BOOST_CHECK_EQUAL(life.network.count("start put") + life.network.count("start get"), 26u);
}

// Whoever holds the lock of the endpoint delays no lane.
BOOST_AUTO_TEST_CASE(a_lane_takes_no_lock) {
  Life life;
  begin(life);
  am::endpoint_lock.share();
  const OwnContext own;
  own.put(0, life.source, 8);
  own.quiet();
  const am::Locked held;
  life.network.log.clear();
  life.network.transfer_polls = 5;
  std::uint64_t word = 7;
  transport::Completion completion;
  BOOST_CHECK(own.put_word(64, word));
  BOOST_CHECK(own.get_word(64, word, completion) == transport::ShortGet::open);
  BOOST_CHECK(onesided::await_get("g", *own, kOther, completion));
  own.put(128, life.source, 200);
  own.put_nbi(512, life.source, 200);
  onesided::fence_unmapped("fence", *own);
  own.put(1024, life.source, 8);
  own.quiet();
  BOOST_CHECK_EQUAL(life.network.count("put"), 4u);
}

BOOST_AUTO_TEST_CASE(quiet_leaves_other_lanes_alone) {
  Life life;
  begin(life);
  const OwnContext one(20), two(21);
  one.put(0, life.source, 8);
  two.put(0, life.source, 8);
  one.quiet();
  two.quiet();
  BOOST_CHECK_EQUAL(life.network.lanes_opened, 2u);
  life.network.log.clear();
  life.network.transfer_polls = 50;
  one.put_nbi(0, life.source, 100);
  BOOST_CHECK(onesided::has_direct_open());
  two.quiet();
  onesided::flush("quiet", {&context::default_context()});
  BOOST_CHECK_EQUAL(life.network.count("put"), 0u);
  onesided::flush("finalize", {});
  BOOST_CHECK_EQUAL(life.network.count("put"), 1u);
  one.put_nbi(0, life.source, 100);
  onesided::flush("pe_quiet", {&*one, kOther});
  BOOST_CHECK_EQUAL(life.network.count("put"), 2u);
  BOOST_CHECK(!onesided::has_direct_open());
}

BOOST_AUTO_TEST_CASE(fences_order_a_lane_and_messages) {
  Life life;
  begin(life);
  const OwnContext own;
  own.put(0, life.source, 8);
  own.quiet();
  life.network.log.clear();
  life.network.message_polls = life.network.transfer_polls = 50;
  own.put_nbi(0, life.source, 8);
  onesided::fence_unmapped("fence", *own);
  BOOST_CHECK((life.network.log == Log{"by lane", "start put", "put"}));
  life.network.log.clear();
  life.put(0, 8);  // a message
  onesided::fence_unmapped("fence", *own);
  BOOST_CHECK(!own.put_word(0, 1));
  own.put_nbi(0, life.source, 8);
  BOOST_CHECK(own.put_word(8, 1));
  own.quiet();
  BOOST_CHECK((life.network.log == Log{"message put", "by lane", "start put", "by lane", "start put", "put", "put"}));
}

BOOST_AUTO_TEST_CASE(longer_ones_go_by_the_direct_path) {
  Life life;
  life.network.lane_bytes = 1000;
  begin(life);
  const OwnContext own;
  own.put(0, life.source, 8);
  own.quiet();
  life.network.log.clear();
  life.network.transfer_polls = 50;
  own.put_nbi(0, life.source, 1001);
  own.put_nbi(kLong, life.source, 1000);
  onesided::fence_unmapped("fence", *own);
  BOOST_CHECK_EQUAL(life.network.count("put"), 2u);
  own.put_nbi(0, life.source, 1001);
  own.quiet();
  BOOST_CHECK_EQUAL(life.network.count("put"), 3u);
  BOOST_CHECK_EQUAL(life.network.count("by lane"), 1u);
}

BOOST_AUTO_TEST_CASE(contexts_beyond_the_last_lane_share) {
  Life life;
  begin(life);
  {
    std::vector<std::unique_ptr<OwnContext>> contexts;
    for (std::size_t i = 0; i < 18; ++i) {
      contexts.push_back(std::make_unique<OwnContext>(20 + i));
      contexts.back()->put(8 * i, life.source, 8);
      BOOST_CHECK_EQUAL(contexts.back()->has_lane(), i < 16);
    }
    onesided::flush("finalize", {});
    BOOST_CHECK_EQUAL(life.network.count("put"), 18u);
    BOOST_CHECK_EQUAL(life.network.count("by lane"), 16u);
  }
  life.network.log.clear();
  const OwnContext later(60);
  later.put(0, life.source, 8);
  BOOST_CHECK(later.has_lane());
  BOOST_CHECK_EQUAL(life.network.lanes_opened, 16u);
  BOOST_CHECK_EQUAL(life.network.count("lane imports"), 0u);
}

BOOST_AUTO_TEST_CASE(a_network_without_lanes_is_asked_once) {
  Life life;
  life.network.most_lanes = 0;
  begin(life);
  const OwnContext one(20), two(21);
  for (const OwnContext* own : {&one, &two}) {
    own->put(0, life.source, 8);
    BOOST_CHECK(!own->has_lane());
    own->quiet();
  }
  BOOST_CHECK_EQUAL(life.network.count("put"), 2u);
  BOOST_CHECK_EQUAL(life.network.count("by lane"), 0u);
}

BOOST_AUTO_TEST_CASE(lanes_end_with_the_life_of_the_library) {
  {
    Life life;
    begin(life);
    const OwnContext own;
    own.put(0, life.source, 8);
    own.quiet();
    BOOST_CHECK_EQUAL(life.network.open_lanes, 1u);
    onesided::close_rdma();
    BOOST_CHECK_EQUAL(life.network.open_lanes, 0u);
    BOOST_CHECK(!own.has_lane());
  }
  Life life;
  begin(life);
  const OwnContext own;
  own.put(64, life.source, 8);
  own.quiet();
  BOOST_CHECK(life.has(64, 8));
}

// A thread that waits for something else polls. Another thread's polls leave the lane alone until that thread uses it.
BOOST_AUTO_TEST_CASE(polls_of_its_user_make_operations_of_a_lane_end) {
  Life life;
  begin(life);
  const OwnContext own;
  own.put(0, life.source, 8);
  own.quiet();
  life.network.log.clear();
  life.network.transfer_polls = 20;
  own.put_nbi(0, life.source, 100);
  const auto looks_of_polls = [&] {
    const int before = life.network.looks;
    for (int i = 0; i < 5; ++i) am::poll();
    return life.network.looks - before;
  };
  int of_other = -1;
  std::thread([&] { of_other = looks_of_polls(); }).join();
  BOOST_CHECK_EQUAL(of_other, 0);
  BOOST_CHECK_EQUAL(looks_of_polls(), 5);
  for (int i = 0; i < 20; ++i) am::poll();
  BOOST_CHECK_EQUAL(life.network.count("put"), 1u);
  BOOST_CHECK(!onesided::has_direct_open());
  std::thread([&] {
    own.put_nbi(0, life.source, 100);
    of_other = looks_of_polls();
  }).join();
  BOOST_CHECK_EQUAL(of_other, 5);
  BOOST_CHECK_EQUAL(looks_of_polls(), 0);
}

BOOST_AUTO_TEST_CASE(messages_are_served_during_a_loop_of_gets_of_a_lane) {
  Life life;
  begin(life);
  const OwnContext own;
  own.put(0, life.source, 8);
  own.quiet();
  const int polls = life.network.polls;
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t word = 0;
    transport::Completion completion;
    BOOST_REQUIRE(own.get_word(0, word, completion) == transport::ShortGet::done);
  }
  BOOST_CHECK_GE(life.network.polls - polls, 5);
  BOOST_CHECK_LE(life.network.polls - polls, 20);
}

// Messages and the direct path take another way than the lane, whatever the network orders.
BOOST_AUTO_TEST_CASE(a_fence_by_the_network_orders_the_puts_of_a_lane) {
  Life life;
  begin(life);
  const OwnContext own;
  own.put(0, life.source, 8);
  own.quiet();
  life.network.order = transport::FenceOrder::puts_and_messages;
  life.network.transfer_polls = 50;
  life.network.lane_bytes = 100;
  life.network.log.clear();
  own.put_nbi(0, life.source, 8);
  onesided::fence_unmapped("fence", *own);
  own.put_nbi(0, life.source, 8);
  BOOST_CHECK_EQUAL(life.network.count("put"), 0u);
  onesided::order_message("add", *own);
  BOOST_CHECK_EQUAL(life.network.count("put"), 2u);
  own.put_nbi(0, life.source, 8);
  onesided::fence_unmapped("fence", *own);
  own.quiet();
  BOOST_CHECK_EQUAL(onesided::fenced_contexts.load(), 0u);
}

BOOST_AUTO_TEST_CASE(a_long_put_past_a_lane_follows_what_was_fenced_there) {
  Life life;
  begin(life);
  life.network.lane_bytes = 100;
  const OwnContext own;
  own.put(0, life.source, 8);
  own.quiet();
  life.network.order = transport::FenceOrder::puts_and_messages;
  life.network.transfer_polls = 50;
  life.network.log.clear();
  own.put_nbi(0, life.source, 8);
  onesided::fence_unmapped("fence", *own);
  own.put_nbi(0, life.source, 200);
  BOOST_CHECK((life.network.log == Log{"by lane", "start put", "put", "start put"}));
  onesided::fence_unmapped("fence", *own);  // the next put goes by the lane again
  BOOST_CHECK_EQUAL(life.network.count("put"), 2u);
}

BOOST_AUTO_TEST_SUITE_END()
