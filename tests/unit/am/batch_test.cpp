#include "am/batch.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

namespace {

using namespace shmemx;
using am::Batch;
using am::Bytes;
using am::ItemHead;

std::vector<std::byte> filled(std::size_t bytes, std::size_t value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(am_batch)

BOOST_AUTO_TEST_CASE(what_went_in_comes_out_in_order) {
  const auto batch = std::make_unique<Batch>();
  std::size_t items = 0;
  for (; batch->has_room(items % 100); ++items) {
    const std::size_t bytes = items % 100;
    const auto header = filled(bytes / 3, items);
    const auto body = filled(bytes - bytes / 3, items + 1);
    batch->append(static_cast<std::uint16_t>(items), header, body);
    BOOST_REQUIRE_LE(batch->whole().size(), Batch::kBytes);
  }
  BOOST_REQUIRE_GT(items, 100u);
  Bytes rest = batch->whole();
  ItemHead head{};
  Bytes payload;
  for (std::size_t i = 0; i < items; ++i) {
    BOOST_REQUIRE(am::take_item(rest, head, payload));
    BOOST_REQUIRE_EQUAL(head.handler, i);
    BOOST_REQUIRE_EQUAL(payload.size(), i % 100);
    BOOST_REQUIRE_EQUAL(reinterpret_cast<std::uintptr_t>(payload.data()) % 16, 0u);
    for (std::size_t k = 0; k < payload.size(); ++k)
      BOOST_REQUIRE(payload[k] == static_cast<std::byte>(k < i % 100 / 3 ? i : i + 1));
  }
  BOOST_CHECK(rest.empty());
  batch->clear();
  BOOST_CHECK(batch->is_empty() && batch->whole().empty());
}

BOOST_AUTO_TEST_CASE(room_is_room_for_the_head_too) {
  const auto batch = std::make_unique<Batch>();
  BOOST_CHECK(batch->has_room(Batch::kBytes - sizeof(ItemHead)));
  BOOST_CHECK(!batch->has_room(Batch::kBytes - sizeof(ItemHead) + 1));
  BOOST_CHECK(!batch->has_room(~std::size_t{0}));
  batch->append(1, filled(Batch::kBytes - sizeof(ItemHead), 7), {});
  BOOST_CHECK_EQUAL(batch->whole().size(), Batch::kBytes);
  BOOST_CHECK(!batch->has_room(0));
}

BOOST_AUTO_TEST_CASE(damaged_items_are_not_taken) {
  const auto batch = std::make_unique<Batch>();
  batch->append(3, filled(40, 1), filled(5, 2));
  const Bytes whole = batch->whole();
  ItemHead head{};
  Bytes payload;
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    Bytes rest = whole.first(bytes);
    BOOST_CHECK(!am::take_item(rest, head, payload));
    BOOST_CHECK_EQUAL(rest.size(), bytes);
  }
  for (const std::uint32_t lie : {std::uint32_t{49}, std::uint32_t{1000}, ~std::uint32_t{0}, ~std::uint32_t{14}}) {
    std::vector<std::byte> copy(whole.begin(), whole.end());
    std::memcpy(copy.data() + offsetof(ItemHead, bytes), &lie, sizeof lie);
    Bytes rest = copy;
    BOOST_CHECK(!am::take_item(rest, head, payload));
  }
}

BOOST_AUTO_TEST_SUITE_END()
