// Collectives that move data and do not block: broadcast, fcollect, alltoall, alltoallv.
#include <shmemx.h>

#include <cstring>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

using Bytes = std::vector<unsigned char>;

int n() { return shmem_n_pes(); }
std::size_t index(int pe) { return static_cast<std::size_t>(pe); }

unsigned char byte_of(int from, int to, std::size_t i) {
  return static_cast<unsigned char>(from * 53 + to * 17 + static_cast<int>(i % 251));
}
Bytes block(int from, int to, std::size_t bytes) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = byte_of(from, to, i);
  return made;
}
void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

void wait_for(shmemx_request_t& request) {
  CHECK_EQUAL(shmemx_wait(&request, nullptr), 0);
  CHECK(request == SHMEMX_REQUEST_NULL);
}

const std::vector<std::size_t> kSizes = {0, 1, 8, 500, 5'000, 100'000};

// Elements, a few for each pair, none for some.
std::size_t length_of(int from, int to) { return index((from * 5 + to * 3) % 4) * 700; }

}  // namespace

PE_TEST(a_broadcast_gets_to_all_from_each_root) {
  for (int root = 0; root < n(); ++root) {
    for (const std::size_t bytes : kSizes) {
      const Bytes source = block(root, 3, bytes);
      Bytes dest(bytes);
      shmemx_request_t request;
      shmemx_broadcast_nb(SHMEM_TEAM_WORLD, dest.data(), me() == root ? source.data() : nullptr, bytes, root, &request);
      wait_for(request);
      CHECK(dest == source);
    }
  }
}

PE_TEST(a_long_broadcast_overlaps_one_that_blocks) {
  constexpr std::size_t kBytes = 3'000'001;
  auto* const dest = static_cast<char*>(shmem_malloc(64));
  auto* const source = static_cast<char*>(shmem_malloc(64));
  const Bytes sent = block(n() - 1, 5, kBytes);
  Bytes got = me() == n() - 1 ? sent : Bytes(kBytes);
  for (int turn = 0; turn < 3; ++turn) {
    shmemx_request_t request;
    shmemx_broadcast_nb(SHMEM_TEAM_WORLD, got.data(), got.data(), kBytes, n() - 1, &request);
    std::memset(source, me() == 0 ? turn + 1 : 99, 64);
    shmem_char_broadcast(SHMEM_TEAM_WORLD, dest, source, 64, 0);
    CHECK_EQUAL(dest[63], static_cast<char>(turn + 1));
    shmem_sync_all();
    wait_for(request);
    CHECK(got == sent);
  }
  shmem_free(source);
  shmem_free(dest);
}

PE_TEST(a_collect_concatenates_the_sources) {
  for (const std::size_t bytes : kSizes) {
    const Bytes source = block(me(), 1, bytes);
    Bytes dest(bytes * index(n()));
    Bytes expected;
    for (int pe = 0; pe < n(); ++pe) append(expected, block(pe, 1, bytes));
    shmemx_request_t request;
    shmemx_fcollect_nb(SHMEM_TEAM_WORLD, dest.data(), source.data(), bytes, &request);
    wait_for(request);
    CHECK(dest == expected);
  }
}

PE_TEST(an_alltoall_exchanges_blocks) {
  for (const std::size_t bytes : kSizes) {
    Bytes source;
    Bytes expected;
    for (int pe = 0; pe < n(); ++pe) {
      append(source, block(me(), pe, bytes));
      append(expected, block(pe, me(), bytes));
    }
    Bytes dest(source.size());
    shmemx_request_t request;
    shmemx_alltoall_nb(SHMEM_TEAM_WORLD, dest.data(), source.data(), bytes, &request);
    wait_for(request);
    CHECK(dest == expected);
  }
}

namespace {

// The arguments and the result of one alltoallv of this PE; with gaps between blocks if it has displacements.
struct Variable {
  std::vector<std::size_t> out, out_at, in, in_at, received;
  Bytes source, dest, expected;

  explicit Variable(bool has_gaps) : received(index(n()), 12345) {
    for (int pe = 0; pe < n(); ++pe) {
      out.push_back(length_of(me(), pe));
      in.push_back(length_of(pe, me()));
      source.resize(source.size() + (has_gaps ? 3 : 0));
      expected.resize(expected.size() + (has_gaps ? 5 : 0));
      out_at.push_back(source.size());
      in_at.push_back(expected.size());
      append(source, block(me(), pe, out.back()));
      append(expected, block(pe, me(), in.back()));
    }
    dest.resize(expected.size());
  }
};

}  // namespace

PE_TEST(an_alltoallv_exchanges_blocks_of_different_lengths) {
  for (const bool knows_lengths : {true, false}) {
    for (const bool has_gaps : {true, false}) {
      Variable a(has_gaps);
      Variable b(has_gaps);
      const auto call = [&](Variable& v, shmemx_request_t* request) {
        const std::size_t* const in = knows_lengths ? v.in.data() : nullptr;
        const std::size_t* const in_at = has_gaps ? v.in_at.data() : nullptr;
        const std::size_t* const out_at = has_gaps ? v.out_at.data() : nullptr;
        return request == nullptr
                   ? shmemx_alltoallv(SHMEM_TEAM_WORLD, v.dest.data(), v.dest.size(), in, in_at, v.source.data(),
                                      v.out.data(), out_at, v.received.data())
                   : shmemx_alltoallv_nb(SHMEM_TEAM_WORLD, v.dest.data(), v.dest.size(), in, in_at, v.source.data(),
                                         v.out.data(), out_at, v.received.data(), request);
      };
      shmemx_request_t request;
      CHECK_EQUAL(call(a, &request), 0);
      CHECK_EQUAL(call(b, nullptr), 0);
      CHECK(b.dest == b.expected);
      CHECK(b.received == b.in);
      wait_for(request);
      CHECK(a.dest == a.expected);
      CHECK(a.received == a.in);
    }
  }
}

PE_TEST(different_collectives_of_a_team_are_open_at_once) {
  constexpr int kTurns = 6;
  struct Turn {
    Bytes sent, got, collected, exchanged;
    long value = 0, sum = 0;
    shmemx_request_t requests[5];
  };
  std::vector<Turn> turns(kTurns);
  for (int i = 0; i < kTurns; ++i) {
    Turn& turn = turns[index(i)];
    const std::size_t bytes = index(i) * 3'000 + 4;
    for (int pe = 0; pe < n(); ++pe) append(turn.sent, block(me(), pe, bytes));
    turn.got.resize(bytes);
    turn.collected.resize(bytes * index(n()));
    turn.exchanged.resize(bytes * index(n()));
    turn.value = me() + i;
    const int root = i % n();
    shmemx_fcollect_nb(SHMEM_TEAM_WORLD, turn.collected.data(), turn.sent.data(), bytes, &turn.requests[0]);
    shmemx_broadcast_nb(SHMEM_TEAM_WORLD, turn.got.data(), turn.sent.data(), bytes, root, &turn.requests[1]);
    shmemx_alltoall_nb(SHMEM_TEAM_WORLD, turn.exchanged.data(), turn.sent.data(), bytes, &turn.requests[2]);
    shmemx_barrier_nb(SHMEM_TEAM_WORLD, &turn.requests[3]);
    shmemx_reduce_nb(SHMEM_TEAM_WORLD, &turn.sum, &turn.value, 1, SHMEMX_INT64, SHMEMX_OP_SUM, &turn.requests[4]);
  }
  shmem_barrier_all();
  for (int i = kTurns; i-- > 0;) {
    Turn& turn = turns[index(i)];
    CHECK_EQUAL(shmemx_waitall(5, turn.requests, nullptr), 0);
    const std::size_t bytes = turn.got.size();
    Bytes collected;
    Bytes exchanged;
    for (int pe = 0; pe < n(); ++pe) {
      append(collected, block(pe, 0, bytes));
      append(exchanged, block(pe, me(), bytes));
    }
    CHECK(turn.collected == collected);
    CHECK(turn.exchanged == exchanged);
    CHECK(turn.got == block(i % n(), 0, bytes));
    CHECK_EQUAL(turn.sum, static_cast<long>(n()) * (n() - 1) / 2 + static_cast<long>(i) * n());
  }
}
