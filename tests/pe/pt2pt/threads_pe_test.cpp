// Two-sided messages of several threads at once, with SHMEM_THREAD_MULTIPLE.
#include <shmemx.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../../support/pe_test.hpp"
#include "../../support/threads.hpp"

using namespace pe_test;
using test_support::run_on_threads;

namespace {

constexpr int kThreads = 4;

}  // namespace

PE_TEST(each_thread_uses_its_own_tag) {
  std::atomic<int> wrong{0};
  run_on_threads(kThreads, [&](int thread) {
    for (int turn = 0; turn < 100; ++turn) {
      const std::size_t words = turn % 10 == 0 ? 20'000 : 1 + static_cast<std::size_t>(turn) % 50;
      std::vector<int> out(words, thread * 1000 + turn);
      std::vector<int> in(words, -1);
      shmemx_sendrecv(out.data(), words * sizeof(int), right(), thread, in.data(), words * sizeof(int), left(), thread,
                      nullptr);
      wrong += in != out;
    }
  });
  CHECK_EQUAL(wrong.load(), 0);
}

PE_TEST(threads_share_a_stream_of_messages) {
  constexpr int kMany = 400;
  std::atomic<long> sum{0};
  run_on_threads(kThreads, [&](int thread) {
    for (int i = thread; i < kMany; i += kThreads) shmemx_send(&i, sizeof i, right(), 5);
    for (int i = thread; i < kMany; i += kThreads) {
      int in = -1;
      shmemx_recv(&in, sizeof in, SHMEMX_ANY_SOURCE, 5, nullptr);
      sum += in;
    }
  });
  CHECK_EQUAL(sum.load(), long{kMany} * (kMany - 1) / 2);
}

PE_TEST(a_thread_completes_a_request_that_another_has_started) {
  constexpr std::size_t kMany = 40;
  std::vector<std::vector<std::uint8_t>> out(kMany);
  std::vector<std::vector<std::uint8_t>> in(kMany);
  std::vector<shmemx_request_t> requests(2 * kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    out[i].assign(i % 4 == 0 ? 100'000 : 100, static_cast<std::uint8_t>(i));
    in[i].assign(out[i].size(), 0xff);
    shmemx_irecv(in[i].data(), in[i].size(), left(), static_cast<int>(i), &requests[2 * i]);
    shmemx_isend(out[i].data(), out[i].size(), right(), static_cast<int>(i), &requests[2 * i + 1]);
  }
  run_on_threads(kThreads, [&](int thread) {
    for (std::size_t i = static_cast<std::size_t>(thread); i < requests.size(); i += kThreads)
      shmemx_wait(&requests[i], nullptr);
  });
  CHECK(in == out);
}
