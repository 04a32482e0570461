// The rows of rma.cpp that SHMEM has, too, on symmetric memory: what one-sided MPI on top of it can reach at best.
#include <shmem.h>

#include <vector>

#include "timing.hpp"

using bench_rma::best_of_batches;
using bench_rma::now;
using bench_rma::print_row;

namespace {

constexpr std::size_t kMegabyte = 1 << 20;

// 1024 blocks of 64 bytes, gathered and put as one; and the bar of sums, half of memcpy's bandwidth.
void measure_copies(char* memory, std::vector<char>& local) {
  std::vector<char> packed(65536);
  print_row("rma_put_vector_64k", best_of_batches(50, [&] {
              for (std::size_t i = 0; i < 1024; ++i) std::memcpy(&packed[64 * i], &local[128 * i], 64);
              shmem_putmem(memory, packed.data(), packed.size(), 1);
              shmem_quiet();
            }));
  if (bench_rma::between_hosts) return;
  std::vector<char> other(kMegabyte, 2);
  const auto copy = [&](std::size_t bytes) {
    std::memcpy(other.data(), local.data(), bytes);
    asm volatile("" : : "r"(other.data()) : "memory");
  };
  print_row("rma_acc_4k", 2 * best_of_batches(2000, [&] { copy(4096); }));
  print_row("rma_acc_1m", 2 * best_of_batches(20, [&] { copy(kMegabyte); }));
}

void measure_rate(long* words) {
  constexpr int kPuts = 1000;
  print_row("rma_rate_8", best_of_batches(20, [&] {
                            for (int i = 0; i < kPuts; ++i) shmem_long_put_nbi(words + i, words, 1, 1);
                            shmem_quiet();
                          }) / kPuts);
}

void measure_busy_target(long* word) {
  shmem_barrier_all();
  if (shmem_my_pe() == 1) {
    bench_rma::compute();
  } else {
    bench_rma::Percentiles times(3);
    long result = 0;
    for (const double end = now() + 0.9 * bench_rma::kBusyMicroseconds; now() < end;) {
      times.measure(0, [&] {
        shmem_putmem(word, &result, sizeof result, 1);
        shmem_quiet();
      });
      times.measure(1, [&] { shmem_getmem(&result, word, sizeof result, 1); });
      times.measure(2, [&] { result = shmem_long_atomic_fetch_add(word, 1, 1); });
    }
    const char* const names[] = {"rma_busy_put_p99", "rma_busy_get_p99", "rma_busy_fop_p99"};
    for (std::size_t kind = 0; kind < 3; ++kind) print_row(names[kind], times.p99(kind));
  }
  shmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  bench_rma::read_arguments(argc, argv);
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
    measure_copies(memory, local);
    measure_rate(word);
  }
  shmem_barrier_all();
  const double barrier = best_of_batches(500, [] { shmem_barrier_all(); });
  if (shmem_my_pe() == 0) print_row("rma_fence", barrier);
  measure_busy_target(word);
  shmem_free(memory);
  shmem_finalize();
  return 0;
}
