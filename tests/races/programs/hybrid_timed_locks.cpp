/* races: none; class: hybrid; pes: 1; flags: -std=c++17 -pthread */
/* Locks of C++ that wait for a while only. */
#include <shmem.h>

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

static long word;
static long other;

int main() {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  std::timed_mutex timed;
  std::shared_timed_mutex shared;
  const auto work = [&] {
    for (int i = 0; i < 20; ++i) {
      while (!timed.try_lock_for(std::chrono::seconds(50))) {
      }
      ++word;
      timed.unlock();
      while (!shared.try_lock_for(std::chrono::seconds(50))) {
      }
      ++other;
      shared.unlock();
    }
  };
  std::thread thread(work);
  work();
  while (!shared.try_lock_shared_for(std::chrono::seconds(50))) {
  }
  const long seen = other;
  shared.unlock_shared();
  thread.join();
  shmem_finalize();
  return word != 40 || other != 40 || seen < 20;
}
