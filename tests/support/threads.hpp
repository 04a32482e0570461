// Threads of a test, which act as PEs of one process or as the threads of one PE.
#pragma once

#include <thread>
#include <vector>

namespace test_support {

// Calls run(i) for i = 0 .. count - 1, each on a thread of its own, and waits until all have returned.
template <class Index, class Run>
void run_on_threads(Index count, const Run& run) {
  std::vector<std::thread> threads;
  for (Index i{}; i < count; ++i) threads.emplace_back([&run, i] { run(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace test_support
