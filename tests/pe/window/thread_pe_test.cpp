// Several threads of each PE at once: shared windows, windows of one thread, and windows that are created and
// destroyed.
#include <algorithm>
#include <chrono>
#include <thread>

#include "../../support/threads.hpp"
#include "window_support.hpp"

namespace {

using namespace window_test;
using test_support::run_on_threads;

constexpr int kThreads = 4;

}  // namespace

PE_TEST(threads_share_attached_windows) {
  constexpr int kRounds = 200;
  std::vector<std::uint64_t> memory(64 + static_cast<std::size_t>(pes()) * kThreads * 1000);
  const Windows windows(memory.data(), memory.size() * sizeof memory[0]);
  run_on_threads(kThreads, [&](int thread) {
    std::vector<std::uint64_t> data(1000, static_cast<std::uint64_t>(thread + 1));
    std::vector<std::uint64_t> back(1000);
    const std::size_t place = 64 + static_cast<std::size_t>(me() * kThreads + thread) * 1000;
    long counter = 0;
    for (int i = 0; i < kRounds; ++i) {
      const int pe = (me() + i) % pes();
      const std::uint64_t one = 1;
      std::uint64_t old = 0;
      CHECK_EQUAL(shmemx_window_fetch_op(windows.at(pe), windows.address<std::uint64_t>(pe), &one, &old, SHMEMX_UINT64,
                                         SHMEMX_OP_SUM),
                  SHMEMX_SUCCESS);
      shmemx_window_accumulate_nbi(windows.at(pe), windows.address<std::uint64_t>(pe, 1), &one, 1, SHMEMX_UINT64,
                                   SHMEMX_OP_SUM, &counter);
      if (i % 20 != 0) continue;
      shmemx_window_put_nbi(windows.at(pe), windows.address<std::uint64_t>(pe, place), data.data(), 8000, &counter);
      shmemx_window_wait(&counter);
      CHECK_EQUAL(shmemx_window_get(windows.at(pe), back.data(), windows.address<std::uint64_t>(pe, place), 8000),
                  SHMEMX_SUCCESS);
      CHECK(back == data);
    }
    shmemx_window_wait(&counter);
  });
  shmem_barrier_all();
  std::uint64_t sums[2] = {0, 0};
  for (int pe = 0; pe < pes(); ++pe) {
    std::uint64_t words[2];
    CHECK_EQUAL(shmemx_window_get(windows.at(pe), words, windows.address(pe), sizeof words), SHMEMX_SUCCESS);
    sums[0] += words[0];
    sums[1] += words[1];
  }
  CHECK_EQUAL(sums[0], static_cast<std::uint64_t>(kThreads) * kRounds * static_cast<std::uint64_t>(pes()));
  CHECK_EQUAL(sums[1], sums[0]);
}

PE_TEST(threads_create_and_destroy_windows) {
  const Windows windows(64);
  shmemx_window_description_t mine{};
  shmemx_window_describe(windows.own, &mine);
  const auto all = exchange(mine);
  run_on_threads(kThreads, [&](int thread) {
    for (int i = 0; i < 200; ++i) {
      void* address = nullptr;
      shmemx_window_t own = SHMEMX_WINDOW_INVALID;
      shmemx_window_t other = SHMEMX_WINDOW_INVALID;
      const auto bytes = static_cast<std::size_t>(i % 7 * 1000 + thread);
      CHECK_EQUAL(shmemx_window_allocate(bytes, &address, &own), SHMEMX_SUCCESS);
      CHECK_EQUAL(shmemx_window_attach(&all[static_cast<std::size_t>((me() + i) % pes())], &other), SHMEMX_SUCCESS);
      const std::uint32_t one = 1;
      CHECK_EQUAL(shmemx_window_accumulate(other, shmemx_window_base(other), &one, 1, SHMEMX_UINT32, SHMEMX_OP_SUM),
                  SHMEMX_SUCCESS);
      CHECK_EQUAL(shmemx_window_detach(other), SHMEMX_SUCCESS);
      CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
    }
  });
  shmem_barrier_all();
  CHECK_EQUAL(*windows.mine<std::uint32_t>(), 200U * kThreads);
}

// The owner frees while other PEs transfer: these get the data or an error.
PE_TEST(owners_free_while_others_transfer) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::byte> memory(50'000, std::byte{7});
    shmemx_window_t own = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_expose(memory.data(), memory.size(), &own), SHMEMX_SUCCESS);
    shmemx_window_description_t mine{};
    shmemx_window_describe(own, &mine);
    const auto all = exchange(mine);
    shmemx_window_t window = SHMEMX_WINDOW_INVALID;
    const int code = shmemx_window_attach(&all[static_cast<std::size_t>(right())], &window);
    CHECK(code == SHMEMX_SUCCESS || code == SHMEMX_ERR_STALE);
    std::vector<std::byte> data(memory.size());
    for (int i = 0; code == SHMEMX_SUCCESS && i < 20 && pes() > 1; ++i) {
      const int got = shmemx_window_get(window, data.data(), shmemx_window_base(window), data.size());
      CHECK(got == SHMEMX_SUCCESS || got == SHMEMX_ERR_STALE);
      if (got == SHMEMX_SUCCESS) CHECK(data == std::vector<std::byte>(memory.size(), std::byte{7}));
      if (i == round) {
        CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
        own = SHMEMX_WINDOW_INVALID;
      }
    }
    if (own != SHMEMX_WINDOW_INVALID) CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
    // The window has been freed: no PE may read what is written now.
    std::fill(memory.begin(), memory.end(), std::byte{9});
    if (code == SHMEMX_SUCCESS) CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
    shmem_barrier_all();
  }
}

// After the owner has freed the window, no put of another PE that was under way, long or short, may write to it.
PE_TEST_MIN(nothing_is_put_after_the_owner_has_freed, 2) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::byte> memory(round % 2 == 0 ? 50'000 : 2'000'000);
    shmemx_window_t own = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_expose(memory.data(), memory.size(), &own), SHMEMX_SUCCESS);
    shmemx_window_description_t mine{};
    shmemx_window_describe(own, &mine);
    const auto all = exchange(mine);
    shmemx_window_t window = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_attach(&all[static_cast<std::size_t>(right())], &window), SHMEMX_SUCCESS);
    shmem_barrier_all();
    std::thread others([&] {
      const std::vector<std::byte> data(memory.size(), std::byte{7});
      long counter = 0;
      for (int i = 0; i < 20; ++i) {
        const int put =
            i % 2 == 0 ? shmemx_window_put(window, shmemx_window_base(window), data.data(), data.size())
                       : shmemx_window_put_nbi(window, shmemx_window_base(window), data.data(), data.size(), &counter);
        CHECK(put == SHMEMX_SUCCESS || put == SHMEMX_ERR_STALE);
      }
      shmemx_window_wait(&counter);
    });
    std::this_thread::sleep_for(std::chrono::microseconds(round * 150));
    CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
    std::fill(memory.begin(), memory.end(), std::byte{9});
    others.join();
    shmem_barrier_all();
    CHECK(std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{9}; }));
    const int late = shmemx_window_detach(window);
    CHECK(late == SHMEMX_SUCCESS || late == SHMEMX_ERR_STALE);
    shmem_barrier_all();
  }
}
