#include "onesided/update_wire.hpp"

#include <boost/test/unit_test.hpp>

#include "support/exposed.hpp"

namespace {

using namespace shmemx;
using am::bytes_of;
using onesided::AtomicHeader;
using onesided::Op;
using unit::ExposedHeap;

template <class T>
AtomicHeader header_for(std::uint64_t offset, Op op, T operand, T condition = {}) {
  const onesided::Operation operation = onesided::operation(op, operand, condition);
  return {windows::kHeapWindow, offset, operation.operand, operation.condition, 9, operation.op, operation.type, 0};
}

// What the message makes of a word that holds `before`.
template <class T>
struct Effect {
  T fetched;
  T after;
};
template <class T>
Effect<T> effect(T before, Op op, T operand, T condition = {}) {
  ExposedHeap heap;
  *heap.at<T>(24) = before;
  AtomicHeader header;
  const AtomicHeader sent = header_for(24, op, operand, condition);
  BOOST_REQUIRE(onesided::decode_atomic(bytes_of(sent), header));
  std::byte* const word = onesided::find_word(header);
  BOOST_REQUIRE(word == heap.at<std::byte>(24));
  const T fetched = onesided::from_bits<T>(onesided::perform(header, word));
  const T after = *heap.at<T>(24);
  std::memset(word, 0, sizeof(T));
  BOOST_CHECK(heap.is_zero());  // nothing beside the word
  return {fetched, after};
}

template <class T>
void expect(const Effect<T>& seen, T fetched, T after) {
  BOOST_CHECK_EQUAL(seen.fetched, fetched);
  BOOST_CHECK_EQUAL(seen.after, after);
}

template <class T>
void check_numbers() {
  expect(effect<T>(T(5), Op::fetch, T(99)), T(5), T(5));
  BOOST_CHECK_EQUAL(effect<T>(T(5), Op::set, T(3)).after, T(3));
  expect(effect<T>(T(5), Op::swap, T(3)), T(5), T(3));
  expect(effect<T>(T(5), Op::add, T(3)), T(5), T(8));
}
template <class T>
void check_integers() {
  check_numbers<T>();
  expect(effect<T>(T(5), Op::compare_swap, T(3), T(5)), T(5), T(3));
  expect(effect<T>(T(5), Op::compare_swap, T(3), T(4)), T(5), T(5));
  expect(effect<T>(T(12), Op::and_, T(10)), T(12), T(8));
  expect(effect<T>(T(12), Op::or_, T(10)), T(12), T(14));
  expect(effect<T>(T(12), Op::xor_, T(10)), T(12), T(6));
  const T most = std::numeric_limits<T>::max();
  expect(effect<T>(most, Op::swap, T(most - 1)), most, T(most - 1));
  expect(effect<T>(std::numeric_limits<T>::min(), Op::fetch, T(0)), std::numeric_limits<T>::min(),
         std::numeric_limits<T>::min());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onesided_update_wire)

BOOST_AUTO_TEST_CASE(every_operation_on_every_type_does_what_it_says) {
  check_integers<std::int32_t>();
  check_integers<std::uint32_t>();
  check_integers<std::int64_t>();
  check_integers<std::uint64_t>();
  check_numbers<float>();
  check_numbers<double>();
  expect(effect<double>(0.5, Op::add, -0.75), 0.5, -0.25);
  expect(effect<std::int32_t>(-3, Op::add, -4), -3, -7);
}

BOOST_AUTO_TEST_CASE(only_whole_headers_with_known_operations_are_accepted) {
  AtomicHeader header;
  const AtomicHeader good = header_for<long>(8, Op::add, 1);
  for (std::size_t bytes = 0; bytes < sizeof good; ++bytes)
    BOOST_CHECK(!onesided::decode_atomic(bytes_of(good).first(bytes), header));
  std::byte longer[sizeof good + 1] = {};
  std::memcpy(longer, &good, sizeof good);
  BOOST_CHECK(!onesided::decode_atomic(longer, header));
  for (unsigned op = 0; op < 256; ++op) {
    for (unsigned type = 0; type < 256; ++type) {
      AtomicHeader sent = good;
      sent.op = static_cast<Op>(op);
      sent.type = static_cast<onesided::Type>(type);
      const bool is_float = type == 4 || type == 5;
      const bool known = op < 8 && type < 6 && (!is_float || op == 0 || op == 1 || op == 2 || op == 4);
      BOOST_REQUIRE_EQUAL(onesided::decode_atomic(bytes_of(sent), header), known);
    }
  }
}

BOOST_AUTO_TEST_CASE(words_are_aligned_and_inside) {
  ExposedHeap heap;
  const std::uint64_t end = ExposedHeap::kBytes;
  BOOST_CHECK(onesided::find_word(header_for<std::int32_t>(4, Op::add, 1)) != nullptr);
  BOOST_CHECK(onesided::find_word(header_for<std::int64_t>(4, Op::add, 1)) == nullptr);
  BOOST_CHECK(onesided::find_word(header_for<std::int32_t>(6, Op::add, 1)) == nullptr);
  BOOST_CHECK(onesided::find_word(header_for<std::int64_t>(end - 8, Op::add, 1)) != nullptr);
  BOOST_CHECK(onesided::find_word(header_for<std::int64_t>(end, Op::add, 1)) == nullptr);
  BOOST_CHECK(onesided::find_word(header_for<std::int32_t>(end - 2, Op::add, 1)) == nullptr);
  BOOST_CHECK(onesided::find_word(header_for<std::int64_t>(~std::uint64_t{0} - 7, Op::add, 1)) == nullptr);
  AtomicHeader elsewhere = header_for<std::int64_t>(0, Op::add, 1);
  elsewhere.window.generation = 1;
  BOOST_CHECK(onesided::find_word(elsewhere) == nullptr);
}

BOOST_AUTO_TEST_CASE(answers_are_taken_whole) {
  onesided::AtomicReply reply;
  const onesided::AtomicReply sent{7, 0, 99};
  BOOST_REQUIRE(onesided::decode_atomic_reply(bytes_of(sent), reply));
  BOOST_CHECK_EQUAL(reply.value, 99u);
  for (std::size_t bytes = 0; bytes < sizeof sent; ++bytes)
    BOOST_CHECK(!onesided::decode_atomic_reply(bytes_of(sent).first(bytes), reply));
}

BOOST_AUTO_TEST_SUITE_END()
