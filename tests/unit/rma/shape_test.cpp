#include "rma/shape.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "../../support/pattern.hpp"

BOOST_AUTO_TEST_SUITE(rma_shape)

using namespace shmemx::rma;

namespace {

// Returns the bytes of the shape's pieces, concatenated.
std::vector<std::byte> flattened(const Shape& shape) {
  std::vector<std::byte> out;
  for (Cursor cursor(shape); cursor.left() != 0;) {
    const Place place = cursor.next(SIZE_MAX);
    BOOST_REQUIRE(place.bytes != 0);
    out.insert(out.end(), place.at, place.at + place.bytes);
    cursor.advance(place.bytes);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lists_skip_empty_pieces) {
  auto memory = test_support::pattern<std::byte>(100, 0);
  const Place list[] = {
      {nullptr, 0}, {memory.data(), 10}, {memory.data() + 50, 0}, {memory.data() + 90, 10}, {memory.data() + 20, 3},
      {nullptr, 0}};
  Shape shape = Shape::of_list(list, 6);
  BOOST_TEST(shape.bytes == 23U);
  std::vector<std::byte> expected(memory.begin(), memory.begin() + 10);
  expected.insert(expected.end(), memory.begin() + 90, memory.end());
  expected.insert(expected.end(), memory.begin() + 20, memory.begin() + 23);
  BOOST_TEST((flattened(shape) == expected));
  shape = Shape::of_list(nullptr, 0);
  BOOST_TEST(shape.bytes == 0U);
  BOOST_TEST(Cursor(shape).next(5).bytes == 0U);
}

BOOST_AUTO_TEST_CASE(totals_that_do_not_fit_are_refused) {
  std::byte byte{};
  const Place list[] = {{&byte, SIZE_MAX}, {&byte, 1}};
  BOOST_TEST((Shape::of_list(list, 2).fit == Shape::Fit::overflow));
  BOOST_TEST((Shape::strided(&byte, SIZE_MAX / 2, 1, 3).fit == Shape::Fit::overflow));
  BOOST_TEST((Shape::strided(&byte, 1, PTRDIFF_MAX, 3).fit == Shape::Fit::wraps));
  BOOST_TEST((Shape::strided(&byte, 1, PTRDIFF_MIN, 1).fit == Shape::Fit::fits));
  const Shape empty = Shape::strided(&byte, 0, 5, SIZE_MAX / 4);
  BOOST_TEST((empty.fit == Shape::Fit::fits));
  BOOST_TEST(empty.bytes == 0U);
}

BOOST_AUTO_TEST_CASE(strides_may_be_negative) {
  auto memory = test_support::pattern<std::byte>(64, 0);
  Shape shape = Shape::strided(memory.data() + 60, 4, -20, 4);
  std::vector<std::byte> expected;
  for (const int at : {60, 40, 20, 0}) expected.insert(expected.end(), memory.begin() + at, memory.begin() + at + 4);
  BOOST_TEST((flattened(shape) == expected));
  shape = Shape::strided(memory.data(), 8, 8, 8);
  BOOST_TEST((shape.kind == Shape::Kind::contiguous));
  BOOST_TEST((flattened(shape) == memory));
}

BOOST_AUTO_TEST_CASE(gather_and_scatter_in_pieces_are_complete) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int turn = 0; turn < 300; ++turn) {
    auto memory = test_support::pattern<std::byte>(3000, 0);
    Shape shape;
    if (turn % 2 == 0) {
      shape = Shape::strided(memory.data(), 1 + random() % 40, 50 + static_cast<int>(random() % 10), random() % 40);
    } else {
      static Place list[30];
      std::size_t at = 0;
      for (Place& place : list) {
        place = {memory.data() + at, random() % 60};
        at += place.bytes + random() % 20;
      }
      shape = Shape::of_list(list, random() % 30);
    }
    const auto expected = flattened(shape);
    BOOST_REQUIRE_EQUAL(expected.size(), shape.bytes);
    std::vector<std::byte> packed(shape.bytes);
    Cursor reader(shape);
    while (reader.left() != 0) {
      const std::size_t bytes = std::min<std::size_t>(reader.left(), 1 + random() % 100);
      reader.gather(packed.data() + reader.passed(), bytes);
    }
    BOOST_REQUIRE((packed == expected));
    for (std::byte& byte : packed) byte ^= std::byte{0xff};
    Cursor writer(shape);
    while (writer.left() != 0) {
      const std::size_t bytes = std::min<std::size_t>(writer.left(), 1 + random() % 100);
      writer.scatter(packed.data() + writer.passed(), bytes);
    }
    BOOST_REQUIRE((flattened(shape) == packed));
  }
}

BOOST_AUTO_TEST_CASE(pairs_end_where_a_piece_of_either_side_ends) {
  std::byte window[100];
  std::byte local[30];
  const Place targets[] = {{window + 10, 5}, {window + 3, 0}, {window + 50, 15}};
  const Place locals[] = {{local, 8}, {local + 20, 10}, {local + 12, 2}};
  PairWalk walk(Shape::of_list(targets, 3), Shape::of_list(locals, 3));
  const Pair expected[] = {{window + 10, local, 5},
                           {window + 50, local + 5, 3},
                           {window + 53, local + 20, 7},
                           {window + 60, local + 27, 3},
                           {window + 63, local + 12, 2}};
  Pair pair{};
  for (const Pair& each : expected) {
    BOOST_REQUIRE(walk.next(pair, 7));
    BOOST_TEST(pair.first == each.first);
    BOOST_TEST(pair.second == each.second);
    BOOST_TEST(pair.bytes == each.bytes);
  }
  BOOST_TEST(!walk.next(pair));
}

namespace {

// A shape of `bytes`, in parts that are often equal and often at equal distances. `list` holds its places.
Shape random_shape(std::mt19937& random, std::byte* memory, std::size_t bytes, std::vector<Place>& list) {
  if (random() % 4 == 0) return Shape::contiguous(memory, bytes);
  const std::size_t block = std::size_t{1} << (random() % 4);
  if (random() % 3 == 0 && bytes % block == 0)
    return Shape::strided(memory + bytes, block, static_cast<std::ptrdiff_t>(random() % 30) - 15, bytes / block);
  list.clear();
  std::byte* at = memory;
  std::size_t bytes_of_last = 0;
  for (std::size_t left = bytes; left != 0; left -= bytes_of_last) {
    bytes_of_last = std::min<std::size_t>(left, random() % 6 == 0 ? random() % 9 : block);
    list.push_back({at, bytes_of_last});
    at += random() % 4 == 0 ? bytes_of_last : random() % 6 == 0 ? random() % 20 : 12;
    if (random() % 8 == 0) list.push_back({nullptr, 0});
  }
  Shape shape = Shape::of_list(list.data(), list.size());
  shape.joins = random() % 4 != 0;
  return shape;
}

}  // namespace

BOOST_AUTO_TEST_CASE(blocks_of_pairs_are_the_pairs) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  std::vector<std::byte> window(20000);
  std::vector<std::byte> local(20000);
  std::size_t together = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    const std::size_t bytes = 1 + random() % 600;
    std::vector<Place> targets, locals;
    const Shape first = random_shape(random, window.data() + 9000, bytes, targets);
    const Shape second = random_shape(random, local.data() + 9000, bytes, locals);
    const std::size_t most = 1 + random() % 100;
    PairWalk one_by_one(first, second);
    PairWalk walk(first, second);
    Pair pair{};
    for (PairBlocks blocks{}; walk.next_blocks(blocks, most);) {
      BOOST_REQUIRE(blocks.count != 0);
      if (blocks.count > 1) ++together;
      for (std::size_t i = 0; i < blocks.count; ++i) {
        BOOST_REQUIRE(one_by_one.next(pair, most));
        BOOST_REQUIRE(blocks.at(i).first == pair.first);
        BOOST_REQUIRE(blocks.at(i).second == pair.second);
        BOOST_REQUIRE_EQUAL(blocks.at(i).bytes, pair.bytes);
      }
      BOOST_REQUIRE_EQUAL(walk.left(), one_by_one.left());
    }
    BOOST_REQUIRE(!one_by_one.next(pair, most));
  }
  BOOST_TEST(together != 0U);
}

BOOST_AUTO_TEST_CASE(places_without_gaps_are_one_range) {
  std::byte window[100];
  std::byte local[100];
  const Place targets[] = {{window + 8, 8}, {window + 16, 4}, {nullptr, 0}, {window + 20, 8}, {window + 60, 8}};
  const Place locals[] = {{local, 14}, {local + 14, 14}};
  using Sizes = std::vector<std::size_t>;
  const auto sizes_of = [](const Shape& target, const Shape& source) {
    Sizes sizes;
    PairWalk walk(target, source);
    for (Pair pair{}; walk.next(pair);) sizes.push_back(pair.bytes);
    return sizes;
  };
  BOOST_TEST((sizes_of(Shape::of_list(targets, 4), Shape::contiguous(local, 20)) == Sizes{20}));
  BOOST_TEST((sizes_of(Shape::of_list(targets, 5), Shape::of_list(locals, 2)) == Sizes{20, 8}));
  BOOST_TEST((sizes_of(Shape::of_list(targets, 5), Shape::strided(local, 4, 8, 7)) == Sizes(7, 4)));
  Shape set = Shape::of_list(targets, 4);
  set.joins = false;
  BOOST_TEST((sizes_of(set, Shape::contiguous(local, 20)) == Sizes{8, 4, 8}));

  BOOST_TEST((Shape::of_local_list(locals, 2).kind == Shape::Kind::contiguous));
  BOOST_TEST((Shape::of_local_list(targets, 5).kind == Shape::Kind::list));
  BOOST_TEST(Shape::of_local_list(targets + 2, 1).bytes == 0U);
}

BOOST_AUTO_TEST_CASE(overflowing_totals_and_null_pieces_are_detected) {
  std::byte memory[8];
  BOOST_TEST((Shape::strided(memory, std::size_t{1} << 40, 8, std::size_t{1} << 40).fit == Shape::Fit::overflow));
  BOOST_TEST(Shape::strided(memory, 3, 8, 5).bytes == 15U);
  const Place list[] = {{nullptr, 0}, {memory, 1}, {nullptr, 1}};
  BOOST_TEST(Shape::of_list(list, 3).has_null());
  BOOST_TEST(!Shape::of_list(list, 2).has_null());
  BOOST_TEST(Shape::contiguous(nullptr, 1).has_null());
  BOOST_TEST(!Shape::contiguous(nullptr, 0).has_null());
}

BOOST_AUTO_TEST_SUITE_END()
