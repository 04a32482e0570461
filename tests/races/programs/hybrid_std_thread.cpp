/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* std::thread with a lambda; a std::mutex guards the symmetric sum. */
#include <shmem.h>

#include <mutex>
#include <thread>

namespace {
std::mutex guard;
long sum;
}  // namespace

int main() {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  auto add = [](long amount) {
    const std::lock_guard<std::mutex> hold(guard);
    sum += amount;
  };
  std::thread other(add, 4);
  add(5);
  other.join();
  shmem_barrier_all();
  const bool wrong = shmem_long_g(&sum, 1 - shmem_my_pe()) != 9;
  shmem_finalize();
  return wrong ? 1 : 0;
}
