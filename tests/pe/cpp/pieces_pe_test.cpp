// The C++ interface of messages in several pieces, and of alltoallv: shmemx/pieces.hpp and shmemx/alltoallv.hpp.
#include <shmemx/requests.hpp>

#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr int kTag = 11;

struct Head {
  int pe;
  double time;
};

using Lengths = std::vector<std::size_t>;

std::size_t index_of(int pe) { return static_cast<std::size_t>(pe); }

// The length of the block from one PE to another: of some it is 0.
std::size_t length_between(int from, int to) { return index_of((3 * from + 2 * to) % 5); }

// Element i of the block from one PE to another.
int element_between(int from, int to, std::size_t i) { return 10000 * from + 100 * to + static_cast<int>(i); }

Lengths lengths_from(int pe) {
  Lengths lengths;
  for (int to = 0; to < pes(); ++to) lengths.push_back(length_between(pe, to));
  return lengths;
}
Lengths lengths_to(int pe) {
  Lengths lengths;
  for (int from = 0; from < pes(); ++from) lengths.push_back(length_between(from, pe));
  return lengths;
}
std::size_t sum_of(const Lengths& lengths) { return std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}); }

// This PE's blocks, one after the other.
std::vector<int> packed_source() {
  std::vector<int> source;
  for (int to = 0; to < pes(); ++to)
    for (std::size_t i = 0; i < length_between(me(), to); ++i) source.push_back(element_between(me(), to, i));
  return source;
}

// Checks the block from each PE; that from PE p begins at place_of(p).
template <class Place>
void check_blocks(const std::vector<int>& memory, Place place_of) {
  for (int from = 0; from < pes(); ++from)
    for (std::size_t i = 0; i < length_between(from, me()); ++i)
      CHECK_EQUAL(memory[place_of(from) + i], element_between(from, me(), i));
}
std::size_t packed_place(int from) {
  std::size_t at = 0;
  for (int pe = 0; pe < from; ++pe) at += length_between(pe, me());
  return at;
}

}  // namespace

PE_TEST(pieces_become_one_message) {
  Head head{me(), 0.5};
  const std::vector<long> data(50, me());
  Head got_head{};
  std::vector<long> got_data(50);
  shmemx::request receive = shmemx::irecvv({std::span(&got_head, 1), got_data}, left(), kTag);
  shmemx::sendv({std::span(&head, 1), data}, right(), kTag);
  const shmemx::message_status status = receive.wait();
  CHECK_EQUAL(status.bytes, sizeof(Head) + 50 * sizeof(long));
  CHECK_EQUAL(got_head.pe, left());
  CHECK_EQUAL(got_head.time, 0.5);
  CHECK_EQUAL(got_data[49], left());

  std::vector<shmemx::const_piece> list;  // the list itself may change when isendv has returned
  for (int i = 0; i < 3; ++i) list.push_back(std::span(data).subspan(10 * static_cast<std::size_t>(i), 10));
  const shmemx::request sent = shmemx::isendv(list, right(), kTag + 1);
  list.clear();
  std::vector<long> first(25), rest(5);
  const std::array<shmemx::piece, 2> places{first, rest};
  CHECK_EQUAL(shmemx::recvv(places, left(), kTag + 1).count<long>(), 30u);
  CHECK_EQUAL(rest[4], left());

  const std::array<shmemx::const_piece, 2> again{places[0], places[1]};  // what was written is sent
  const shmemx::request returned = shmemx::isendv(again, left(), kTag + 2);
  std::vector<long> own(30);
  shmemx::recv(own, right(), kTag + 2);
  CHECK_EQUAL(own[0], me());
  CHECK_EQUAL(own[29], me());
}

PE_TEST(blocks_at_equal_distances_are_those_of_the_range) {
  constexpr std::size_t kColumns = 8;
  std::vector<int> matrix(5 * kColumns);
  std::iota(matrix.begin(), matrix.end(), 100 * me());
  const auto from_left = [](std::size_t i) { return 100 * left() + static_cast<int>(i); };

  // Column 2 becomes column 3.
  std::vector<int> other(5 * kColumns, -1);
  shmemx::request sent = shmemx::isend_strided(std::span(matrix).subspan(2), 1, kColumns, right(), kTag);
  CHECK_EQUAL(shmemx::recv_strided(std::span(other).subspan(3), 1, kColumns, left(), kTag).count<int>(), 5u);
  sent.wait();
  for (std::size_t i = 0; i < other.size(); ++i) CHECK_EQUAL(other[i], i % kColumns == 3 ? from_left(i - 1) : -1);

  // Blocks of 3 from the end on; one does not fit at the beginning.
  std::vector<int> blocks(8, -1);
  shmemx::request receive = shmemx::irecv(blocks, left(), kTag);
  shmemx::send_strided(std::span(matrix).first(10), 3, -5, right(), kTag);
  CHECK_EQUAL(receive.wait().count<int>(), 6u);
  const std::array<std::size_t, 6> expected{7, 8, 9, 2, 3, 4};
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK_EQUAL(blocks[i], from_left(expected[i]));
  CHECK_EQUAL(blocks[6], -1);

  // In the opposite order.
  std::array<int, 6> reversed{};
  receive = shmemx::irecv_strided(reversed, 1, -1, left(), kTag);
  shmemx::send(std::span(matrix).first(6), right(), kTag);
  receive.wait();
  for (std::size_t i = 0; i < reversed.size(); ++i) CHECK_EQUAL(reversed[i], from_left(5 - i));
}

PE_TEST(strided_messages_may_be_empty) {
  const std::array<int, 4> data{1, 2, 3, 4};
  std::array<int, 4> got{};
  shmemx::request receive = shmemx::irecv(got, left(), kTag);
  shmemx::send_strided(data, 5, 5, right(), kTag);  // no block fits
  CHECK_EQUAL(receive.wait().bytes, 0u);
  receive = shmemx::irecv(got, left(), kTag);
  shmemx::send_strided(data, 2, 0, right(), kTag);  // one block, as there is no next one
  CHECK_EQUAL(receive.wait().count<int>(), 2u);
  CHECK_EQUAL(got[1], 2);
}

PE_TEST(alltoallv_returns_the_lengths_that_have_come) {
  const std::vector<int> source = packed_source();
  std::vector<int> memory(sum_of(lengths_to(me())), -1);
  const Lengths come = shmemx::alltoallv(shmemx::team::world(), memory, source, lengths_from(me()));
  CHECK(come == lengths_to(me()));
  check_blocks(memory, packed_place);
}

PE_TEST(alltoallv_takes_lengths_and_places) {
  constexpr std::size_t kSlot = 7;
  Lengths slots;
  for (int pe = 0; pe < pes(); ++pe) slots.push_back(kSlot * index_of(pes() - 1 - pe));  // the last PE's comes first
  const auto slot_of = [&](int pe) { return slots[index_of(pe)]; };
  std::vector<int> source(kSlot * index_of(pes()), -1);
  for (int to = 0; to < pes(); ++to)
    for (std::size_t i = 0; i < length_between(me(), to); ++i) source[slot_of(to) + i] = element_between(me(), to, i);
  const shmemx::block_lengths<int> sent(lengths_from(me()), slots);

  std::vector<int> memory(source.size(), -1);
  shmemx::block_lengths<int> expected(lengths_to(me()), slots);
  shmemx::alltoallv(shmemx::team::world(), memory, expected, source, sent);
  check_blocks(memory, slot_of);

  std::vector<int> later(source.size(), -1);
  auto unknown = shmemx::block_lengths<int>::to_be_received_at(slots);
  shmemx::alltoallv_nb(shmemx::team::world(), later, unknown, source, sent).wait();
  check_blocks(later, slot_of);
  for (int pe = 0; pe < pes(); ++pe) CHECK_EQUAL(unknown[index_of(pe)], length_between(pe, me()));

  // Everything goes back to where it came from.
  std::vector<int> returned(source.size(), -1);
  shmemx::block_lengths<int> own(lengths_from(me()), slots);
  shmemx::alltoallv(shmemx::team::world(), returned, own, later, unknown);
  CHECK(returned == source);
}

PE_TEST(alltoallv_in_the_background_beside_others) {
  const std::vector<int> source = packed_source();
  const shmemx::block_lengths<int> sent(lengths_from(me()));
  std::array<std::vector<int>, 3> memory;
  std::vector<shmemx::block_lengths<int>> come;
  for (std::vector<int>& each : memory) {
    each.assign(sum_of(lengths_to(me())), -1);
    come.push_back(shmemx::block_lengths<int>::to_be_received(index_of(pes())));
  }
  std::vector<shmemx::request> open;
  for (std::size_t i = 0; i < memory.size(); ++i)
    open.push_back(shmemx::alltoallv_nb(shmemx::team::world(), memory[i], come[i], source, sent));
  shmemx::wait_all(open);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    CHECK_EQUAL(come[i][index_of(pes() - 1)], length_between(pes() - 1, me()));
    check_blocks(memory[i], packed_place);
  }
}
