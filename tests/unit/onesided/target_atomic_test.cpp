// Atomic operations at the target.
#include "onesided/target.hpp"

#include <boost/test/unit_test.hpp>

#include "support/exposed.hpp"

BOOST_AUTO_TEST_SUITE(onesided_target_atomic)

namespace {

using namespace shmemx;
using am::bytes_of;
using atomic::ElementOp;
using atomic::ElementType;
using onesided::AtomicHeader;
using unit::ExposedHeap;

template <class T>
AtomicHeader header_for(std::uint64_t offset, ElementOp op, T operand, T condition = {}) {
  const atomic::Operation operation = atomic::operation(op, operand, condition);
  return {windows::kHeapWindow, offset, operation.operand, operation.condition, 9, operation.type, operation.op, 0};
}

// What the message makes of a word that holds `before`.
template <class T>
struct Effect {
  T fetched;
  T after;
};
template <class T>
Effect<T> effect(T before, ElementOp op, T operand, T condition = {}) {
  ExposedHeap heap;
  *heap.at<T>(24) = before;
  std::byte scratch[8];
  const AtomicHeader sent = header_for(24, op, operand, condition);
  const onesided::Executed result = onesided::execute_atomic(bytes_of(sent), {scratch, 8});
  BOOST_REQUIRE(result.wrong == nullptr && result.is_replied);
  BOOST_REQUIRE(result.reply.ticket == 9 && result.data.size() == sizeof(T));
  T fetched;
  std::memcpy(&fetched, result.data.data(), sizeof fetched);
  const T after = *heap.at<T>(24);
  *heap.at<T>(24) = T{};
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
  expect(effect<T>(T(5), ElementOp::no_op, T(99)), T(5), T(5));
  BOOST_CHECK_EQUAL(effect<T>(T(5), ElementOp::replace, T(3)).after, T(3));
  expect(effect<T>(T(5), ElementOp::replace, T(3)), T(5), T(3));
  expect(effect<T>(T(5), ElementOp::sum, T(3)), T(5), T(8));
}
template <class T>
void check_integers() {
  check_numbers<T>();
  expect(effect<T>(T(5), ElementOp::compare_swap, T(3), T(5)), T(5), T(3));
  expect(effect<T>(T(5), ElementOp::compare_swap, T(3), T(4)), T(5), T(5));
  expect(effect<T>(T(12), ElementOp::band, T(10)), T(12), T(8));
  expect(effect<T>(T(12), ElementOp::bor, T(10)), T(12), T(14));
  expect(effect<T>(T(12), ElementOp::bxor, T(10)), T(12), T(6));
  const T most = std::numeric_limits<T>::max();
  expect(effect<T>(most, ElementOp::replace, T(most - 1)), most, T(most - 1));
  expect(effect<T>(std::numeric_limits<T>::min(), ElementOp::no_op, T(0)), std::numeric_limits<T>::min(),
         std::numeric_limits<T>::min());
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_operation_on_every_type_does_what_it_says) {
  check_integers<std::int32_t>();
  check_integers<std::uint32_t>();
  check_integers<std::int64_t>();
  check_integers<std::uint64_t>();
  check_numbers<float>();
  check_numbers<double>();
  expect(effect<double>(0.5, ElementOp::sum, -0.75), 0.5, -0.25);
  expect(effect<std::int32_t>(-3, ElementOp::sum, -4), -3, -7);
}

BOOST_AUTO_TEST_CASE(a_message_without_a_reply_does_the_same) {
  ExposedHeap heap;
  const AtomicHeader add = header_for<std::int64_t>(8, ElementOp::sum, 5);
  BOOST_CHECK(onesided::perform_atomic(bytes_of(add)) == nullptr);
  BOOST_CHECK(onesided::perform_atomic(bytes_of(add)) == nullptr);
  BOOST_CHECK_EQUAL(*heap.at<std::int64_t>(8), 10);
}

// What is wrong with a header, by either message: the same.
bool is_refused(am::Bytes payload) {
  std::byte scratch[8];
  const onesided::Executed result = onesided::execute_atomic(payload, {scratch, 8});
  BOOST_CHECK(result.wrong == nullptr || !result.is_replied);
  BOOST_CHECK_EQUAL(result.wrong != nullptr, onesided::perform_atomic(payload) != nullptr);
  return result.wrong != nullptr;
}

BOOST_AUTO_TEST_CASE(only_whole_headers_with_known_operations_are_accepted) {
  ExposedHeap heap;
  const AtomicHeader good = header_for<long>(8, ElementOp::no_op, 1);
  for (std::size_t bytes = 0; bytes < sizeof good; ++bytes) BOOST_CHECK(is_refused(bytes_of(good).first(bytes)));
  std::byte longer[sizeof good + 1] = {};
  std::memcpy(longer, &good, sizeof good);
  BOOST_CHECK(is_refused(longer));
  for (unsigned op = 0; op < 256; ++op) {
    for (unsigned type = 0; type < 256; ++type) {
      AtomicHeader sent = good;
      sent.op = static_cast<ElementOp>(op);
      sent.type = static_cast<ElementType>(type);
      const bool known = atomic::go_together(sent.type, sent.op) && atomic::fits_word(sent.type);
      BOOST_REQUIRE_EQUAL(is_refused(bytes_of(sent)), !known);
    }
  }
}

BOOST_AUTO_TEST_CASE(words_are_aligned_and_inside) {
  ExposedHeap heap;
  const std::uint64_t end = ExposedHeap::kBytes;
  const auto refuses = [](const AtomicHeader& header) { return is_refused(bytes_of(header)); };
  BOOST_CHECK(!refuses(header_for<std::int32_t>(4, ElementOp::sum, 1)));
  BOOST_CHECK(refuses(header_for<std::int64_t>(4, ElementOp::sum, 1)));
  BOOST_CHECK(refuses(header_for<std::int32_t>(6, ElementOp::sum, 1)));
  BOOST_CHECK(!refuses(header_for<std::int64_t>(end - 8, ElementOp::sum, 1)));
  BOOST_CHECK(refuses(header_for<std::int64_t>(end, ElementOp::sum, 1)));
  BOOST_CHECK(refuses(header_for<std::int32_t>(end - 2, ElementOp::sum, 1)));
  BOOST_CHECK(refuses(header_for<std::int64_t>(~std::uint64_t{0} - 7, ElementOp::sum, 1)));
  AtomicHeader elsewhere = header_for<std::int64_t>(0, ElementOp::sum, 1);
  elsewhere.window.generation = 1;
  BOOST_CHECK(refuses(elsewhere));
  BOOST_CHECK(heap.guards_are_whole());
}

BOOST_AUTO_TEST_SUITE_END()
