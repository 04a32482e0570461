// Two-sided messages between PEs: values, order, wildcards, states. Runs on every path and with every LMT.
#include <shmemx.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "../../support/pe_test.hpp"
#include "message_content.hpp"

using namespace pe_test;

namespace {

constexpr std::size_t kSizes[] = {0,    1,    7,     8,     40,    41,     104,     105,     1000,    8152,    8153,
                                  8160, 9000, 16384, 16385, 65536, 100001, 1048576, 1048577, 4194304, 16777216};

// A ring of all PEs, every size: buffers of malloc or in the symmetric heap on either side.
void ring(std::uint8_t* out, std::uint8_t* in) {
  for (const std::size_t bytes : kSizes) {
    const Note note("bytes " + std::to_string(bytes));
    const int tag = static_cast<int>(bytes % 1000);
    fill(out, bytes, me(), tag);
    std::memset(in, 0xee, bytes + 1);
    shmemx_status_t status;
    CHECK_EQUAL(shmemx_sendrecv(out, bytes, right(), tag, in, bytes, left(), tag, &status), 0);
    CHECK(holds(in, bytes, left(), tag));
    CHECK_EQUAL(in[bytes], 0xee);
    CHECK_EQUAL(status.source_pe, left());
    CHECK_EQUAL(status.tag, tag);
    CHECK_EQUAL(status.bytes, bytes);
    CHECK_EQUAL(status.error, 0);
    CHECK_EQUAL(status.cancelled, 0);
  }
}

constexpr std::size_t kLargest = 16777216 + 64;

}  // namespace

PE_TEST(sizes_in_private_memory) {
  std::vector<std::uint8_t> out(kLargest);
  std::vector<std::uint8_t> in(kLargest);
  ring(out.data(), in.data());
}

PE_TEST(sizes_in_the_symmetric_heap) {
  const Symmetric<std::uint8_t> out(kLargest);
  const Symmetric<std::uint8_t> in(kLargest);
  ring(out.get(), in.get());
}

PE_TEST(sizes_from_private_memory_into_the_heap) {
  std::vector<std::uint8_t> out(kLargest);
  const Symmetric<std::uint8_t> in(kLargest);
  ring(out.data(), in.get());
}

PE_TEST(blocking_send_and_receive_alternate) {
  std::uint64_t word = 0;
  for (int turn = 0; turn < 300; ++turn) {
    if (me() == 0) {
      word = static_cast<std::uint64_t>(turn);
      CHECK_EQUAL(shmemx_send(&word, sizeof word, right(), 3), 0);
      CHECK_EQUAL(shmemx_recv(&word, sizeof word, left(), 3, nullptr), 0);
      CHECK_EQUAL(word, static_cast<std::uint64_t>(turn + pes() - 1));
    } else {
      CHECK_EQUAL(shmemx_recv(&word, sizeof word, left(), 3, nullptr), 0);
      ++word;
      CHECK_EQUAL(shmemx_send(&word, sizeof word, right(), 3), 0);
    }
  }
}

// Short and long ones mixed; receives posted before and after.
PE_TEST(messages_of_one_source_do_not_overtake) {
  constexpr int kMany = 200;
  std::vector<std::vector<std::uint32_t>> out;
  std::vector<shmemx_request_t> sends(kMany);
  for (int i = 0; i < kMany; ++i) {
    out.emplace_back(i % 7 == 3 ? 30'000 : 1 + static_cast<std::size_t>(i) % 40, static_cast<std::uint32_t>(i));
    CHECK_EQUAL(
        shmemx_isend(out.back().data(), out.back().size() * 4, right(), i % 2, &sends[static_cast<std::size_t>(i)]), 0);
  }
  int next[2] = {0, 1};
  std::vector<std::uint32_t> in(30'000);
  for (int i = 0; i < kMany; ++i) {
    const int tag = i % 3 == 0 ? SHMEMX_ANY_TAG : next[0] < next[1] ? 0 : 1;
    if (tag != SHMEMX_ANY_TAG && next[tag] >= kMany) continue;
    shmemx_status_t status;
    CHECK_EQUAL(shmemx_recv(in.data(), in.size() * 4, left(), tag, &status), 0);
    if (status.tag != 0 && status.tag != 1) break;
    CHECK_EQUAL(in[0], static_cast<std::uint32_t>(next[status.tag]));
    if (tag == SHMEMX_ANY_TAG) CHECK_EQUAL(next[status.tag], std::min(next[0], next[1]));
    next[status.tag] += 2;
  }
  CHECK_EQUAL(next[0], kMany);
  CHECK_EQUAL(next[1], kMany + 1);
  CHECK_EQUAL(shmemx_waitall(sends.size(), sends.data(), nullptr), 0);
}

PE_TEST(posted_receives_take_messages_in_their_order) {
  constexpr int kMany = 50;
  std::vector<int> in(kMany, -1);
  std::vector<shmemx_request_t> requests(kMany);
  for (int i = 0; i < kMany; ++i) {
    const int source = i % 4 == 1 ? SHMEMX_ANY_SOURCE : left();
    const int tag = i % 3 == 1 ? SHMEMX_ANY_TAG : 9;
    CHECK_EQUAL(shmemx_irecv(&in[static_cast<std::size_t>(i)], sizeof(int), source, tag,
                             &requests[static_cast<std::size_t>(i)]),
                0);
  }
  shmem_barrier_all();
  for (int i = 0; i < kMany; ++i) CHECK_EQUAL(shmemx_send(&i, sizeof i, right(), 9), 0);
  std::vector<shmemx_status_t> statuses(kMany);
  CHECK_EQUAL(shmemx_waitall(requests.size(), requests.data(), statuses.data()), 0);
  for (int i = 0; i < kMany; ++i) {
    CHECK_EQUAL(in[static_cast<std::size_t>(i)], i);
    CHECK_EQUAL(statuses[static_cast<std::size_t>(i)].source_pe, left());
    CHECK(requests[static_cast<std::size_t>(i)] == SHMEMX_REQUEST_NULL);
  }
}

PE_TEST(any_source_receives_from_all_pes) {
  const int value = me() * 10;
  std::vector<shmemx_request_t> sends(static_cast<std::size_t>(pes()));
  for (int pe = 0; pe < pes(); ++pe) shmemx_isend(&value, sizeof value, pe, me(), &sends[static_cast<std::size_t>(pe)]);
  std::vector<int> heard(static_cast<std::size_t>(pes()));
  for (int i = 0; i < pes(); ++i) {
    int in = -1;
    shmemx_status_t status{};
    CHECK_EQUAL(shmemx_recv(&in, sizeof in, SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG, &status), 0);
    CHECK_EQUAL(in, status.source_pe * 10);
    CHECK_EQUAL(status.tag, status.source_pe);
    ++heard[static_cast<std::size_t>(status.source_pe)];
  }
  CHECK(heard == std::vector<int>(static_cast<std::size_t>(pes()), 1));
  shmemx_waitall(sends.size(), sends.data(), nullptr);
}

PE_TEST(a_message_that_is_too_long_is_truncated_and_reported) {
  for (const std::size_t bytes : {std::size_t{9}, std::size_t{900}, std::size_t{12'000}, std::size_t{500'000}}) {
    for (const std::size_t room : {std::size_t{0}, std::size_t{5}, bytes - 1}) {
      const Note note("bytes " + std::to_string(bytes) + " room " + std::to_string(room));
      std::vector<std::uint8_t> out(bytes);
      std::vector<std::uint8_t> in(bytes, 0xee);
      fill(out.data(), bytes, me(), 4);
      shmemx_status_t status;
      CHECK_EQUAL(shmemx_sendrecv(out.data(), bytes, right(), 4, in.data(), room, left(), 4, &status),
                  SHMEMX_ERR_TRUNCATE);
      CHECK_EQUAL(status.error, SHMEMX_ERR_TRUNCATE);
      CHECK_EQUAL(status.bytes, room);
      CHECK(holds(in.data(), room, left(), 4));
      CHECK(std::all_of(in.begin() + static_cast<std::ptrdiff_t>(room), in.end(),
                        [](std::uint8_t b) { return b == 0xee; }));
    }
  }
}

PE_TEST(a_pe_can_send_to_itself) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{5000}, std::size_t{300'000}}) {
    std::vector<std::uint8_t> out(bytes);
    std::vector<std::uint8_t> in(bytes);
    fill(out.data(), bytes, me(), 1);
    // A blocking send before its receive is no deadlock.
    CHECK_EQUAL(shmemx_send(out.data(), bytes, me(), 1), 0);
    CHECK_EQUAL(shmemx_recv(in.data(), bytes, me(), 1, nullptr), 0);
    CHECK(holds(in.data(), bytes, me(), 1));
    shmemx_request_t requests[2];
    std::fill(in.begin(), in.end(), std::uint8_t{0});
    CHECK_EQUAL(shmemx_issend(out.data(), bytes, me(), 2, &requests[0]), 0);
    int flag = 1;
    CHECK_EQUAL(shmemx_test(&requests[0], &flag, nullptr), 0);
    CHECK_EQUAL(flag, 0);
    CHECK_EQUAL(shmemx_irecv(in.data(), bytes, SHMEMX_ANY_SOURCE, 2, &requests[1]), 0);
    CHECK_EQUAL(shmemx_waitall(2, requests, nullptr), 0);
    CHECK(holds(in.data(), bytes, me(), 1));
  }
}

PE_TEST(probe_finds_and_does_not_take) {
  const int tags[] = {5, 6, 5};
  std::vector<std::uint8_t> out(100'000);
  shmemx_request_t sends[3];
  for (int i = 0; i < 3; ++i)
    shmemx_isend(out.data(), i == 2 ? out.size() : 10 + static_cast<std::size_t>(i), right(), tags[i], &sends[i]);
  shmemx_status_t status{};
  CHECK_EQUAL(shmemx_probe(left(), 6, &status), 0);
  CHECK_EQUAL(status.bytes, 11U);
  CHECK_EQUAL(shmemx_probe(SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG, &status), 0);
  CHECK_EQUAL(status.tag, 5);
  CHECK_EQUAL(status.bytes, 10U);
  int flag = 1;
  CHECK_EQUAL(shmemx_iprobe(left(), 7, &flag, nullptr), 0);
  CHECK_EQUAL(flag, 0);
  std::vector<std::uint8_t> in(out.size());
  CHECK_EQUAL(shmemx_recv(in.data(), in.size(), left(), 5, &status), 0);
  CHECK_EQUAL(status.bytes, 10U);
  do {
    shmemx_iprobe(left(), 5, &flag, &status);
  } while (flag == 0);
  CHECK_EQUAL(status.bytes, out.size());
  CHECK_EQUAL(shmemx_recv(in.data(), in.size(), left(), 5, &status), 0);
  CHECK_EQUAL(status.bytes, out.size());
  CHECK_EQUAL(shmemx_recv(in.data(), in.size(), left(), 6, &status), 0);
  shmemx_waitall(3, sends, nullptr);
}

PE_TEST(cancelled_receives_take_nothing) {
  int in[3] = {-1, -1, -1};
  shmemx_request_t requests[3];
  for (int i = 0; i < 3; ++i) shmemx_irecv(&in[i], sizeof(int), left(), 11, &requests[i]);
  CHECK_EQUAL(shmemx_cancel(&requests[1]), 0);
  shmem_barrier_all();
  for (int i = 0; i < 2; ++i) shmemx_send(&i, sizeof i, right(), 11);
  shmemx_status_t statuses[3];
  CHECK_EQUAL(shmemx_waitall(3, requests, statuses), 0);
  CHECK_EQUAL(in[0], 0);
  CHECK_EQUAL(in[1], -1);
  CHECK_EQUAL(in[2], 1);
  CHECK_EQUAL(statuses[0].cancelled, 0);
  CHECK_EQUAL(statuses[1].cancelled, 1);
  CHECK_EQUAL(statuses[2].cancelled, 0);
  // Too late: the message has been matched.
  shmemx_send(&in[2], sizeof(int), me(), 12);
  shmemx_irecv(&in[0], sizeof(int), me(), 12, &requests[0]);
  CHECK_EQUAL(shmemx_cancel(&requests[0]), 0);
  CHECK_EQUAL(shmemx_wait(&requests[0], &statuses[0]), 0);
  CHECK_EQUAL(statuses[0].cancelled, 0);
  CHECK_EQUAL(in[0], 1);
}

PE_TEST(null_requests_are_complete) {
  shmemx_request_t request = SHMEMX_REQUEST_NULL;
  shmemx_status_t status{};
  CHECK_EQUAL(shmemx_wait(&request, &status), 0);
  CHECK_EQUAL(status.source_pe, SHMEMX_ANY_SOURCE);
  CHECK_EQUAL(status.bytes, 0U);
  int flag = 0;
  CHECK_EQUAL(shmemx_test(&request, &flag, nullptr), 0);
  CHECK_EQUAL(flag, 1);
  std::size_t index = 0;
  CHECK_EQUAL(shmemx_waitany(1, &request, &index, nullptr), 0);
  CHECK_EQUAL(index, 1U);
  CHECK_EQUAL(shmemx_waitall(0, nullptr, nullptr), 0);
  CHECK_EQUAL(shmemx_cancel(&request), 0);
}

PE_TEST(waitany_returns_each_request_once) {
  constexpr std::size_t kMany = 8;
  int in[kMany];
  shmemx_request_t requests[kMany];
  for (std::size_t i = 0; i < kMany; ++i) shmemx_irecv(&in[i], sizeof(int), left(), static_cast<int>(i), &requests[i]);
  for (int i = kMany - 1; i >= 0; --i) shmemx_send(&i, sizeof i, right(), i);
  unsigned seen = 0;
  for (std::size_t i = 0; i < kMany; ++i) {
    std::size_t index = kMany;
    shmemx_status_t status{};
    CHECK_EQUAL(shmemx_waitany(kMany, requests, &index, &status), 0);
    if (index >= kMany) break;
    CHECK_EQUAL(status.tag, static_cast<int>(index));
    CHECK_EQUAL(in[index], static_cast<int>(index));
    seen |= 1U << index;
  }
  CHECK_EQUAL(seen, (1U << kMany) - 1);
}

PE_TEST_MIN(a_synchronous_send_waits_for_its_receive, 2) {
  const Symmetric<int> posted;
  const int value = 77;
  if (me() == 0) {
    CHECK_EQUAL(shmemx_ssend(&value, sizeof value, 1, 2), 0);
    CHECK_EQUAL(shmem_int_g(posted.get(), 1), 1);
    CHECK_EQUAL(shmemx_ssend(nullptr, 0, 1, 3), 0);
  } else if (me() == 1) {
    shmemx_status_t status{};
    shmemx_probe(0, 2, &status);
    int in = 0;
    shmem_int_p(posted.get(), 1, 1);
    shmem_quiet();
    CHECK_EQUAL(shmemx_recv(&in, sizeof in, 0, 2, nullptr), 0);
    CHECK_EQUAL(in, 77);
    CHECK_EQUAL(shmemx_recv(nullptr, 0, 0, 3, &status), 0);
    CHECK_EQUAL(status.bytes, 0U);
  }
}

PE_TEST(lists_and_strides_on_either_side) {
  for (const std::size_t pieces : {std::size_t{1}, std::size_t{3}, std::size_t{100}, std::size_t{3000}}) {
    const Note note("pieces " + std::to_string(pieces));
    constexpr std::size_t kBlock = 24;
    const std::size_t bytes = pieces * kBlock;
    std::vector<std::uint8_t> data(bytes);
    fill(data.data(), bytes, me(), 8);
    // Blocks, 40 bytes apart, in reverse.
    std::vector<std::uint8_t> spread(pieces * 40, 0xcc);
    for (std::size_t i = 0; i < pieces; ++i) std::memcpy(&spread[(pieces - 1 - i) * 40], &data[i * kBlock], kBlock);
    std::vector<std::uint8_t> in(pieces * 31, 0xee);
    std::vector<shmemx_iov_t> list;  // pieces of 17 and 7
    for (std::size_t i = 0; i < pieces; ++i) {
      list.push_back({&in[i * 31], 17});
      list.push_back({&in[i * 31 + 20], 7});
    }
    shmemx_request_t request;
    CHECK_EQUAL(shmemx_irecvv(list.data(), list.size(), left(), 8, &request), 0);
    list.assign(list.size(), {nullptr, 1});  // it has been copied
    CHECK_EQUAL(shmemx_send_strided(&spread[(pieces - 1) * 40], kBlock, -40, pieces, right(), 8), 0);
    shmemx_status_t status{};
    CHECK_EQUAL(shmemx_wait(&request, &status), 0);
    CHECK_EQUAL(status.bytes, bytes);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t inside = i % kBlock;
      const std::size_t at = i / kBlock * 31 + (inside < 17 ? inside : inside + 3);
      wrong += in[at] != pattern(left(), 8, i);
      in[at] = 0xee;
    }
    CHECK_EQUAL(wrong, 0U);
    CHECK(std::all_of(in.begin(), in.end(), [](std::uint8_t b) { return b == 0xee; }));
    // The reverse: a list is sent, blocks are received.
    list.clear();
    for (std::size_t i = 0; i < pieces; ++i) list.push_back({&data[i * kBlock], kBlock});
    std::fill(spread.begin(), spread.end(), std::uint8_t{0xcc});
    CHECK_EQUAL(shmemx_isendv(list.data(), list.size(), right(), 9, &request), 0);
    CHECK_EQUAL(shmemx_recv_strided(spread.data(), kBlock, 40, pieces, left(), 9, nullptr), 0);
    CHECK_EQUAL(shmemx_wait(&request, nullptr), 0);
    wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) wrong += spread[i / kBlock * 40 + i % kBlock] != pattern(left(), 8, i);
    CHECK_EQUAL(wrong, 0U);
    CHECK_EQUAL(spread[pieces * 40 - 1], 0xcc);
  }
}

// The blocking forms with lists, and the non-blocking ones with strides.
PE_TEST(lists_blocking_and_strides_non_blocking) {
  constexpr std::size_t kPieces = 50;
  std::vector<std::uint8_t> data(kPieces * 16);
  fill(data.data(), data.size(), me(), 3);
  std::vector<shmemx_iov_t> list;
  for (std::size_t i = 0; i < kPieces; ++i) list.push_back({&data[i * 16], 16});
  CHECK_EQUAL(shmemx_sendv(list.data(), list.size(), right(), 21), 0);
  std::vector<std::uint8_t> in(kPieces * 20, 0xdd);
  for (std::size_t i = 0; i < kPieces; ++i) list[i] = {&in[i * 20], 16};
  shmemx_status_t status{};
  CHECK_EQUAL(shmemx_recvv(list.data(), list.size(), left(), 21, &status), 0);
  CHECK_EQUAL(status.bytes, data.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in.size(); ++i)
    wrong += in[i] != (i % 20 < 16 ? pattern(left(), 3, i / 20 * 16 + i % 20) : 0xdd);
  CHECK_EQUAL(wrong, 0U);

  std::vector<std::uint8_t> back(kPieces * 32, 0xdd);
  shmemx_request_t requests[2];
  CHECK_EQUAL(shmemx_irecv_strided(back.data(), 16, 32, kPieces, right(), 22, &requests[0]), 0);
  CHECK_EQUAL(shmemx_isend_strided(in.data(), 16, 20, kPieces, left(), 22, &requests[1]), 0);
  CHECK_EQUAL(shmemx_waitall(2, requests, nullptr), 0);
  wrong = 0;
  for (std::size_t i = 0; i < back.size(); ++i)
    wrong += back[i] != (i % 32 < 16 ? pattern(me(), 3, i / 32 * 16 + i % 32) : 0xdd);
  CHECK_EQUAL(wrong, 0U);
}

// Sends that were started make progress while the PE waits in another routine of the library.
PE_TEST_MIN(started_sends_make_progress_in_a_barrier, 2) {
  std::vector<std::uint8_t> out(3'000'000);
  std::vector<std::uint8_t> in(out.size());
  fill(out.data(), out.size(), me(), 1);
  if (me() == 0) {
    shmemx_request_t request;
    shmemx_isend(out.data(), out.size(), 1, 1, &request);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_wait(&request, nullptr), 0);
  } else {
    if (me() == 1) {
      CHECK_EQUAL(shmemx_recv(in.data(), in.size(), 0, 1, nullptr), 0);
      CHECK(holds(in.data(), in.size(), 0, 1));
    }
    shmem_barrier_all();
  }
}
