/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* A std::thread stores to the array that the main thread puts. */
#include <shmem.h>

#include <array>
#include <thread>

namespace {
std::array<long, 4> source;
std::array<long, 4> dest;
}  // namespace

int main() {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  std::thread other([] {
    source.data()[1] = 3;  // race 1
  });
  shmem_long_put(dest.data(), source.data(), 4, 1 - shmem_my_pe());  // race 2
  other.join();
  shmem_finalize();
  return 0;
}
