// What the target does with requests on public windows: it replies to those that it refuses.
#include "onesided/block_runs.hpp"
#include "onesided/target.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

BOOST_AUTO_TEST_SUITE(onesided_target_public)

namespace {

using namespace shmemx;
using am::Bytes;
using atomic::ElementOp;
using atomic::ElementType;
using onesided::AccumulateHeader;
using onesided::AtomicHeader;
using onesided::Executed;
using onesided::GetHeader;
using onesided::Outcome;
using onesided::PutRepliedHeader;

struct Exposed {
  alignas(64) std::uint64_t before = 0;
  std::uint64_t memory[16] = {};
  std::uint64_t behind = 0;
  windows::WindowName name{};
  Exposed() { BOOST_REQUIRE(windows::expose(base(), sizeof memory, name)); }
  ~Exposed() { BOOST_TEST(windows::withdraw(name)); }
  std::byte* base() { return reinterpret_cast<std::byte*>(memory); }
  bool outside_is_untouched() const { return before == 0 && behind == 0; }
  windows::WindowName stale() const { return {name.index, name.generation + 2}; }
};

std::vector<std::byte> scratch(4096);

template <class Header>
Executed run(Executed (*execute)(Bytes, onesided::Room), const Header& header, Bytes data = {}) {
  std::vector<std::byte> payload(sizeof header + data.size());
  std::memcpy(payload.data(), &header, sizeof header);
  if (!data.empty()) std::memcpy(payload.data() + sizeof header, data.data(), data.size());
  return execute(payload, {scratch, 4096});
}

bool replies(const Executed& result, Outcome outcome, bool is_final = true) {
  return result.wrong == nullptr && result.is_replied && result.reply.outcome == outcome &&
         (result.reply.is_final != 0) == is_final;
}

}  // namespace

BOOST_AUTO_TEST_CASE(puts_arrive_inside_and_only_there) {
  Exposed window;
  const std::uint64_t word = 42;
  const Bytes data = am::bytes_of(word);
  const auto put = [&](windows::WindowName name, std::uint64_t offset, std::uint32_t is_last) {
    return run(onesided::execute_put, PutRepliedHeader{name, offset, 3, is_last}, data);
  };
  BOOST_TEST(!put(window.name, 8, 0).is_replied);
  BOOST_TEST(window.memory[1] == 42U);
  const Executed last = put(window.name, 16, 1);
  BOOST_TEST((replies(last, Outcome::ok) && last.reply.ticket == 3));
  BOOST_TEST(replies(put(window.name, 121, 0), Outcome::range, false));
  BOOST_TEST(replies(put(window.name, ~std::uint64_t{0} - 3, 1), Outcome::range));
  BOOST_TEST(replies(put(window.stale(), 0, 1), Outcome::stale));
  BOOST_TEST(window.outside_is_untouched());
}

BOOST_AUTO_TEST_CASE(runs_of_blocks_are_scattered_or_refused_as_a_whole) {
  Exposed window;
  onesided::BlockPack pack(1024);
  const auto put = [&](std::uint32_t is_last) {
    return run(onesided::execute_put_runs, onesided::PutRunsHeader{window.name, 4, is_last}, pack.whole());
  };
  const auto add = [&](std::uint64_t word, std::uint64_t value) {
    pack.add(word * 8, reinterpret_cast<const std::byte*>(&value), sizeof value);
  };
  for (const std::uint64_t word : {1, 3, 5, 8, 2}) add(word, 10 + word);  // three runs: 1 3 5, 8, 2
  BOOST_TEST(pack.whole().size() == 3 * sizeof(onesided::BlockRun) + 5 * 8);
  BOOST_TEST(!put(0).is_replied);
  const std::uint64_t expected[16] = {0, 11, 12, 13, 0, 15, 0, 0, 18};
  BOOST_TEST(window.memory == expected, boost::test_tools::per_element());
  BOOST_TEST(replies(put(1), Outcome::ok));

  pack.clear();
  add(0, 77);
  add(16, 78);  // behind the window, one run with the first
  BOOST_TEST(replies(put(1), Outcome::range));
  const std::uint64_t value = 79;
  pack.add(0, reinterpret_cast<const std::byte*>(&value), 4);  // a run of its own behind the one that is refused
  BOOST_TEST(replies(put(0), Outcome::range, false));
  const Bytes cut = pack.whole().first(pack.whole().size() - 1);
  BOOST_TEST(replies(run(onesided::execute_put_runs, onesided::PutRunsHeader{window.name, 4, 1}, cut), Outcome::range));
  pack.clear();
  add(0, 77);
  const Bytes short_one = pack.whole().first(sizeof(onesided::BlockRun) + 7);
  BOOST_TEST(
      replies(run(onesided::execute_put_runs, onesided::PutRunsHeader{window.name, 4, 1}, short_one), Outcome::bad));
  BOOST_TEST(window.memory[0] == 0U);
  BOOST_TEST(window.outside_is_untouched());
}

// The same messages reach the windows that the library opens by itself; there a violation ends the job.
BOOST_AUTO_TEST_CASE(the_window_decides_what_a_violation_does) {
  std::uint64_t heap[4] = {};
  windows::expose_builtin(windows::kHeapWindow, reinterpret_cast<std::byte*>(heap), sizeof heap);
  const std::uint64_t word = 1;
  const auto put = [&](std::uint64_t offset) {
    return run(onesided::execute_put, PutRepliedHeader{windows::kHeapWindow, offset, 0, 1}, am::bytes_of(word));
  };
  BOOST_TEST(replies(put(8), Outcome::ok));
  BOOST_TEST(heap[1] == 1U);
  BOOST_TEST((put(32).wrong != nullptr && !put(32).is_replied));
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(bad_requests_are_answered_as_such) {
  Exposed window;
  const auto bad = [](const Executed& result) { return replies(result, Outcome::bad); };
  BOOST_TEST(bad(run(onesided::execute_get, GetHeader{window.name, 0, 4097, 1})));
  BOOST_TEST(bad(run(onesided::execute_get_strided, onesided::GetStridedHeader{window.name, 0, 8, 0, 1, 1, 0})));
  const auto atomic = [&](std::uint64_t offset, ElementType type) {
    return run(onesided::execute_atomic, AtomicHeader{window.name, offset, 1, 0, 1, type, ElementOp::sum, 0});
  };
  BOOST_TEST(bad(atomic(0, ElementType{99})));
  BOOST_TEST(bad(atomic(0, ElementType::complex_double)));  // wider than a word
  const auto accumulate = [&](std::uint32_t count, ElementOp op, std::uint8_t fetch) {
    return run(onesided::execute_accumulate,
               AccumulateHeader{window.name, 0, 1, count, ElementType::int64, op, 0, fetch, 1});
  };
  BOOST_TEST(bad(accumulate(4, ElementOp::sum, 0)));      // no elements
  BOOST_TEST(bad(accumulate(~0U, ElementOp::no_op, 1)));  // no room for the reply
  BOOST_TEST(replies(accumulate(17, ElementOp::no_op, 1), Outcome::range));
  for (const auto execute : {onesided::execute_put, onesided::execute_put_runs, onesided::execute_get,
                             onesided::execute_atomic, onesided::execute_accumulate, onesided::execute_get_strided})
    BOOST_TEST(execute({}, {scratch, 4096}).wrong != nullptr);  // no ticket: nobody to reply to
  for (const std::uint64_t word : window.memory) BOOST_TEST(word == 0U);
  BOOST_TEST(window.outside_is_untouched());
}

BOOST_AUTO_TEST_CASE(fetches_bring_the_old_value) {
  Exposed window;
  window.memory[2] = 10;
  Executed result =
      run(onesided::execute_atomic, AtomicHeader{window.name, 16, 5, 0, 1, ElementType::uint64, ElementOp::sum, 0});
  std::uint64_t old = 0;
  BOOST_REQUIRE(result.data.size() == sizeof old);
  std::memcpy(&old, result.data.data(), sizeof old);
  BOOST_TEST(old == 10U);
  BOOST_TEST(window.memory[2] == 15U);
  result = run(onesided::execute_get, GetHeader{window.name, 16, 16, 1});
  BOOST_TEST(result.data.data() == window.base() + 16);
}

BOOST_AUTO_TEST_CASE(long_data_are_placed_inside_only) {
  Exposed window;
  const auto place = [](const PutRepliedHeader& header, std::uint64_t bytes) {
    return onesided::find_put_replied(am::bytes_of(header), bytes);
  };
  BOOST_TEST(place({window.name, 0, 3, 1}, sizeof window.memory) == window.base());
  BOOST_TEST(place({window.name, 8, 3, 1}, sizeof window.memory - 8) == window.base() + 8);
  BOOST_TEST(place({window.name, 8, 3, 1}, sizeof window.memory) == nullptr);
  BOOST_TEST(place({window.name, ~std::uint64_t{0}, 3, 1}, 16) == nullptr);
  BOOST_TEST(place({window.stale(), 0, 3, 1}, 16) == nullptr);
  const PutRepliedHeader header{window.name, 0, 7, 1};
  BOOST_TEST(onesided::find_put_replied(am::bytes_of(header).first(20), 16) == nullptr);
  const std::byte longer[sizeof header + 1] = {};
  BOOST_TEST(onesided::find_put_replied(longer, 16) == nullptr);
  const Executed result = onesided::reply_to_placed(am::bytes_of(header));
  BOOST_TEST((replies(result, Outcome::ok) && result.reply.ticket == 7 && result.data.empty()));
  BOOST_TEST(!onesided::reply_to_placed(am::bytes_of(PutRepliedHeader{window.name, 0, 7, 0})).is_replied);
}

// Data in the window may be longer than what has to be computed.
BOOST_AUTO_TEST_CASE(long_gets_need_no_scratch) {
  Exposed window;
  std::vector<std::byte> few(8);
  const GetHeader header{window.name, 0, sizeof window.memory, 1};
  Executed result = onesided::execute_get(am::bytes_of(header), {few, 1U << 20});
  BOOST_TEST(result.data.data() == window.base());
  result = onesided::execute_get(am::bytes_of(header), {few, sizeof window.memory - 1});
  BOOST_TEST(replies(result, Outcome::bad));
}

BOOST_AUTO_TEST_CASE(requests_for_keys_of_freed_windows_are_stale) {
  Exposed window;
  onesided::KeyRequest request;
  windows::ExposedRange range;
  const auto find = [&](windows::WindowName name, std::uint64_t offset) {
    const onesided::KeyRequest sent{name, offset, 5, 0};
    return onesided::find_key_request(am::bytes_of(sent), request, range);
  };
  BOOST_TEST((!find(window.name, 127).is_replied && range.base == window.base()));
  BOOST_TEST(replies(find(window.name, 128), Outcome::range));
  BOOST_TEST(replies(find(window.stale(), 0), Outcome::stale));
}

BOOST_AUTO_TEST_CASE(uses_are_counted) {
  Exposed window;
  BOOST_TEST(!windows::is_in_use(window.name));
  windows::begin_use(window.name, 0, 8);
  windows::begin_use(window.name, 4, 8);
  windows::end_use(window.name, 4, 8);
  BOOST_TEST(windows::is_in_use(window.name));
  windows::end_use(window.name, 0, 8);
  BOOST_TEST(!windows::is_in_use(window.name));
}

BOOST_AUTO_TEST_SUITE_END()
