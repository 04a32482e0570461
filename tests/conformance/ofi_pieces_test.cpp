// Receive buffers that a provider cuts into pieces.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <random>
#include <vector>

#include "transport/ofi/pieces.hpp"

BOOST_AUTO_TEST_SUITE(ofi_pieces)

namespace {

using shmemx::ofi::Pieces;

constexpr std::size_t kBytes = 10'000;
constexpr std::size_t kLeast = 1'001;

struct Piece {
  std::size_t begin;
  std::size_t bytes;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_buffer_is_whole_when_it_is_full_and_released) {
  Pieces pieces(kBytes, kLeast);
  for (std::size_t at = 0; at < 9'600; at += 96) pieces.add(at, 96);
  BOOST_TEST(!pieces.is_whole());
  pieces.release();
  BOOST_TEST(pieces.is_whole());
  pieces.reset();
  BOOST_TEST(!pieces.is_released());
  BOOST_TEST(!pieces.is_whole());
}

BOOST_AUTO_TEST_CASE(a_buffer_is_not_whole_while_a_message_in_front_is_missing) {
  Pieces pieces(kBytes, kLeast);
  pieces.add(0, 96);
  for (std::size_t at = 192; at < 9'600; at += 96) pieces.add(at, 96);
  pieces.release();
  BOOST_TEST(!pieces.is_whole());
  pieces.add(96, 96);
  BOOST_TEST(pieces.is_whole());
}

BOOST_AUTO_TEST_CASE(a_buffer_is_not_whole_while_its_last_message_is_missing) {
  Pieces pieces(kBytes, kLeast);
  pieces.add(0, 8'000);
  pieces.release();
  BOOST_TEST(!pieces.is_whole());
  pieces.add(8'000, 1'600);
  BOOST_TEST(pieces.is_whole());
}

BOOST_AUTO_TEST_CASE(gaps_for_alignment_are_no_messages) {
  Pieces pieces(kBytes, kLeast);
  for (std::size_t at = 0; at < 9'600; at += 96) pieces.add(at, 60);
  pieces.release();
  BOOST_TEST(pieces.is_whole());
}

BOOST_AUTO_TEST_CASE(pieces_may_arrive_in_any_order) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Piece> all;
    std::size_t at = 0;
    while (kBytes - at >= kLeast) {
      const std::size_t bytes = 48 + random() % (kLeast - 48) / 16 * 16;
      all.push_back({at, bytes});
      at += bytes;
    }
    std::shuffle(all.begin(), all.end(), random);
    const std::size_t released_at = random() % all.size();
    Pieces pieces(kBytes, kLeast);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == released_at) pieces.release();
      BOOST_REQUIRE(!pieces.is_whole());
      pieces.add(all[i].begin, all[i].bytes);
    }
    BOOST_TEST(pieces.is_whole());
  }
}

BOOST_AUTO_TEST_SUITE_END()
