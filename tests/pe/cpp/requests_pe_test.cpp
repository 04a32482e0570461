// The C++ interface of messages and of collectives in the background, shmemx/requests.hpp.
#include <shmemx/requests.hpp>
#include <shmemx/shmemx.hpp>

#include <array>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr int kTag = 7;

struct Point {
  int number;
  double value;
};

template <class R>
concept sendable_later = requires(R&& data) {
  shmemx::isend(std::forward<R>(data), 0, kTag);
};
static_assert(sendable_later<std::vector<int>&> && sendable_later<std::span<int>> &&
              sendable_later<const std::array<int, 3>&>);
static_assert(!sendable_later<std::vector<int>> && !sendable_later<int&>);
static_assert(!std::is_copy_constructible_v<shmemx::request> && std::is_nothrow_move_assignable_v<shmemx::request>);

template <class R>
concept piece_of_request = requires(R&& data) {
  shmemx::isendv({shmemx::const_piece(std::forward<R>(data))}, 0, kTag);
};
static_assert(piece_of_request<std::vector<int>&> && piece_of_request<std::span<const int>>);
static_assert(!piece_of_request<std::vector<int>>);
static_assert(std::is_convertible_v<shmemx::piece, shmemx::const_piece> &&
              !std::is_constructible_v<shmemx::piece, shmemx::const_piece>);

std::vector<Point> points_of(int pe) { return {{pe, 0.5}, {pe + 1, 1.5}, {pe + 2, 2.5}}; }

}  // namespace

PE_TEST(messages_carry_ranges) {
  std::vector<Point> got(5);
  shmemx::request receive = shmemx::irecv(got, left(), kTag);
  CHECK(receive.is_open());
  shmemx::send(points_of(me()), right(), kTag);
  const shmemx::message_status status = receive.wait();
  CHECK(!receive.is_open() && !status.is_truncated && !status.is_cancelled);
  CHECK_EQUAL(status.source, left());
  CHECK_EQUAL(status.tag, kTag);
  CHECK_EQUAL(status.count<Point>(), 3u);
  CHECK_EQUAL(got[2].number, left() + 2);
  CHECK_EQUAL(got[2].value, 2.5);

  std::array<int, 2> pair{};
  const std::array<int, 2> mine{me(), 3};
  CHECK_EQUAL(shmemx::sendrecv(mine, right(), kTag + 1, pair, left(), kTag + 1).source, left());
  CHECK_EQUAL(pair[0], left());
  shmem_barrier_all();
}

PE_TEST(a_message_that_is_too_long_is_truncated) {
  const std::vector<long> data(4, me());
  shmemx::request sent = shmemx::isend(data, right(), kTag);
  const shmemx::message_status found = shmemx::probe(left(), kTag);
  CHECK_EQUAL(found.count<long>(), 4u);
  std::vector<long> room(2);
  const shmemx::message_status status = shmemx::recv(room, left());
  CHECK(status.is_truncated);
  CHECK_EQUAL(status.count<long>(), 2u);
  CHECK_EQUAL(room[1], left());
  sent.wait();
  CHECK(!shmemx::iprobe(left(), kTag + 5));
  shmem_barrier_all();
}

PE_TEST(requests_end_with_their_scope) {
  std::vector<int> got(1000);
  const std::vector<int> mine(1000, me());
  shmemx::request receive = shmemx::irecv(got, left(), kTag);
  { const shmemx::request sent = shmemx::issend(mine, right(), kTag); }  // waits until it has been taken
  receive.wait();
  CHECK_EQUAL(got[999], left());

  int never = -1;
  std::array<int, 1> word{me()};
  { const shmemx::request cancelled = shmemx::irecv(std::span(&never, 1), left(), kTag + 1); }
  shmem_barrier_all();  // no message is sent before all have cancelled
  shmemx::send(word, right(), kTag + 1);
  shmemx::recv(word, left(), kTag + 1);
  CHECK_EQUAL(word[0], left());
  CHECK_EQUAL(never, -1);
  shmem_barrier_all();
}

PE_TEST(several_requests_complete_together_or_one_by_one) {
  std::vector<int> got(static_cast<std::size_t>(pes()), -1);
  std::vector<shmemx::request> requests;
  for (int pe = 0; pe < pes(); ++pe)
    requests.push_back(shmemx::irecv(std::span(got).subspan(static_cast<std::size_t>(pe), 1), pe, kTag));
  const std::array<int, 1> mine{me()};
  for (int pe = 0; pe < pes(); ++pe) shmemx::send(mine, pe, kTag);
  shmemx::message_status status;
  const auto first = shmemx::wait_any(requests, &status);
  CHECK(first.has_value());
  if (first) CHECK_EQUAL(status.source, static_cast<int>(*first));
  shmemx::wait_all(requests);
  CHECK(!shmemx::wait_any(requests));
  for (int pe = 0; pe < pes(); ++pe) CHECK_EQUAL(got[static_cast<std::size_t>(pe)], pe);
  shmem_barrier_all();
}

PE_TEST(collectives_in_the_background_take_ranges) {
  const shmemx::team world = shmemx::team::world();
  const auto count = static_cast<std::size_t>(pes());
  std::vector<double> sum(3), mine(3, me() + 1.0), all(3 * count), root(2, me());
  std::vector<int> blocks(2 * count), dest(2 * count);
  std::iota(blocks.begin(), blocks.end(), 100 * me());
  std::array<shmemx::request, 4> open = {
      shmemx::reduce_nb(world, sum, mine, shmemx::op::sum), shmemx::fcollect_nb(world, all, mine),
      shmemx::alltoall_nb(world, dest, blocks, 2), shmemx::broadcast_nb(world, root, root, pes() - 1)};
  shmemx::wait_all(open);
  CHECK_EQUAL(sum[2], pes() * (pes() + 1) / 2.0);
  CHECK_EQUAL(all[3 * count - 1], pes());
  CHECK_EQUAL(dest[2 * count - 1], 100 * (pes() - 1) + 2 * me() + 1);
  CHECK_EQUAL(root[1], pes() - 1);
  shmemx::barrier_nb(world).wait();
}
