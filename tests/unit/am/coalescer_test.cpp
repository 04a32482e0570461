#include "am/coalescer.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

BOOST_AUTO_TEST_SUITE(am_coalescer)

namespace {

using namespace shmemx;
using am::Batch;
using am::Bytes;
using am::Coalescer;
using am::ItemHeader;

std::vector<std::byte> filled(std::size_t bytes, std::size_t value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

}  // namespace

BOOST_AUTO_TEST_CASE(items_come_out_in_the_order_of_append) {
  const auto batch = std::make_unique<Batch>();
  std::size_t items = 0;
  for (; batch->has_room(items % 100); ++items) {
    const std::size_t bytes = items % 100;
    const auto header = filled(bytes / 3, items);
    const auto data = filled(bytes - bytes / 3, items + 1);
    batch->append(static_cast<std::uint16_t>(items), header, data);
    BOOST_REQUIRE_LE(batch->whole().size(), Batch::kBytes);
  }
  BOOST_REQUIRE_GT(items, 100u);
  Bytes rest = batch->whole();
  ItemHeader item{};
  Bytes payload;
  for (std::size_t i = 0; i < items; ++i) {
    BOOST_REQUIRE(am::take_item(rest, item, payload));
    BOOST_REQUIRE_EQUAL(item.handler, i);
    BOOST_REQUIRE_EQUAL(payload.size(), i % 100);
    BOOST_REQUIRE_EQUAL(reinterpret_cast<std::uintptr_t>(payload.data()) % 8, 0u);
    for (std::size_t k = 0; k < payload.size(); ++k)
      BOOST_REQUIRE(payload[k] == static_cast<std::byte>(k < i % 100 / 3 ? i : i + 1));
  }
  BOOST_CHECK(rest.empty());
  batch->clear();
  BOOST_CHECK(batch->is_empty() && batch->whole().empty());
}

BOOST_AUTO_TEST_CASE(room_includes_the_header_of_the_item) {
  const auto batch = std::make_unique<Batch>();
  BOOST_CHECK(batch->has_room(Batch::kBytes - sizeof(ItemHeader)));
  BOOST_CHECK(!batch->has_room(Batch::kBytes - sizeof(ItemHeader) + 1));
  BOOST_CHECK(!batch->has_room(~std::size_t{0}));
  batch->append(1, filled(Batch::kBytes - sizeof(ItemHeader), 7), {});
  BOOST_CHECK_EQUAL(batch->whole().size(), Batch::kBytes);
  BOOST_CHECK(!batch->has_room(0));
}

BOOST_AUTO_TEST_CASE(damaged_items_are_not_taken) {
  const auto batch = std::make_unique<Batch>();
  batch->append(3, filled(40, 1), filled(5, 2));
  const Bytes whole = batch->whole();
  ItemHeader item{};
  Bytes payload;
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    Bytes rest = whole.first(bytes);
    BOOST_CHECK(!am::take_item(rest, item, payload));
    BOOST_CHECK_EQUAL(rest.size(), bytes);
  }
  for (const std::uint32_t lie : {std::uint32_t{49}, std::uint32_t{1000}, ~std::uint32_t{0}, ~std::uint32_t{14}}) {
    std::vector<std::byte> copy(whole.begin(), whole.end());
    std::memcpy(copy.data() + offsetof(ItemHeader, bytes), &lie, sizeof lie);
    Bytes rest = copy;
    BOOST_CHECK(!am::take_item(rest, item, payload));
  }
}

BOOST_AUTO_TEST_CASE(messages_without_a_batch_or_without_room_are_refused) {
  Coalescer coalescer;
  coalescer.open(3);
  BOOST_CHECK(!coalescer.try_append(1, 5, filled(8, 1), {}));
  BOOST_CHECK(Coalescer::takes(Batch::kBytes / 2 - sizeof(ItemHeader)));
  BOOST_CHECK(!Coalescer::takes(Batch::kBytes / 2));
  coalescer.begin(1, 5, filled(8, 1), {});
  BOOST_CHECK(coalescer.holds(1) && !coalescer.holds(2) && !coalescer.is_empty());
  BOOST_CHECK(coalescer.try_append(1, 5, filled(8, 1), filled(100, 2)));
  BOOST_CHECK(!coalescer.try_append(2, 5, filled(8, 1), {}));
  BOOST_CHECK(!coalescer.try_append(1, 5, filled(Batch::kBytes, 1), {}));
}

BOOST_AUTO_TEST_CASE(batches_stay_until_there_is_room_for_them) {
  Coalescer coalescer;
  coalescer.open(4);
  for (const int pe : {3, 1, 2}) coalescer.begin(pe, 7, filled(16, static_cast<std::size_t>(pe)), {});
  std::vector<int> sent;
  int full = 1;
  const auto try_send = [&](int pe, const Batch& batch) {
    if (pe == full) return false;
    BOOST_CHECK_EQUAL(batch.items(), 1u);
    BOOST_CHECK_EQUAL(batch.whole().size(), sizeof(ItemHeader) + 16);
    BOOST_CHECK(batch.whole().back() == static_cast<std::byte>(pe));
    sent.push_back(pe);
    return true;
  };
  BOOST_CHECK(coalescer.send(0, try_send));
  BOOST_CHECK(!coalescer.send(1, try_send));
  BOOST_CHECK(!coalescer.send_all(try_send));
  BOOST_CHECK((sent == std::vector<int>{2, 3}));
  BOOST_CHECK(coalescer.holds(1) && !coalescer.holds(2) && !coalescer.holds(3));
  full = -1;
  BOOST_CHECK(coalescer.send_all(try_send));
  BOOST_CHECK(coalescer.is_empty() && !coalescer.holds(1));
  // The memory of the batches is used again, and empty.
  coalescer.begin(2, 7, filled(16, 2), {});
  BOOST_CHECK(coalescer.send(2, try_send));
  BOOST_CHECK((sent == std::vector<int>{2, 3, 1, 2}));
}

BOOST_AUTO_TEST_CASE(batches_that_are_not_due_stay) {
  Coalescer coalescer;
  coalescer.open(100'000);
  for (const int pe : {70'000, 3, 99'999}) coalescer.begin(pe, 7, filled(16, 1), {});
  BOOST_CHECK_EQUAL(coalescer.count(), 3u);
  BOOST_CHECK_EQUAL(coalescer.oldest(), 70'000);
  std::vector<int> sent;
  const auto try_send = [&](int pe, const Batch&) {
    sent.push_back(pe);
    return true;
  };
  BOOST_CHECK(!coalescer.send_due([](int pe, const Batch&) { return pe > 1000; }, try_send));
  BOOST_CHECK((sent == std::vector<int>{99'999, 70'000}));
  BOOST_CHECK(coalescer.holds(3) && !coalescer.holds(70'000));
}

BOOST_AUTO_TEST_CASE(a_batch_becomes_old_by_looks_and_later_if_it_is_held) {
  const auto batch = std::make_unique<Batch>();
  const auto looks_until_old = [&batch] {
    std::uint32_t looks = 1;
    while (!batch->is_old_at_look()) ++looks;
    return looks;
  };
  BOOST_CHECK_EQUAL(looks_until_old(), Batch::kLooks);
  batch->clear();
  batch->hold();
  BOOST_CHECK(batch->is_held());
  BOOST_CHECK_EQUAL(looks_until_old(), Batch::kLooksHeld);
  batch->clear();
  BOOST_CHECK(!batch->is_held());
  BOOST_CHECK_EQUAL(looks_until_old(), Batch::kLooks);
}

BOOST_AUTO_TEST_SUITE_END()
