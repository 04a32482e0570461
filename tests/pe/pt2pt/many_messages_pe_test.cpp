// Many two-sided messages at once: more than the cells hold, in any order, and unexpected ones.
#include <shmemx.h>

#include <algorithm>
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
