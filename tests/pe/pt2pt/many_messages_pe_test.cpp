// Many two-sided messages at once: more than the cells hold, in any order, and unexpected ones.
#include <shmemx.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "../../support/pe_test.hpp"
#include "message_content.hpp"

using namespace pe_test;

// All PEs send to all PEs before any of them receives.
PE_TEST_MIN(all_pes_send_before_any_receive, 2) {
  constexpr int kMany = 60;
  constexpr std::size_t kBytes = 3000;
  std::vector<std::uint8_t> out(kBytes);
  fill(out.data(), kBytes, me(), 0);
  for (int i = 0; i < kMany; ++i) {
    for (int step = 1; step < pes(); ++step) CHECK_EQUAL(shmemx_send(out.data(), kBytes, (me() + step) % pes(), i), 0);
  }
  std::vector<std::uint8_t> in(kBytes);
  for (int i = kMany - 1; i >= 0; --i) {
    for (int pe = 0; pe < pes(); ++pe) {
      if (pe == me()) continue;
      CHECK_EQUAL(shmemx_recv(in.data(), kBytes, pe, i, nullptr), 0);
      CHECK(holds(in.data(), kBytes, pe, 0));
    }
  }
}

// The same with non-blocking sends of all sizes, received in any order.
PE_TEST(all_pes_start_many_messages) {
  constexpr int kMany = 12;
  const unsigned seed = 17U * static_cast<unsigned>(me());
  std::mt19937 random(seed);
  const auto size_of = [](int source, int dest, int i) {
    static constexpr std::size_t kMost[] = {1, 100, 5000, 20'000, 200'000};
    return kMost[static_cast<std::size_t>(source + 2 * dest + 3 * i) % 5] + static_cast<std::size_t>(i);
  };
  std::vector<std::vector<std::uint8_t>> memories;
  std::vector<shmemx_request_t> requests;
  struct Receive {
    std::size_t memory;
    int source, tag;
  };
  std::vector<Receive> receives;
  for (int i = 0; i < kMany; ++i) {
    for (int pe = 0; pe < pes(); ++pe) {
      memories.emplace_back(size_of(me(), pe, i));
      fill(memories.back().data(), memories.back().size(), me(), i);
      shmemx_isend(memories.back().data(), memories.back().size(), pe, i, &requests.emplace_back());
    }
  }
  std::vector<std::pair<int, int>> order;
  for (int i = 0; i < kMany; ++i) {
    for (int pe = 0; pe < pes(); ++pe) order.push_back({pe, i});
  }
  std::shuffle(order.begin(), order.end(), random);
  for (const auto& [pe, i] : order) {
    memories.emplace_back(size_of(pe, me(), i));
    receives.push_back({memories.size() - 1, pe, i});
    shmemx_irecv(memories.back().data(), memories.back().size(), pe, i, &requests.emplace_back());
  }
  CHECK_EQUAL(shmemx_waitall(requests.size(), requests.data(), nullptr), 0);
  for (const Receive& receive : receives) {
    const auto& memory = memories[receive.memory];
    CHECK(holds(memory.data(), memory.size(), receive.source, receive.tag));
  }
}

// Receives wait for some of the messages, and are posted for the others while those travel.
PE_TEST_MIN(long_messages_of_one_tag_keep_their_order, 2) {
  constexpr int kMany = 12;
  constexpr std::size_t kBytes = 300'000;
  std::vector<std::vector<std::uint8_t>> out, in;
  std::vector<shmemx_request_t> requests;
  const auto receive = [&] {
    shmemx_irecv(in.emplace_back(kBytes).data(), kBytes, left(), 7, &requests.emplace_back());
  };
  for (int i = 0; i < kMany / 2; ++i) receive();
  for (int i = 0; i < kMany; ++i) {
    fill(out.emplace_back(kBytes).data(), kBytes, me(), i);
    shmemx_isend(out.back().data(), kBytes, right(), 7, &requests.emplace_back());
  }
  CHECK_EQUAL(shmemx_wait(&requests.front(), nullptr), 0);
  while (in.size() < kMany) receive();
  CHECK_EQUAL(shmemx_waitall(requests.size() - 1, requests.data() + 1, nullptr), 0);
  for (int i = 0; i < kMany; ++i) CHECK(holds(in[static_cast<std::size_t>(i)].data(), kBytes, left(), i));
}

PE_TEST(ten_thousand_unexpected_messages) {
  constexpr int kMany = 10'000;
  for (int i = 0; i < kMany; ++i) CHECK_EQUAL(shmemx_send(&i, sizeof i, right(), i), 0);
  const double begin = now();
  int wrong = 0;
  for (int i = kMany - 1; i >= 0; --i) {
    int in = -1;
    shmemx_recv(&in, sizeof in, left(), i, nullptr);
    wrong += in != i;
  }
  CHECK_EQUAL(wrong, 0);
  CHECK(now() - begin < 20);  // a walk over the list would take minutes
}

// Null ones, sends that have left, receives that have their message and such that wait for it, in one list.
PE_TEST(a_list_of_requests_in_all_states) {
  constexpr std::size_t kMany = 24;
  std::array<int, kMany> out{}, in{};
  std::array<shmemx_request_t, kMany> requests;
  const auto kind = [](std::size_t i) { return i % 4; };  // 0: null, 1: a send, 2 and 3: receives
  for (std::size_t i = 0; i < kMany; ++i) {
    requests[i] = SHMEMX_REQUEST_NULL;
    out[i] = me() * 1000 + static_cast<int>(i);
    if (kind(i) == 1)
      CHECK_EQUAL(shmemx_isend(&out[i], sizeof out[i], right(), 100 + static_cast<int>(i), &requests[i]), 0);
    if (kind(i) == 2)
      CHECK_EQUAL(shmemx_irecv(&in[i], sizeof in[i], left(), 99 + static_cast<int>(i), &requests[i]), 0);
  }
  shmem_barrier_all();
  for (std::size_t i = 0; i < kMany; ++i) {
    if (kind(i) == 3)
      CHECK_EQUAL(shmemx_irecv(&in[i], sizeof in[i], left(), 200 + static_cast<int>(i), &requests[i]), 0);
  }
  std::array<shmemx_request_t, kMany> answers;
  for (std::size_t i = 3; i < kMany; i += 4)
    CHECK_EQUAL(shmemx_isend(&out[i], sizeof out[i], right(), 200 + static_cast<int>(i), &answers[i]), 0);
  std::array<shmemx_status_t, kMany> statuses;
  CHECK_EQUAL(shmemx_waitall(kMany, requests.data(), statuses.data()), 0);
  for (std::size_t i = 0; i < kMany; ++i) {
    const Note note("request " + std::to_string(i));
    const int sources[] = {SHMEMX_ANY_SOURCE, me(), left(), left()};
    const int tags[] = {SHMEMX_ANY_TAG, 100 + static_cast<int>(i), 99 + static_cast<int>(i), 200 + static_cast<int>(i)};
    CHECK(requests[i] == SHMEMX_REQUEST_NULL);
    CHECK_EQUAL(statuses[i].source_pe, sources[kind(i)]);
    CHECK_EQUAL(statuses[i].tag, tags[kind(i)]);
    CHECK_EQUAL(statuses[i].bytes, kind(i) == 0 ? 0U : sizeof(int));
    if (kind(i) == 2) CHECK_EQUAL(in[i], left() * 1000 + static_cast<int>(i) - 1);
    if (kind(i) == 3) CHECK_EQUAL(in[i], left() * 1000 + static_cast<int>(i));
    if (kind(i) == 3) CHECK_EQUAL(shmemx_wait(&answers[i], nullptr), 0);
  }
}

PE_TEST(messages_that_wait_are_cut_to_the_room_of_their_receive) {
  const std::array<int, 4> out{me(), 1, 2, 3};
  for (int tag = 0; tag < 3; ++tag) CHECK_EQUAL(shmemx_send(out.data(), sizeof out, right(), tag), 0);
  shmem_barrier_all();
  for (int tag = 2; tag >= 0; --tag) {
    std::array<int, 4> in{-1, -1, -1, -1};
    const int source = tag == 1 ? left() : SHMEMX_ANY_SOURCE;
    const std::size_t room = static_cast<std::size_t>(tag) * sizeof(int);
    shmemx_status_t status;
    CHECK_EQUAL(shmemx_recv(in.data(), room, source, tag, &status), SHMEMX_ERR_TRUNCATE);
    CHECK_EQUAL(status.source_pe, left());
    CHECK_EQUAL(status.bytes, room);
    CHECK_EQUAL(in[0], tag > 0 ? left() : -1);
    CHECK_EQUAL(in[1], tag > 1 ? 1 : -1);
    CHECK_EQUAL(in[2], -1);
  }
}
