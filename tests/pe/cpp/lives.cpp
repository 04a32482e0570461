// An array outlives the library that allocated it, and the library starts again. Exit status 0 is success.
#include <shmemx.h>

#include <shmemx/shmemx.hpp>

namespace {

shmemx::symmetric_array<long> outlives;

bool has_blocks(std::size_t count) {
  shmemx_heap_info_t info;
  shmemx_heap_query(&info);
  return info.live_blocks == count;
}

bool use_arrays() {
  const int right = (shmemx::my_pe() + 1) % shmemx::n_pes();
  outlives = shmemx::symmetric_array<long>(1);  // drops the array of the life before
  const shmemx::symmetric_array<long> second(1);
  shmemx::atomic_add(outlives.ptr(), 3L, right);
  shmemx::barrier_all();
  const std::size_t freed = shmemx::free_dropped();
  return freed == 0 && outlives[0] == 3 && has_blocks(3);  // the third one is for votes
}

}  // namespace

int main() {
  bool is_right = true;
  for (int life = 0; life < 3; ++life) {
    const shmemx::library library;
    is_right = use_arrays() && is_right;
    shmemx::free_dropped();
    is_right = has_blocks(2) && is_right;
  }
  return is_right ? 0 : 1;
}
