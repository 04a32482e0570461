#include "onesided/target.hpp"

#include <shmemx/types.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "support/exposed.hpp"

BOOST_AUTO_TEST_SUITE(onesided_target)

namespace {

using namespace shmemx;
using am::Bytes;
using onesided::Executed;
using onesided::Outcome;
using unit::ExposedHeap;
using windows::kHeapWindow;
using windows::WindowName;

constexpr std::uint64_t kMost = ~std::uint64_t{0};
constexpr std::uint64_t kHeapBytes = ExposedHeap::kBytes;

std::vector<std::byte> scratch(4096);

// A message as it travels: the header, then the data.
template <class Header>
std::vector<std::byte> message(const Header& header, std::size_t data_bytes = 0, int value = 7) {
  std::vector<std::byte> bytes(sizeof header + data_bytes, static_cast<std::byte>(value));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

// What perform() says to the message and to each of its beginnings; none of these may change anything.
template <class Perform>
void reject_all_beginnings(const std::vector<std::byte>& whole, std::size_t shortest_good, const Perform& perform) {
  ExposedHeap heap;
  for (std::size_t bytes = 0; bytes < shortest_good; ++bytes) {
    BOOST_TEST_CONTEXT(bytes << " bytes of " << whole.size()) {
      BOOST_CHECK(perform(Bytes(whole).first(bytes)) != nullptr);
    }
  }
  BOOST_CHECK(heap.is_zero());
  BOOST_CHECK(heap.guards_are_whole());
}

template <class Perform>
void reject(const std::vector<std::byte>& whole, const Perform& perform) {
  ExposedHeap heap;
  BOOST_CHECK(perform(Bytes(whole)) != nullptr);
  BOOST_CHECK(heap.is_zero());
  BOOST_CHECK(heap.guards_are_whole());
}

std::vector<std::byte> signal_message(std::uint64_t offset, std::uint64_t value, int sig_op) {
  return message(onesided::SignalHeader{kHeapWindow, offset, value, sig_op, 0});
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_put_lands_where_it_says) {
  ExposedHeap heap;
  BOOST_CHECK(onesided::perform_put(message(onesided::PutHeader{kHeapWindow, 40}, 100)) == nullptr);
  for (std::size_t i = 0; i < kHeapBytes; ++i)
    BOOST_REQUIRE_EQUAL(std::to_integer<int>(*heap.at<std::byte>(i)), i >= 40 && i < 140 ? 7 : 0);
  BOOST_CHECK(onesided::perform_put(message(onesided::PutHeader{kHeapWindow, kHeapBytes - 8}, 8)) == nullptr);
  BOOST_CHECK(onesided::perform_put(message(onesided::PutHeader{kHeapWindow, kHeapBytes}, 0)) == nullptr);
  BOOST_CHECK(heap.guards_are_whole());
}

BOOST_AUTO_TEST_CASE(a_put_beyond_its_window_changes_nothing) {
  reject_all_beginnings(message(onesided::PutHeader{kHeapWindow, 0}, 8), sizeof(onesided::PutHeader),
                        onesided::perform_put);
  for (const std::uint64_t offset : {kHeapBytes - 7, kHeapBytes, kHeapBytes + 1, kMost - 7, kMost})
    reject(message(onesided::PutHeader{kHeapWindow, offset}, 8), onesided::perform_put);
  for (const WindowName window :
       {WindowName{0, 1}, windows::kStaticWindow, WindowName{2, 0}, WindowName{3, 0}, WindowName{~0U, 0}})
    reject(message(onesided::PutHeader{window, 0}, 8), onesided::perform_put);
}

BOOST_AUTO_TEST_CASE(blocks_of_a_strided_put_land_at_their_steps) {
  ExposedHeap heap;
  const onesided::PutStridedHeader header{kHeapWindow, 16, 24, 8, 5};
  BOOST_CHECK(onesided::perform_put_strided(message(header, 40)) == nullptr);
  for (std::size_t i = 0; i < kHeapBytes; ++i) {
    const bool written = i >= 16 && i < 16 + 4 * 24 + 8 && (i - 16) % 24 < 8;
    BOOST_REQUIRE_EQUAL(std::to_integer<int>(*heap.at<std::byte>(i)), written ? 7 : 0);
  }
  // Up to the window's last byte, and one block with whatever step.
  BOOST_CHECK(onesided::perform_put_strided(
                  message(onesided::PutStridedHeader{kHeapWindow, kHeapBytes - 12, 10, 2, 2}, 4)) == nullptr);
  BOOST_CHECK(onesided::perform_put_strided(message(onesided::PutStridedHeader{kHeapWindow, 0, kMost, 4, 1}, 4)) ==
              nullptr);
  BOOST_CHECK(heap.guards_are_whole());
}

BOOST_AUTO_TEST_CASE(strided_puts_with_wrong_arithmetic_change_nothing) {
  using Header = onesided::PutStridedHeader;
  reject_all_beginnings(message(Header{kHeapWindow, 0, 16, 8, 3}, 24), sizeof(Header) + 24,
                        onesided::perform_put_strided);
  reject(message(Header{kHeapWindow, 0, 16, 8, 3}, 25), onesided::perform_put_strided);  // data left over
  reject(message(Header{kHeapWindow, 0, 16, 0, 3}, 0), onesided::perform_put_strided);
  reject(message(Header{kHeapWindow, 0, 16, 8, 0}, 0), onesided::perform_put_strided);
  reject(message(Header{kHeapWindow, kHeapBytes - 39, 16, 8, 3}, 24), onesided::perform_put_strided);
  // The span overflows: the product, the sum, the end of the window.
  reject(message(Header{kHeapWindow, 0, kMost / 2 + 1, 8, 3}, 24), onesided::perform_put_strided);
  reject(message(Header{kHeapWindow, 0, kMost, 8, 2}, 16), onesided::perform_put_strided);
  reject(message(Header{kHeapWindow, 8, kMost - 8, 8, 2}, 16), onesided::perform_put_strided);
  reject(message(Header{kHeapWindow, kMost, 16, 8, 2}, 16), onesided::perform_put_strided);
  // Two factors whose product has no low half.
  reject(message(Header{kHeapWindow, 0, 0, 1U << 31, 2}, 0), onesided::perform_put_strided);
}

BOOST_AUTO_TEST_CASE(signals_are_set_and_added) {
  ExposedHeap heap;
  BOOST_CHECK(onesided::perform_signal(signal_message(8, 5, SHMEM_SIGNAL_SET)) == nullptr);
  BOOST_CHECK(onesided::perform_signal(signal_message(8, 6, SHMEM_SIGNAL_ADD)) == nullptr);
  BOOST_CHECK_EQUAL(*heap.at<std::uint64_t>(8), 11u);
  BOOST_CHECK(onesided::perform_signal(signal_message(kHeapBytes - 8, kMost, SHMEM_SIGNAL_ADD)) == nullptr);
  BOOST_CHECK_EQUAL(*heap.at<std::uint64_t>(kHeapBytes - 8), kMost);
}

BOOST_AUTO_TEST_CASE(wrong_signals_change_nothing) {
  reject_all_beginnings(signal_message(8, 5, SHMEM_SIGNAL_SET), sizeof(onesided::SignalHeader),
                        onesided::perform_signal);
  for (const std::uint64_t offset : {std::uint64_t{4}, kHeapBytes - 7, kHeapBytes, kMost - 7})
    reject(signal_message(offset, 5, SHMEM_SIGNAL_SET), onesided::perform_signal);
  for (const int sig_op : {0, 3, -1}) reject(signal_message(8, 5, sig_op), onesided::perform_signal);
  auto longer = signal_message(8, 5, SHMEM_SIGNAL_SET);
  longer.push_back({});
  reject(longer, onesided::perform_signal);
}

BOOST_AUTO_TEST_CASE(a_put_with_signal_does_both_or_nothing) {
  const auto put_signal = [](std::uint64_t data, std::uint64_t signal, int sig_op, std::size_t bytes) {
    return message(onesided::PutSignalHeader{{kHeapWindow, data}, {kHeapWindow, signal, 3, sig_op, 0}}, bytes);
  };
  {
    ExposedHeap heap;
    BOOST_CHECK(onesided::perform_put_signal(put_signal(64, 8, SHMEM_SIGNAL_ADD, 10)) == nullptr);
    BOOST_CHECK_EQUAL(*heap.at<std::uint64_t>(8), 3u);
    BOOST_CHECK_EQUAL(std::to_integer<int>(*heap.at<std::byte>(73)), 7);
    BOOST_CHECK_EQUAL(std::to_integer<int>(*heap.at<std::byte>(74)), 0);
  }
  reject_all_beginnings(put_signal(64, 8, SHMEM_SIGNAL_ADD, 0), sizeof(onesided::PutSignalHeader),
                        onesided::perform_put_signal);
  reject(put_signal(kHeapBytes - 9, 8, SHMEM_SIGNAL_ADD, 10), onesided::perform_put_signal);
  reject(put_signal(64, kHeapBytes, SHMEM_SIGNAL_ADD, 10), onesided::perform_put_signal);
  reject(put_signal(64, 12, SHMEM_SIGNAL_ADD, 10), onesided::perform_put_signal);
  reject(put_signal(64, 8, 7, 10), onesided::perform_put_signal);
}

BOOST_AUTO_TEST_CASE(long_data_have_a_place_before_they_come) {
  ExposedHeap heap;
  const auto put = [](std::uint64_t offset) { return message(onesided::PutHeader{kHeapWindow, offset}); };
  BOOST_CHECK(onesided::find_put(put(40), 100) == heap.at<std::byte>(40));
  BOOST_CHECK(onesided::find_put(put(40), kHeapBytes - 40) == heap.at<std::byte>(40));
  for (const std::uint64_t bytes : {kHeapBytes - 39, kMost, kMost - 39})
    BOOST_CHECK(onesided::find_put(put(40), bytes) == nullptr);
  BOOST_CHECK(onesided::find_put(put(kMost), 100) == nullptr);
  BOOST_CHECK(onesided::find_put(message(onesided::PutHeader{WindowName{9, 0}, 0}), 8) == nullptr);
  BOOST_CHECK(onesided::find_put(message(onesided::PutHeader{kHeapWindow, 40}, 1), 100) ==
              nullptr);  // data in the header
  BOOST_CHECK(onesided::find_put({}, 100) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_signal_follows_long_data) {
  ExposedHeap heap;
  const auto put_signal = [](std::uint64_t data, std::uint64_t signal, int sig_op) {
    return message(onesided::PutSignalHeader{{kHeapWindow, data}, {kHeapWindow, signal, 3, sig_op, 0}});
  };
  const auto good = put_signal(64, 8, SHMEM_SIGNAL_ADD);
  BOOST_CHECK(onesided::find_put_signal(good, 100) == heap.at<std::byte>(64));
  BOOST_CHECK(heap.is_zero());
  BOOST_CHECK(onesided::perform_signal_of(good) == nullptr);
  BOOST_CHECK_EQUAL(*heap.at<std::uint64_t>(8), 3u);
  BOOST_CHECK(onesided::find_put_signal(good, kHeapBytes - 63) == nullptr);
  BOOST_CHECK(onesided::find_put_signal(put_signal(64, 12, SHMEM_SIGNAL_ADD), 100) == nullptr);
  BOOST_CHECK(onesided::find_put_signal(put_signal(64, kHeapBytes, SHMEM_SIGNAL_SET), 100) == nullptr);
  BOOST_CHECK(onesided::find_put_signal(put_signal(64, 8, 7), 100) == nullptr);
  BOOST_CHECK_EQUAL(*heap.at<std::uint64_t>(8), 3u);
}

BOOST_AUTO_TEST_CASE(a_get_finds_its_bytes) {
  ExposedHeap heap;
  const onesided::GetHeader header{kHeapWindow, 100, 50, 77};
  const auto get = [](Bytes payload, std::uint64_t most = 50) {
    return onesided::execute_get(payload, {scratch, most});
  };
  const auto request = message(header);
  const Executed result = get(request);
  BOOST_REQUIRE(result.wrong == nullptr && result.is_replied);
  BOOST_CHECK(result.reply.ticket == 77 && result.reply.outcome == Outcome::ok && result.reply.is_final == 1);
  BOOST_CHECK(result.data.data() == heap.at<std::byte>(100) && result.data.size() == 50);
  BOOST_CHECK(get(request, 49).wrong != nullptr);  // more than a reply holds
  for (std::size_t bytes = 0; bytes < request.size(); ++bytes)
    BOOST_CHECK(get(Bytes(request).first(bytes)).wrong != nullptr);
  BOOST_CHECK(get(message(header, 1)).wrong != nullptr);
  for (const std::uint64_t offset : {kHeapBytes - 49, kHeapBytes, kMost - 49, kMost})
    BOOST_CHECK(get(message(onesided::GetHeader{kHeapWindow, offset, 50, 1})).wrong != nullptr);
}

BOOST_AUTO_TEST_CASE(a_request_for_a_key_finds_its_window) {
  ExposedHeap heap;
  onesided::KeyRequest request;
  windows::ExposedRange window;
  const auto find = [&](Bytes payload) { return onesided::find_key_request(payload, request, window); };
  const auto payload = message(onesided::KeyRequest{kHeapWindow, kHeapBytes - 1, 7, 0});
  BOOST_REQUIRE(find(payload).wrong == nullptr && !find(payload).is_replied);
  BOOST_CHECK(window.base == heap.begin() && window.bytes == kHeapBytes);
  BOOST_CHECK(request.offset == kHeapBytes - 1 && request.ticket == 7);
  for (std::size_t bytes = 0; bytes < payload.size(); ++bytes)
    BOOST_CHECK(find(Bytes(payload).first(bytes)).wrong != nullptr);
  BOOST_CHECK(find(message(onesided::KeyRequest{kHeapWindow, 0, 7, 0}, 1)).wrong != nullptr);
  for (const std::uint64_t offset : {std::uint64_t{kHeapBytes}, std::uint64_t{kMost}})
    BOOST_CHECK(find(message(onesided::KeyRequest{kHeapWindow, offset, 7, 0})).wrong != nullptr);
}

BOOST_AUTO_TEST_CASE(a_strided_get_gathers_its_blocks) {
  ExposedHeap heap;
  for (std::size_t i = 0; i < kHeapBytes; ++i) *heap.at<std::byte>(i) = static_cast<std::byte>(i);
  const auto get = [](const onesided::GetStridedHeader& header) {
    return onesided::execute_get_strided(message(header), {std::span(scratch).first(64), kMost});
  };
  const Executed result = get({kHeapWindow, 10, 20, 3, 7, 5, 0});
  BOOST_REQUIRE(result.wrong == nullptr && result.is_replied);
  BOOST_REQUIRE_EQUAL(result.data.size(), 21u);
  for (std::size_t i = 0; i < 21; ++i)
    BOOST_CHECK_EQUAL(std::to_integer<int>(result.data[i]), static_cast<int>(10 + i / 3 * 20 + i % 3));
  // More than the buffer, beyond the window, overflow.
  for (const onesided::GetStridedHeader& wrong : {onesided::GetStridedHeader{kHeapWindow, 0, 8, 8, 9, 1, 0},
                                                  onesided::GetStridedHeader{kHeapWindow, 0, 1000, 8, 3, 1, 0},
                                                  onesided::GetStridedHeader{kHeapWindow, 0, kMost / 2 + 1, 8, 3, 1, 0},
                                                  onesided::GetStridedHeader{kHeapWindow, 0, 0, 1U << 31, 2, 1, 0},
                                                  onesided::GetStridedHeader{kHeapWindow, 0, 8, 0, 3, 1, 0},
                                                  onesided::GetStridedHeader{kHeapWindow, kMost, 8, 8, 3, 1, 0}})
    BOOST_CHECK(get(wrong).wrong != nullptr);
}

BOOST_AUTO_TEST_CASE(a_strided_accumulate_updates_its_blocks) {
  using atomic::ElementOp;
  using atomic::ElementType;
  ExposedHeap heap;
  const auto header = [](std::uint64_t offset, std::uint32_t count, std::uint64_t step, std::uint32_t blocks) {
    return onesided::AccumulateStridedHeader{
        {kHeapWindow, offset, 5, count, ElementType::int64, ElementOp::sum, 0, 1, 1}, step, blocks, 0};
  };
  const auto update = [](const onesided::AccumulateStridedHeader& with, std::size_t bytes) {
    return onesided::execute_accumulate_strided(message(with, bytes), {std::span(scratch).first(256), kMost});
  };
  *heap.at<std::int64_t>(104) = 100;
  const Executed result = update(header(16, 2, 40, 7), 7 * 16);
  BOOST_REQUIRE(result.wrong == nullptr && result.is_replied);
  BOOST_REQUIRE_EQUAL(result.data.size(), 7U * 16);
  for (std::size_t i = 0; i < ExposedHeap::kBytes / 8; ++i) {
    const bool is_updated = 8 * i >= 16 && (8 * i - 16) % 40 < 16 && (8 * i - 16) / 40 < 7;
    BOOST_CHECK_EQUAL(*heap.at<std::int64_t>(8 * i), (8 * i == 104 ? 100 : 0) + (is_updated ? 0x0707070707070707 : 0));
  }
  std::int64_t old = 0;
  std::memcpy(&old, result.data.data() + 5 * 8, sizeof old);
  BOOST_CHECK_EQUAL(old, 100);
  // More than the buffer, fewer operands, beyond the window, overflow, no blocks, another operator.
  const ExposedHeap other;
  BOOST_CHECK(update(header(0, 2, 16, 17), 17 * 16).wrong != nullptr);
  BOOST_CHECK(update(header(0, 2, 40, 3), 40).wrong != nullptr);
  BOOST_CHECK(update(header(0, 2, 600, 3), 48).wrong != nullptr);
  BOOST_CHECK(update(header(0, 2, kMost / 2 + 1, 3), 48).wrong != nullptr);
  BOOST_CHECK(update(header(0, 2, 40, 0), 0).wrong != nullptr);
  BOOST_CHECK(update(header(0, 1U << 31, 40, 1), 0).wrong != nullptr);
  onesided::AccumulateStridedHeader wrong = header(0, 2, 40, 3);
  wrong.elements.op = ElementOp::compare_swap;
  BOOST_CHECK(update(wrong, 48).wrong != nullptr);
  wrong.elements.type = static_cast<ElementType>(200);
  BOOST_CHECK(update(wrong, 48).wrong != nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
