// The rows of rma.cpp that SHMEM has, too, on symmetric memory: what one-sided MPI on top of it can reach at best.
#include <shmem.h>

#include <vector>

#include "timing.hpp"

using bench_rma::best_of_batches;
using bench_rma::print_row;

int main() {
  constexpr std::size_t kMegabyte = 1 << 20;
  shmem_init();
  char* const memory = static_cast<char*>(shmem_calloc(kMegabyte, 1));
  long* const word = reinterpret_cast<long*>(memory);
  std::vector<char> local(kMegabyte, 1);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    const auto completed = [&](const char* name, int calls, auto call) {
      print_row(name, best_of_batches(calls, [&] {
                  call();
                  shmem_quiet();
                }));
    };
    long result = 0;
    completed("rma_put_8", 2000, [&] { shmem_putmem(word, &result, sizeof result, 1); });
    completed("rma_get_8", 2000, [&] { shmem_getmem(&result, word, sizeof result, 1); });
    completed("rma_fop_8", 2000, [&] { result = shmem_long_atomic_fetch_add(word, 1, 1); });
    completed("rma_cas_8", 2000, [&] { result = shmem_long_atomic_compare_swap(word, 0, 1, 1); });
    completed("rma_acc_8", 2000, [&] { shmem_long_atomic_add(word, 1, 1); });
    completed("rma_put_64k", 100, [&] { shmem_putmem(memory, local.data(), 65536, 1); });
    completed("rma_get_64k", 100, [&] { shmem_getmem(local.data(), memory, 65536, 1); });
    completed("rma_put_1m", 10, [&] { shmem_putmem(memory, local.data(), kMegabyte, 1); });
    completed("rma_get_1m", 10, [&] { shmem_getmem(local.data(), memory, kMegabyte, 1); });
  }
  shmem_barrier_all();
  const double barrier = best_of_batches(500, [] { shmem_barrier_all(); });
  if (shmem_my_pe() == 0) print_row("rma_fence", barrier);
  shmem_free(memory);
  shmem_finalize();
  return 0;
}
