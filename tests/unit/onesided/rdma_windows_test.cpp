// Long blocks of public windows over a network that plays the other PE as well (played_network.hpp).
#include <shmemx/windows.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "onesided/lists.hpp"
#include "rdma_life.hpp"
#include "windows/range_set.hpp"

BOOST_AUTO_TEST_SUITE(onesided_rdma_windows)

namespace {

using namespace shmemx;
using unit::kLong;
using unit::kOther;
using unit::Life;
using unit::Log;

}  // namespace

BOOST_AUTO_TEST_CASE(a_public_window_is_opened_and_closed_before_it_ends) {
  Life life;
  windows::WindowName name;
  BOOST_REQUIRE(windows::expose(life.source.data(), 2 * kLong, name));
  onesided::revoke_keys("free", name, {}, onesided::Registrations::Memory::ends);
  BOOST_CHECK(life.network.log.empty());  // nobody has a key
  life.network.request_key({name, kLong, 1, 0});
  life.network.request_key({name, 5, 2, 0});
  BOOST_REQUIRE_EQUAL(life.network.answers.size(), 2u);
  BOOST_CHECK_EQUAL(life.network.answers[0].is_open, 1u);
  BOOST_CHECK(windows::withdraw(name));
  life.network.request_key({name, 5, 3, 0});
  onesided::revoke_keys("free", name, {}, onesided::Registrations::Memory::ends);
  BOOST_CHECK(
      (life.network.log == Log{"register " + std::to_string(2 * kLong), "reply", "message revoke", "unregister"}));
}

BOOST_AUTO_TEST_CASE(windows_that_share_memory_share_a_registration) {
  Life life;
  windows::WindowName first, second, longer;
  BOOST_REQUIRE(windows::expose(life.source.data(), 2 * kLong, first));
  BOOST_REQUIRE(windows::expose(life.source.data(), kLong, second));
  BOOST_REQUIRE(windows::expose(life.source.data(), 3 * kLong, longer));
  life.network.request_key({first, 0, 1, 0});
  life.network.request_key({second, 0, 2, 0});
  life.network.request_key({longer, 0, 3, 0});
  BOOST_REQUIRE_EQUAL(life.network.answers.size(), 3u);
  BOOST_CHECK(life.network.answers[0].is_open == 1 && life.network.answers[1].is_open == 1);
  BOOST_CHECK_EQUAL(life.network.answers[1].bytes, kLong);
  BOOST_CHECK_EQUAL(life.network.answers[2].is_open, 0u);  // the registration is too short for it
  BOOST_CHECK(windows::withdraw(first));
  onesided::revoke_keys("free", first, {}, onesided::Registrations::Memory::ends);
  BOOST_CHECK_EQUAL(life.network.count("unregister"), 0u);
  BOOST_CHECK(windows::withdraw(second));
  onesided::revoke_keys("free", second, {}, onesided::Registrations::Memory::ends);
  BOOST_CHECK_EQUAL(life.network.count("unregister"), 1u);
  BOOST_CHECK(windows::withdraw(longer));
  onesided::revoke_keys("free", longer, {}, onesided::Registrations::Memory::ends);
}

// An offset in a set of ranges is an address. Each range has keys of its own, which end with it.
BOOST_AUTO_TEST_CASE(ranges_of_a_set_are_opened_and_closed_one_by_one) {
  Life life;
  windows::WindowName set;
  BOOST_REQUIRE(windows::expose_ranges(set));
  const auto address = reinterpret_cast<std::uintptr_t>(life.source.data());
  BOOST_REQUIRE(windows::set_of(set)->add(address, 2 * kLong));
  BOOST_REQUIRE(windows::set_of(set)->add(address + 2 * kLong, kLong));
  life.network.request_key({set, address + 5, 1, 0});
  life.network.request_key({set, address + 2 * kLong, 2, 0});
  life.network.request_key({set, address + 2 * kLong - 1, 3, 0});  // of the first one
  life.network.request_key({set, address + 3 * kLong, 4, 0});      // of none
  BOOST_REQUIRE_EQUAL(life.network.answers.size(), 3u);
  BOOST_CHECK(life.network.answers[0].begin == address && life.network.answers[0].bytes == 2 * kLong);
  BOOST_CHECK(life.network.answers[1].begin == address + 2 * kLong && life.network.answers[1].bytes == kLong);
  BOOST_CHECK_EQUAL(life.network.answers[2].begin, address);
  life.network.log.clear();
  const std::uint64_t bytes = windows::set_of(set)->remove(address);
  BOOST_CHECK_EQUAL(bytes, 2 * kLong);
  onesided::revoke_keys("remove", set, {address, bytes}, onesided::Registrations::Memory::ends);
  BOOST_CHECK((life.network.log == Log{"message revoke", "unregister"}));
  onesided::revoke_keys("remove", set, {address, bytes}, onesided::Registrations::Memory::ends);
  BOOST_CHECK_EQUAL(life.network.count("message revoke"), 1u);  // nobody has a key of it any more
  BOOST_CHECK(windows::withdraw(set));
  onesided::revoke_keys("free", set, {}, onesided::Registrations::Memory::ends);
  BOOST_CHECK_EQUAL(life.network.count("unregister"), 2u);
}

// This PE as the initiator, on a window of the other one.
constexpr windows::WindowName kTheirs{7, 4};

onesided::Call call_of(onesided::Tracker& tracker, bool is_awaited, long* counter = nullptr) {
  return {"window", {kOther, kTheirs, 0}, {&tracker, 0, true, nullptr, counter}, is_awaited};
}
void put_window(const Life& life, const onesided::Call& call, std::size_t bytes) {
  const auto target = rma::Shape::contiguous(nullptr, bytes);
  onesided::put_lists(call, {target, rma::Shape::contiguous(life.source.data(), bytes)});
}

BOOST_AUTO_TEST_CASE(puts_and_gets_of_public_windows_go_by_the_network) {
  Life life;
  life.network.transfer_polls = 20;
  onesided::Tracker open;
  long counter = 0;
  put_window(life, call_of(open, false, &counter), 3 * kLong);
  BOOST_CHECK_EQUAL(counter, 1);  // nothing has moved yet
  BOOST_CHECK_EQUAL(life.network.count("put"), 0u);
  onesided::await_replies("flush", kOther, open);
  BOOST_CHECK_EQUAL(counter, 0);
  BOOST_CHECK(life.has(0, 3 * kLong));
  std::vector<std::byte> back(2 * kLong);
  const auto target = rma::Shape::contiguous(nullptr, back.size());
  onesided::get_lists(call_of(open, true), {target, rma::Shape::contiguous(back.data(), back.size())});
  onesided::await_replies("get", kOther, open);
  BOOST_CHECK(std::memcmp(back.data(), life.source.data(), back.size()) == 0);
  BOOST_CHECK((life.network.log == Log{"message key request", "start put", "put", "start get", "get"}));
  put_window(life, call_of(open, true), 8);  // which needs no CPU of the target
  onesided::await_replies("put", kOther, open);
  BOOST_CHECK_EQUAL(life.network.log.back(), "put");
  BOOST_CHECK_EQUAL(open.error.load(), 0);
}

BOOST_AUTO_TEST_CASE(keys_of_other_bytes_stay) {
  Life life;
  life.network.key_range = 2 * kLong;
  onesided::Tracker open;
  put_window(life, call_of(open, true), 4 * kLong);
  onesided::await_replies("put", kOther, open);
  life.network.revoke(kTheirs, {0, 2 * kLong});
  BOOST_CHECK_EQUAL(life.network.count("reply"), 1u);
  life.network.log.clear();
  put_window(life, call_of(open, true), 4 * kLong);
  onesided::await_replies("put", kOther, open);
  BOOST_CHECK((life.network.log == Log{"message key request backward", "start put", "start put", "put", "put"}));
}

BOOST_AUTO_TEST_CASE(an_owner_that_frees_a_window_waits_for_transfers) {
  Life life;
  life.network.transfer_polls = 20;
  onesided::Tracker open;
  put_window(life, call_of(open, false), kLong);
  life.network.revoke(kTheirs);
  BOOST_CHECK_EQUAL(life.network.count("reply"), 0u);
  onesided::await_replies("flush", kOther, open);
  BOOST_CHECK((life.network.log == Log{"message key request", "start put", "put", "reply"}));
  life.network.revoke(kTheirs);  // no key, no transfer
  BOOST_CHECK_EQUAL(life.network.count("reply"), 2u);
}

BOOST_AUTO_TEST_CASE(a_key_of_a_freed_window_is_not_used) {
  Life life;
  onesided::Tracker open;
  put_window(life, call_of(open, true), kLong);
  onesided::await_replies("put", kOther, open);
  life.network.revoke(kTheirs);
  life.network.window_is_freed = true;
  life.network.log.clear();
  put_window(life, call_of(open, true), kLong);
  onesided::await_replies("put", kOther, open);
  BOOST_CHECK_EQUAL(open.error.load(), SHMEMX_ERR_STALE);
  BOOST_CHECK_EQUAL(life.network.count("start put"), 0u);
  life.network.window_is_freed = false;
}

BOOST_AUTO_TEST_SUITE_END()
