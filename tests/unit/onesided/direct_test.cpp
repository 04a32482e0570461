// Puts and gets of the program over a network that needs no CPU of the target (played_network.hpp).
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <span>
#include <vector>

#include "onesided/direct.hpp"
#include "onesided/order.hpp"
#include "onesided/short_path.hpp"
#include "rdma_life.hpp"

BOOST_AUTO_TEST_SUITE(onesided_direct)

namespace {

using namespace shmemx;
using unit::kLong;
using unit::kOther;
using unit::kRemoteBytes;
using unit::Life;
using unit::Log;

const context::Context& context() { return context::default_context(); }

// A word, by the short path alone. It is taken once the bounds of the stack are known.
bool put_word(std::size_t offset, std::uint64_t word) {
  BOOST_REQUIRE(has_stack(kRoomyStackBytes));
  return onesided::put_at_once(context(), kOther, offset, am::bytes_of(word));
}
transport::ShortGet get_word(std::size_t offset, std::uint64_t& word, transport::Completion& completion) {
  BOOST_REQUIRE(has_stack(kRoomyStackBytes));
  return onesided::get_at_once(kOther, offset, std::as_writable_bytes(std::span(&word, 1)), completion);
}

}  // namespace

BOOST_AUTO_TEST_CASE(any_size_goes_by_the_network) {
  Life life;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{1000}, kLong, 4 * kLong}) {
    life.put_of_program(64, bytes);
    onesided::flush("quiet", {&context()});
    BOOST_CHECK(life.has(64, bytes));
    std::vector<std::byte> back(bytes);
    onesided::get("get", context(), back.data(), Life::at(64), bytes);
    BOOST_CHECK(std::memcmp(back.data(), life.source.data(), bytes) == 0);
  }
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 1u);
  BOOST_CHECK_EQUAL(life.network.count("message put"), 0u);
  BOOST_CHECK_EQUAL(life.network.count("message"), 0u);
  BOOST_CHECK_EQUAL(life.network.count("put"), 5u);
  BOOST_CHECK_EQUAL(life.network.count("get"), 5u);
}

BOOST_AUTO_TEST_CASE(nothing_is_put_for_no_bytes) {
  Life life;
  life.put_of_program(64, 0);
  std::byte none;
  onesided::get("get", context(), &none, Life::at(64), 0);
  onesided::flush("quiet", {&context()});
  BOOST_CHECK_EQUAL(life.network.count("start put") + life.network.count("start get"), 0u);
}

BOOST_AUTO_TEST_CASE(a_range_over_two_pieces_is_cut) {
  Life life;
  life.network.key_range = kLong;
  life.put_of_program(0, 8);
  life.put_of_program(kLong, 8);
  life.network.log.clear();
  life.put_of_program(kLong - 100, 200);
  std::vector<std::byte> back(200);
  onesided::get("get", context(), back.data(), Life::at(kLong - 100), back.size());
  BOOST_CHECK(life.has(kLong - 100, 200));
  BOOST_CHECK(std::memcmp(back.data(), life.source.data(), back.size()) == 0);
  BOOST_CHECK_EQUAL(life.network.count("put"), 2u);
  BOOST_CHECK_EQUAL(life.network.count("get"), 2u);
  BOOST_CHECK_EQUAL(life.network.count("out of range"), 0u);
}

BOOST_AUTO_TEST_CASE(both_windows_have_pieces) {
  Life life;
  const context::Place statics{kOther, windows::kStaticWindow, 128};
  for (int i = 0; i < 2; ++i) {
    life.put_of_program(0, 8);
    onesided::put("p", context(), statics, life.source.data(), 8);
  }
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 2u);
  BOOST_CHECK_EQUAL(life.network.count("start put"), 4u);
  BOOST_CHECK_EQUAL(life.network.imported(), 2u);
}

BOOST_AUTO_TEST_CASE(quiet_waits_for_its_context_and_a_flush_of_all_for_all) {
  Life life;
  life.put_of_program(0, 8);
  life.network.log.clear();
  life.network.transfer_polls = 50;
  const context::Context& other = context::context_table[7];
  std::vector<std::byte> back(100);
  life.put_nbi(0, 100);
  onesided::get_nbi("get_nbi", context(), back.data(), Life::at(kLong), back.size());
  onesided::flush("quiet", {&other});
  BOOST_CHECK_EQUAL(life.network.count("put") + life.network.count("get"), 0u);
  onesided::flush("quiet", {&context()});
  BOOST_CHECK_EQUAL(life.network.count("put"), 1u);
  BOOST_CHECK_EQUAL(life.network.count("get"), 1u);
  onesided::put_nbi("put_nbi", other, Life::at(0), life.source.data(), 8);
  onesided::flush("quiet", {});
  BOOST_CHECK_EQUAL(life.network.count("put"), 2u);
  life.put_nbi(0, 100);
  onesided::flush("pe_quiet", {&context(), kOther});
  BOOST_CHECK_EQUAL(life.network.count("put"), 3u);
}

// As the routines of the API call them, which look first whether there can be anything to wait for.
BOOST_AUTO_TEST_CASE(quiet_and_fence_of_the_program_wait) {
  Life life;
  life.put_of_program(0, 8);
  onesided::flush("quiet", {});
  context::all_mapped = false;
  life.network.log.clear();
  life.network.transfer_polls = 50;
  life.put_nbi(0, 8);
  onesided::quiet("quiet", {&context()});
  BOOST_CHECK((life.network.log == Log{"start put", "put"}));
  life.put_nbi(0, 8);
  onesided::fence("fence", context());
  BOOST_CHECK((life.network.log == Log{"start put", "put", "start put", "put"}));
  context::all_mapped = true;
}

BOOST_AUTO_TEST_CASE(a_put_returns_when_the_source_may_be_used_again) {
  Life life;
  life.put_of_program(0, 8);
  life.network.log.clear();
  life.network.transfer_polls = 20;
  life.put_nbi(0, 100);
  BOOST_CHECK((life.network.log == Log{"start put"}));
  life.put_of_program(200, 100);
  BOOST_CHECK((life.network.log == Log{"start put", "start put", "put", "put"}));
}

BOOST_AUTO_TEST_CASE(fences_order_puts_and_messages) {
  Life life;
  life.put_of_program(0, 8);
  onesided::flush("quiet", {});
  life.network.log.clear();
  life.network.message_polls = life.network.transfer_polls = 50;
  life.put_nbi(0, 8);
  onesided::fence_unmapped("fence", context());
  BOOST_CHECK((life.network.log == Log{"start put", "put"}));
  life.network.log.clear();
  life.put(0, 8);  // a message
  onesided::fence_unmapped("fence", context());
  life.put_nbi(0, 8);
  life.put_nbi(8, 8);
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"message put", "start put", "start put", "put", "put"}));
}

// Nothing is waited for at the fence itself, but before a message that the network does not order.
BOOST_AUTO_TEST_CASE(a_network_that_orders_puts_is_waited_for_before_a_message) {
  Life life;
  life.put_of_program(0, 8);
  onesided::flush("quiet", {});
  life.network.log.clear();
  life.network.order = transport::FenceOrder::puts;
  life.network.transfer_polls = 50;
  onesided::fence_unmapped("fence", context());
  BOOST_CHECK_EQUAL(life.network.fences, 0);  // there is nothing to order
  life.put_nbi(0, 8);
  onesided::fence_unmapped("fence", context());
  life.put_nbi(8, 8);
  onesided::fence_unmapped("fence", context());
  life.put_of_program(4, kRemoteBytes - 4);
  BOOST_CHECK_EQUAL(life.network.fences, 2);
  BOOST_CHECK_EQUAL(onesided::fenced_contexts.load(), 1u);
  BOOST_CHECK(
      (Log(life.network.log.begin(), life.network.log.begin() + 3) == Log{"start put", "start put", "start put"}));
  life.put_nbi(16, 8);
  onesided::order_message("add", context::context_table[7]);  // of another context
  BOOST_CHECK_EQUAL(life.network.count("put"), 3u);
  onesided::order_message("add", context());
  BOOST_CHECK_EQUAL(life.network.count("put"), 4u);
  BOOST_CHECK_EQUAL(onesided::fenced_contexts.load(), 0u);
}

BOOST_AUTO_TEST_CASE(a_put_by_messages_follows_fenced_puts) {
  Life life;
  life.network.key_range = kLong;
  life.put_of_program(0, 8);
  onesided::flush("quiet", {});
  life.network.order = transport::FenceOrder::puts;
  life.network.transfer_polls = 50;
  const auto check = [&](auto put_elsewhere) {
    life.network.log.clear();
    life.put_nbi(0, 8);
    onesided::fence_unmapped("fence", context());
    life.network.opens = false;
    put_elsewhere();
    life.network.opens = true;
    BOOST_CHECK((Log(life.network.log.begin(), life.network.log.begin() + 2) == Log{"start put", "put"}));
    BOOST_CHECK_EQUAL(onesided::fenced_contexts.load(), 0u);
    onesided::flush("quiet", {});
  };
  check([&] { life.put_of_program(2 * kLong, 8); });
  check([&] { life.put_nbi(3 * kLong, 8); });
  check([&] { onesided::put_strided("iput", context(), Life::at(4 * kLong), life.source.data(), {8, 10, 24, 16}); });
}

BOOST_AUTO_TEST_CASE(a_network_that_orders_messages_is_not_waited_for) {
  Life life;
  life.put_of_program(0, 8);
  onesided::flush("quiet", {});
  life.network.log.clear();
  life.network.order = transport::FenceOrder::puts_and_messages;
  life.network.transfer_polls = 50;
  life.put_nbi(0, 8);
  onesided::fence_unmapped("fence", context());
  onesided::order_message("add", context());
  BOOST_CHECK((life.network.log == Log{"start put"}));
  BOOST_CHECK_EQUAL(life.network.fences, 1);
}

BOOST_AUTO_TEST_CASE(quiet_ends_what_a_fence_has_ordered) {
  Life life;
  life.put_of_program(0, 8);
  life.network.order = transport::FenceOrder::puts;
  life.network.transfer_polls = 50;
  for (const onesided::Scope& scope : {onesided::Scope{}, onesided::Scope{&context()}, {&context(), kOther}}) {
    life.put_nbi(0, 8);
    onesided::fence_unmapped("fence", context());
    BOOST_CHECK_EQUAL(onesided::fenced_contexts.load(), 1u);
    onesided::flush("quiet", scope);
    BOOST_CHECK_EQUAL(onesided::fenced_contexts.load(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_busy_network_is_asked_again) {
  Life life;
  life.put_of_program(0, 8);
  life.network.refuses_once = true;
  life.put_of_program(64, 8);
  onesided::flush("quiet", {});
  BOOST_CHECK(life.has(64, 8));
  BOOST_CHECK_EQUAL(life.network.count("refused"), 1u);
}

BOOST_AUTO_TEST_CASE(blocks_with_gaps_go_one_by_one) {
  Life life;
  std::memset(life.network.remote.data(), 0, 4096);
  onesided::put_strided("iput", context(), Life::at(0), life.source.data(), {8, 10, 24, 16});
  onesided::flush("quiet", {});
  for (std::size_t i = 0; i < 10; ++i) {
    BOOST_CHECK(std::memcmp(life.network.remote.data() + 24 * i, life.source.data() + 16 * i, 8) == 0);
    BOOST_CHECK(life.network.remote[24 * i + 8] == std::byte{0});
  }
  std::vector<std::byte> back(20 * 10, std::byte{0xee});
  onesided::get_strided("iget", context(), back.data(), Life::at(0), {8, 10, 20, 24});
  for (std::size_t i = 0; i < 10; ++i) {
    BOOST_CHECK(std::memcmp(back.data() + 20 * i, life.source.data() + 16 * i, 8) == 0);
    BOOST_CHECK(back[20 * i + 8] == std::byte{0xee});
  }
  BOOST_CHECK_EQUAL(life.network.count("message"), 0u);
  BOOST_CHECK_EQUAL(life.network.count("get"), 10u);
}

BOOST_AUTO_TEST_CASE(words_take_the_short_path_once_the_key_is_known) {
  Life life;
  for (int i = 0; i < 2; ++i) life.put_of_program(0, 8);  // the second one knows of no message before
  onesided::flush("quiet", {&context()});
  BOOST_CHECK(!put_word(kRemoteBytes, 1) && !put_word(kRemoteBytes - 4, 1));  // not all of it in the piece
  life.network.log.clear();
  life.network.transfer_polls = 20;
  std::uint64_t word = 0x0123456789abcdef;
  BOOST_CHECK(put_word(64, word));
  BOOST_CHECK((life.network.log == Log{"start put"}));
  onesided::flush("quiet", {&context()});
  life.network.transfer_polls = 1;
  std::uint64_t back = 0;
  transport::Completion completion;
  BOOST_CHECK(get_word(64, back, completion) == transport::ShortGet::done);
  BOOST_CHECK_EQUAL(back, word);
}

BOOST_AUTO_TEST_CASE(the_short_path_leaves_what_has_to_wait_to_the_other) {
  Life life;
  life.put_of_program(0, 8);
  onesided::flush("quiet", {&context()});
  std::uint64_t word = 7;
  transport::Completion completion;
  onesided::fence_unmapped("fence", context());
  BOOST_CHECK(!put_word(64, word));
  BOOST_CHECK(get_word(64, word, completion) == transport::ShortGet::done);
  life.put_of_program(64, 8);  // follows the fence
  BOOST_CHECK(put_word(64, word));
  life.network.refuses_once = true;
  BOOST_CHECK(!put_word(64, word));
  life.network.refuses_once = true;
  BOOST_CHECK(get_word(64, word, completion) == transport::ShortGet::no);
}

BOOST_AUTO_TEST_CASE(a_get_that_is_under_way_is_waited_for) {
  Life life;
  life.put_of_program(0, 8);
  onesided::flush("quiet", {&context()});
  life.network.transfer_polls = 5;
  std::uint64_t word = 0;
  transport::Completion completion;
  BOOST_REQUIRE(get_word(0, word, completion) == transport::ShortGet::open);
  BOOST_CHECK(onesided::has_direct_open());
  BOOST_CHECK(onesided::await_get("g", context(), kOther, completion));
  BOOST_CHECK(!onesided::has_direct_open());
  BOOST_CHECK(std::memcmp(&word, life.source.data(), sizeof word) == 0);
}

BOOST_AUTO_TEST_CASE(messages_are_served_during_a_loop_of_gets) {
  Life life;
  life.put_of_program(0, 8);
  onesided::flush("quiet", {&context()});
  const int polls = life.network.polls;
  const int looks = life.network.looks;
  constexpr int kGets = 1000;
  for (int i = 0; i < kGets; ++i) {
    std::uint64_t word = 0;
    transport::Completion completion;
    BOOST_REQUIRE(get_word(0, word, completion) == transport::ShortGet::done);
  }
  BOOST_CHECK_EQUAL(life.network.looks - looks, kGets);
  BOOST_CHECK_GE(life.network.polls - polls, kGets / 200);
  BOOST_CHECK_LE(life.network.polls - polls, kGets / 50);
}

BOOST_AUTO_TEST_CASE(what_is_not_opened_goes_by_messages) {
  Life life;
  life.network.opens = false;
  for (int i = 0; i < 2; ++i) life.put_of_program(static_cast<std::size_t>(i) * 64, 8);
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"message key request", "message put", "message put"}));
}

BOOST_AUTO_TEST_CASE(networks_in_software_take_messages_unless_the_user_wants_more) {
  {
    Life life(config::NetRma::automatic, Life::Network::software);
    life.put_of_program(0, 8);
    onesided::flush("quiet", {});
    BOOST_CHECK((life.network.log == Log{"message put"}));
  }
  Life life(config::NetRma::on, Life::Network::software);
  life.put_of_program(0, 8);
  onesided::flush("quiet", {});
  BOOST_CHECK_EQUAL(life.network.count("put"), 1u);
}

BOOST_AUTO_TEST_CASE(keys_are_released_with_the_library) {
  for (int i = 0; i < 2; ++i) {
    Life life;
    life.put_of_program(0, 8);
    BOOST_CHECK_EQUAL(life.network.imported(), 1u);
    onesided::flush("quiet", {});
    onesided::close_rdma();
    BOOST_CHECK_EQUAL(life.network.imported(), 0u);
    BOOST_CHECK(!onesided::has_direct_keys());
  }
}

// Of any length up to kShortBytes: the general path finds what ends in the piece all the same.
BOOST_AUTO_TEST_CASE(a_short_operation_that_may_leave_its_piece_does_not_take_the_short_path) {
  constexpr std::uint64_t kBytes = 4096;
  constexpr std::uint64_t kShort = transport::OneSided::kShortBytes;
  onesided::DirectPieces pieces;
  BOOST_CHECK(pieces.find_short(0) == nullptr);
  pieces.add({.begin = 0, .bytes = kBytes, .key = nullptr});
  for (const std::uint64_t offset : {std::uint64_t{0}, kBytes - kShort})
    BOOST_CHECK(pieces.find_short(offset) != nullptr);
  for (const std::uint64_t offset : {kBytes - kShort + 1, kBytes - 1, kBytes, std::uint64_t{1} << 40})
    BOOST_CHECK(pieces.find_short(offset) == nullptr);
  BOOST_CHECK(pieces.find(kBytes - 1, 1) != nullptr);
  onesided::DirectPieces tiny;
  tiny.add({.begin = 0, .bytes = kShort - 1, .key = nullptr});
  BOOST_CHECK(tiny.find_short(0) == nullptr);
  BOOST_CHECK(tiny.find(0, kShort - 1) != nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
