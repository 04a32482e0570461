/* races: none; class: hybrid; pes: 1; flags: -std=c++20 -pthread */
/* Results of std::async, std::promise and a latch. */
#include <shmem.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

static long word;

int main() {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  auto first = std::async(std::launch::async, [] { return ++word; });
  bool wrong = first.get() != 1 || word != 1;
  std::promise<long> promise;
  std::future<long> future = promise.get_future();
  std::thread second([&] {
    word = 2;
    promise.set_value(3);
  });
  wrong = wrong || future.get() != 3 || word != 2;
  second.join();
  std::latch done(1);
  std::thread third([&] {
    word = 4;
    done.count_down();
  });
  done.wait();
  wrong = wrong || word != 4;
  third.join();
  shmem_finalize();
  return wrong ? 1 : 0;
}
