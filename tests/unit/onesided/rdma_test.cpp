// Long blocks of symmetric memory over a network that plays the other PE as well (played_network.hpp).
#include <shmemx/types.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "rdma_life.hpp"
#include "support/child.hpp"

BOOST_AUTO_TEST_SUITE(onesided_rdma)

namespace {

using namespace shmemx;
using unit::kLong;
using unit::kOther;
using unit::kRemoteBytes;
using unit::Life;
using unit::Log;

}  // namespace

BOOST_AUTO_TEST_CASE(a_key_is_asked_for_once) {
  Life life;
  life.put(64, kLong - 1);
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"message put"}));
  life.network.log.clear();
  life.put(100, kLong);
  BOOST_CHECK(life.has(100, kLong));
  life.put(5000, 3 * kLong);
  BOOST_CHECK(life.has(5000, 3 * kLong));
  std::vector<std::byte> back(2 * kLong);
  onesided::get("get", context::default_context(), back.data(), Life::at(5000), back.size());
  BOOST_CHECK(std::memcmp(back.data(), life.source.data(), back.size()) == 0);
  BOOST_CHECK(
      (life.network.log == Log{"message key request", "start put", "put", "start put", "put", "start get", "get"}));
}

BOOST_AUTO_TEST_CASE(strided_blocks_without_gaps_are_one_transfer) {
  Life life;
  const auto put_words = [&](std::size_t words) {
    onesided::put_strided("iput", Life::at(64), life.source.data(), {8, words, 8, 8});
    onesided::flush("quiet", {});
    BOOST_CHECK(life.has(64, 8 * words));
  };
  put_words(512);
  BOOST_CHECK((life.network.log == Log{"message put"}));
  life.network.log.clear();
  put_words(kLong / 8);
  BOOST_CHECK((life.network.log == Log{"message key request", "start put", "put"}));
  life.network.log.clear();
  std::vector<std::byte> back(kLong);
  onesided::get_strided("ibget", context::default_context(), back.data(), Life::at(64), {64, kLong / 64, 64, 64});
  BOOST_CHECK(std::memcmp(back.data(), life.source.data(), kLong) == 0);
  BOOST_CHECK((life.network.log == Log{"start get", "get"}));
}

BOOST_AUTO_TEST_CASE(a_block_is_cut_where_keys_end) {
  Life life;
  life.network.key_range = 4 * kLong;
  life.put(kLong, 9 * kLong);
  BOOST_CHECK(life.has(kLong, 9 * kLong));
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 3u);
  BOOST_CHECK_EQUAL(life.network.count("put"), 3u);
  life.put(0, 12 * kLong);
  BOOST_CHECK(life.has(0, 12 * kLong));
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 3u);
  BOOST_CHECK_EQUAL(life.network.count("out of range"), 0u);
}

BOOST_AUTO_TEST_CASE(keys_that_come_together_are_not_requested) {
  Life life;
  life.network.key_range = 4 * kLong;
  life.network.keys_at_once = 4;
  life.put(0, 32 * kLong);
  BOOST_CHECK(life.has(0, 32 * kLong));
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 2u);
  BOOST_CHECK_EQUAL(life.network.count("put"), 8u);
  BOOST_CHECK_EQUAL(life.network.imported(), 8u);
  life.put(56 * kLong, kLong);
  life.put(48 * kLong, 16 * kLong);  // the list of 48 names 56 again
  BOOST_CHECK(life.has(48 * kLong, 16 * kLong));
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 4u);
  BOOST_CHECK_EQUAL(life.network.count("out of range"), 0u);
}

BOOST_AUTO_TEST_CASE(the_owner_learns_which_keys_come_first) {
  Life life;
  life.network.key_range = 4 * kLong;
  for (const std::size_t range : {8, 9, 4}) life.put(range * 4 * kLong, kLong);
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 2u);
  BOOST_CHECK_EQUAL(life.network.count("message key request backward"), 1u);
}

BOOST_AUTO_TEST_CASE(windows_have_keys_of_their_own) {
  Life life;
  life.put(0, kLong);
  onesided::put("put", {kOther, windows::kStaticWindow, 0}, life.source.data(), kLong);
  onesided::put("put", {kOther, {windows::kStaticWindow.index, 2}, 0}, life.source.data(), kLong);
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 3u);
}

BOOST_AUTO_TEST_CASE(what_is_not_opened_goes_by_messages) {
  Life life;
  life.network.opens = false;
  life.put(0, 2 * kLong);
  life.put_nbi(2 * kLong, kLong);
  onesided::flush("quiet", {});
  BOOST_CHECK(life.has(0, 2 * kLong) && life.has(2 * kLong, kLong));
  BOOST_CHECK((life.network.log == Log{"message key request", "message put", "message put"}));
}

BOOST_AUTO_TEST_CASE(keys_end_with_the_library) {
  for (int i = 0; i < 2; ++i) {
    Life life;
    life.put(0, kLong);
    BOOST_CHECK_EQUAL(life.network.count("message key request"), 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_busy_network_is_asked_again) {
  Life life;
  life.network.refuses_once = true;
  life.put(0, kLong);
  BOOST_CHECK(life.has(0, kLong));
  BOOST_CHECK_EQUAL(life.network.count("refused"), 1u);
}

BOOST_AUTO_TEST_CASE(only_where_it_is_wanted_and_can_be_had) {
  using Network = Life::Network;
  const auto key_requests = [](config::NetRma choice, Network network) {
    Life life(choice, network);
    life.put(0, kLong);
    onesided::flush("quiet", {});
    BOOST_CHECK(life.has(0, kLong));
    return life.network.count("message key request");
  };
  using config::NetRma;
  BOOST_CHECK_EQUAL(key_requests(NetRma::automatic, Network::hardware), 1u);
  BOOST_CHECK_EQUAL(key_requests(NetRma::automatic, Network::software), 0u);
  BOOST_CHECK_EQUAL(key_requests(NetRma::on, Network::software), 1u);
  BOOST_CHECK_EQUAL(key_requests(NetRma::on, Network::messages), 0u);
  BOOST_CHECK_EQUAL(key_requests(NetRma::off, Network::hardware), 0u);
}

BOOST_AUTO_TEST_CASE(quiet_waits_for_transfers) {
  Life life;
  life.network.transfer_polls = 50;
  std::vector<std::byte> back(kLong);
  life.put_nbi(0, kLong);
  onesided::get_nbi("get_nbi", context::default_context(), back.data(), Life::at(kLong), kLong);
  BOOST_CHECK_EQUAL(life.network.count("put") + life.network.count("get"), 0u);
  onesided::flush("quiet", {&context::default_context()});
  BOOST_CHECK_EQUAL(life.network.count("put"), 1u);
  BOOST_CHECK_EQUAL(life.network.count("get"), 1u);
  life.put_nbi(0, kLong);
  onesided::flush("pe_quiet", {&context::default_context(), kOther});
  BOOST_CHECK_EQUAL(life.network.count("put"), 2u);
  const context::Context& other = context::context_table[7];
  onesided::put_nbi("put_nbi", other, Life::at(0), life.source.data(), kLong);
  onesided::flush("quiet", {});
  BOOST_CHECK_EQUAL(life.network.count("put"), 3u);
}

BOOST_AUTO_TEST_CASE(a_fence_waits_for_the_puts_of_its_context) {
  Life life;
  life.put(0, kLong);
  life.network.log.clear();
  life.network.transfer_polls = 50;
  const context::Context& other = context::context_table[9];
  life.put_nbi(0, kLong);
  onesided::fence_unmapped("fence", other);
  BOOST_CHECK_EQUAL(life.network.count("put"), 0u);
  onesided::fence_unmapped("fence", context::default_context());
  BOOST_CHECK_EQUAL(life.network.count("put"), 1u);
  std::vector<std::byte> back(kLong);
  onesided::get_nbi("get_nbi", context::default_context(), back.data(), Life::at(0), kLong);
  onesided::fence_unmapped("fence", context::default_context());
  BOOST_CHECK_EQUAL(life.network.count("get"), 0u);
  onesided::flush("quiet", {});  // `back` may go
}

BOOST_AUTO_TEST_CASE(messages_before_a_fence_are_not_overtaken) {
  Life life;
  life.put(0, kLong);
  onesided::flush("quiet", {});
  life.network.log.clear();
  life.network.message_polls = 50;
  life.put(0, 8);
  life.put_nbi(0, kLong);
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"start put", "put", "message put"}));  // no fence: as it comes
  life.network.log.clear();
  life.put(0, 8);
  onesided::fence_unmapped("fence", context::default_context());
  life.put_nbi(0, kLong);
  life.put_nbi(kLong, kLong);
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"message put", "start put", "start put", "put", "put"}));
}

BOOST_AUTO_TEST_CASE(a_signal_leaves_when_its_data_are_there) {
  Life life;
  life.network.transfer_polls = 20;
  onesided::put_signal("put_signal", Life::at(0), life.source.data(), 2 * kLong,
                       {Life::at(8 * kLong), 1, SHMEM_SIGNAL_SET});
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"message key request", "start put", "put", "message signal"}));
}

// Who has seen the flag of the collective has its data.
BOOST_AUTO_TEST_CASE(quiet_does_not_wait_for_parts_of_collectives) {
  Life life;
  life.network.message_polls = 1000;
  life.put(64, 100, am::kNotCounted);
  onesided::flush("quiet", {});
  BOOST_CHECK(life.network.log.empty());
  life.network.message_polls = 1;
  life.put(300, 100);
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"message put", "message put"}));
  BOOST_CHECK(life.has(64, 100));
}

// What the program has put leaves with them, and is what quiet is about.
BOOST_AUTO_TEST_CASE(quiet_waits_for_what_a_collective_has_pushed_out) {
  Life life(config::NetRma::off);
  life.network.message_polls = 1000;
  for (int i = 0; i < 2; ++i) life.put_nbi(64, 100);
  life.put(300, 100, am::kNotCounted);
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"message", "message put"}));  // a batch, which was in front
}

// ---- the target ----

BOOST_AUTO_TEST_CASE(a_piece_of_a_window_is_opened_once) {
  Life life;
  std::byte* const base = life.source.data();  // never touched: the network is played
  const std::uint64_t bytes = 3 * onesided::kMinKeyRange + 100;
  windows::expose_builtin(windows::kHeapWindow, base, bytes);
  life.network.request_key({windows::kHeapWindow, 5, 1, 0});
  life.network.request_key({windows::kHeapWindow, onesided::kMinKeyRange - 1, 2, 0});
  life.network.request_key({windows::kHeapWindow, bytes - 1, 3, 0});
  BOOST_CHECK((life.network.log == Log{"register " + std::to_string(onesided::kMinKeyRange), "register 100"}));
  BOOST_REQUIRE_EQUAL(life.network.answers.size(), 3u);
  for (const onesided::KeyReply& answer : life.network.answers) {
    BOOST_CHECK_EQUAL(answer.is_open, 1u);
    BOOST_CHECK_EQUAL(answer.key_bytes, 3u);
  }
  BOOST_CHECK_EQUAL(life.network.answers[1].begin, 0u);
  BOOST_CHECK_EQUAL(life.network.answers[2].begin, 3 * onesided::kMinKeyRange);
  BOOST_CHECK_EQUAL(life.network.answers[2].bytes, 100u);
  life.network.log.clear();
  onesided::close_rdma();
  BOOST_CHECK((life.network.log == Log{"unregister", "unregister"}));
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

// A PE of many pieces, as another PE learns of them that requests the key of the first one that it does not know.
struct Walk {
  Walk() { windows::expose_builtin(windows::kHeapWindow, life.source.data(), kPieces * onesided::kMinKeyRange); }
  ~Walk() {
    onesided::close_rdma();
    windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
  }
  void request(std::uint64_t piece, bool is_backward) {
    life.network.request_key({windows::kHeapWindow, piece * onesided::kMinKeyRange + 5, 1, is_backward ? 1U : 0U});
    const onesided::KeyList& list = life.network.lists.back();
    BOOST_CHECK(onesided::is_sound(list, piece * onesided::kMinKeyRange + 5));
    std::size_t at = 0;
    for (onesided::KeyReply key{}; list.take(at, key);) known[key.begin / onesided::kMinKeyRange] = key.is_open != 0;
  }
  std::size_t count_known() const { return static_cast<std::size_t>(std::count(known.begin(), known.end(), true)); }
  std::size_t registered() const { return life.network.count("register " + std::to_string(onesided::kMinKeyRange)); }

  static constexpr std::size_t kPieces = 40;
  Life life;
  std::vector<bool> known = std::vector<bool>(kPieces);
};

BOOST_AUTO_TEST_CASE(a_walk_through_a_window_needs_few_requests) {
  Walk walk;
  for (std::size_t piece = 0; piece < Walk::kPieces; ++piece) {
    if (!walk.known[piece]) walk.request(piece, false);
  }
  BOOST_CHECK_EQUAL(walk.count_known(), Walk::kPieces);
  BOOST_CHECK_LE(walk.life.network.lists.size(), 10u);
  walk.known.assign(Walk::kPieces, false);
  walk.request(20, false);  // by another PE
  BOOST_CHECK_EQUAL(walk.count_known(), Walk::kPieces);
}

BOOST_AUTO_TEST_CASE(a_walk_back_needs_few_requests) {
  Walk walk;
  for (std::size_t piece = Walk::kPieces; piece-- > 0;) {
    if (!walk.known[piece]) walk.request(piece, piece + 1 != Walk::kPieces);
  }
  BOOST_CHECK_LE(walk.life.network.lists.size(), 10u);
}

BOOST_AUTO_TEST_CASE(no_more_is_registered_ahead_than_is_in_use) {
  Walk walk;
  walk.request(0, false);
  BOOST_CHECK_EQUAL(walk.registered(), 1u);
  walk.request(10, false);
  BOOST_CHECK_EQUAL(walk.registered(), 3u);
  BOOST_CHECK(walk.known[10] && walk.known[11] && walk.known[0] && !walk.known[9]);
  for (const std::size_t piece : {20, 30, 1}) walk.request(piece, false);
  BOOST_CHECK_EQUAL(walk.registered(), 3u + 4 + 5 + 5);  // at most 64 MiB beside the piece itself
}

BOOST_AUTO_TEST_CASE(what_is_refused_ahead_is_tried_again) {
  Walk walk;
  walk.life.network.most_registered = 2;
  walk.request(0, false);
  walk.request(1, false);
  BOOST_CHECK(!walk.known[2]);
  walk.life.network.most_registered = 1000;
  walk.request(2, false);
  BOOST_CHECK(walk.known[2]);
}

BOOST_AUTO_TEST_CASE(a_large_window_has_few_keys) {
  Life life;
  const std::uint64_t bytes = std::uint64_t{100} << 30;
  windows::expose_builtin(windows::kHeapWindow, life.source.data(), bytes);
  life.network.request_key({windows::kHeapWindow, bytes / 2, 1, 0});
  BOOST_REQUIRE_EQUAL(life.network.answers.size(), 1u);
  BOOST_CHECK_LE((bytes - 1) / life.network.answers[0].bytes + 1, onesided::kMaxKeysOfWindow);
  BOOST_CHECK(onesided::is_sound(life.network.answers[0], bytes / 2));
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(what_the_network_does_not_take_stays_closed) {
  Life life;
  life.network.registers = false;
  windows::expose_builtin(windows::kHeapWindow, life.source.data(), 1000);
  life.network.request_key({windows::kHeapWindow, 5, 1, 0});
  life.network.request_key({windows::kHeapWindow, 6, 2, 0});
  BOOST_REQUIRE_EQUAL(life.network.answers.size(), 2u);
  BOOST_CHECK_EQUAL(life.network.answers[0].is_open, 0u);
  BOOST_CHECK_EQUAL(life.network.answers[1].is_open, 0u);
  onesided::close_rdma();
  BOOST_CHECK((life.network.log == Log{"register 1000"}));
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(a_pe_that_wants_messages_opens_nothing) {
  Life life(config::NetRma::off);
  windows::expose_builtin(windows::kHeapWindow, life.source.data(), 1000);
  life.network.request_key({windows::kHeapWindow, 5, 1, 0});
  BOOST_REQUIRE_EQUAL(life.network.answers.size(), 1u);
  BOOST_CHECK_EQUAL(life.network.answers[0].is_open, 0u);
  BOOST_CHECK_EQUAL(life.network.answers[0].bytes, 1000u);
  BOOST_CHECK(life.network.log.empty());
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

// The initiator may have started to use a network that this PE does not have.
BOOST_AUTO_TEST_CASE(another_network_is_opened_nothing) {
  Life life;
  life.network.names_itself = false;
  windows::expose_builtin(windows::kHeapWindow, life.source.data(), 1000);
  life.network.request_key({windows::kHeapWindow, 5, 1, 0, {'x'}});
  life.network.request_key({windows::kHeapWindow, 5, 1, 0, {'e', 'i', 'g', 'h', 't', 'c', 'h', 's'}});
  BOOST_REQUIRE_EQUAL(life.network.answers.size(), 2u);
  for (const onesided::KeyReply& answer : life.network.answers) BOOST_CHECK_EQUAL(answer.is_open, 0u);
  BOOST_CHECK(life.network.log.empty());
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(rubbish_ends_the_job) {
  Life life;
  windows::expose_builtin(windows::kHeapWindow, life.source.data(), 1000);
  for (const onesided::KeyRequest& request :
       {onesided::KeyRequest{windows::kHeapWindow, 1000, 1, 0}, onesided::KeyRequest{windows::kStaticWindow, 0, 1, 0},
        onesided::KeyRequest{{0, 2}, 0, 1, 0}}) {
    const unit::ChildEnd end = unit::in_child([&] {
      life.network.request_key(request);
      return 0;
    });
    BOOST_CHECK_NE(end.status, 0);
    BOOST_CHECK_MESSAGE(end.text.find("a request for a key") != std::string::npos, end.text);
  }
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(a_put_that_is_not_small_leaves_at_once_behind_the_batch_for_its_pe) {
  constexpr am::SendOptions kSession{.leave = am::Leave::session};
  Life life(config::NetRma::off);
  life.network.message_polls = 50;
  life.put(0, 8, kSession);
  life.put(8, 8, kSession);
  const std::size_t before = life.network.messages_sent;
  life.put(16, 8, kSession);
  BOOST_CHECK_EQUAL(life.network.messages_sent, before);
  life.put(24, kLong - 4000, kSession);
  BOOST_CHECK_EQUAL(life.network.messages_sent, before + 2);
  life.put(0, 8, kSession);
  life.put_nbi(24, kLong - 4000);
  BOOST_CHECK_EQUAL(life.network.messages_sent, before + 4);
}

BOOST_AUTO_TEST_CASE(answers_are_looked_at) {
  onesided::KeyReply answer{100, 50, 1, 8, {}};
  BOOST_CHECK(onesided::is_sound(answer, 100) && onesided::is_sound(answer, 149));
  BOOST_CHECK(!onesided::is_sound(answer, 99) && !onesided::is_sound(answer, 150));
  answer.key_bytes = sizeof answer.key + 1;
  BOOST_CHECK(!onesided::is_sound(answer, 100));
  answer = {100, 50, 2, 8, {}};
  BOOST_CHECK(!onesided::is_sound(answer, 100));
}

BOOST_AUTO_TEST_CASE(lists_of_keys_are_looked_at) {
  onesided::KeyList list;
  BOOST_CHECK(!onesided::is_sound(list, 0));
  BOOST_REQUIRE(list.add({100, 50, 1, 5, {}}) && list.add({0, 50, 1, 16, {}}) && list.add({200, 1, 0, 0, {}}));
  BOOST_CHECK(onesided::is_sound(list, 149));
  BOOST_CHECK(!onesided::is_sound(list, 0));  // the first one has to hold it
  onesided::KeyList broken = list;
  ++broken.count;
  BOOST_CHECK(!onesided::is_sound(broken, 149));
  broken = list;
  broken.used_bytes -= 8;
  BOOST_CHECK(!onesided::is_sound(broken, 149));
  broken = list;
  broken.used_bytes = 4000;
  BOOST_CHECK(!onesided::is_sound(broken, 149));
  broken = list;
  broken.add({~std::uint64_t{0} - 3, 50, 1, 0, {}});
  BOOST_CHECK(!onesided::is_sound(broken, 149));
  while (list.add({300, 1, 1, transport::kMaxKeyBytes, {}})) continue;
  BOOST_CHECK_EQUAL(list.count, 3u + 6);
  BOOST_CHECK(onesided::is_sound(list, 149));
}

BOOST_AUTO_TEST_SUITE_END()
