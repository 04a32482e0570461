// One-sided MPI between two ranks: each operation with its flush, the epochs, and a target that computes. With more
// ranks: the fence, and post, start, put, complete and wait in a ring.
//   rma [hosts]      hosts: the ranks are on two hosts
// Prints "<row> <microseconds>".
#include <mpi.h>

#include <string>
#include <vector>

#include "timing.hpp"

using bench_rma::best_of_batches;
using bench_rma::now;
using bench_rma::print_row;

namespace {

constexpr int kMegabyte = 1 << 20;

struct Bench {
  int rank = 0;
  char* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  std::vector<char> local = std::vector<char>(kMegabyte, 1);
};

void measure_words(Bench& bench) {
  long one = 1;
  long other = 0;
  long result = 0;
  const MPI_Win win = bench.win;
  const auto flushed = [&](const char* name, auto call) {
    print_row(name, best_of_batches(2000, [&] {
                call();
                MPI_Win_flush(1, win);
              }));
  };
  flushed("rma_put_8", [&] { MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); });
  flushed("rma_get_8", [&] { MPI_Get(&result, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); });
  flushed("rma_fop_8", [&] { MPI_Fetch_and_op(&one, &result, MPI_LONG, 1, 0, MPI_SUM, win); });
  flushed("rma_cas_8", [&] { MPI_Compare_and_swap(&one, &other, &result, MPI_LONG, 1, 0, win); });
  flushed("rma_acc_8", [&] { MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win); });
}

void measure_blocks(Bench& bench) {
  const MPI_Win win = bench.win;
  char* const local = bench.local.data();
  const auto flushed = [&](const char* name, int calls, auto call) {
    print_row(name, best_of_batches(calls, [&] {
                call();
                MPI_Win_flush(1, win);
              }));
  };
  flushed("rma_put_64k", 100, [&] { MPI_Put(local, 65536, MPI_CHAR, 1, 0, 65536, MPI_CHAR, win); });
  flushed("rma_get_64k", 100, [&] { MPI_Get(local, 65536, MPI_CHAR, 1, 0, 65536, MPI_CHAR, win); });
  flushed("rma_put_1m", 10, [&] { MPI_Put(local, kMegabyte, MPI_CHAR, 1, 0, kMegabyte, MPI_CHAR, win); });
  flushed("rma_get_1m", 10, [&] { MPI_Get(local, kMegabyte, MPI_CHAR, 1, 0, kMegabyte, MPI_CHAR, win); });
  MPI_Datatype blocks = MPI_DATATYPE_NULL;
  MPI_Type_vector(1024, 64, 128, MPI_CHAR, &blocks);
  MPI_Type_commit(&blocks);
  flushed("rma_put_vector_64k", 50, [&] { MPI_Put(local, 1, blocks, 1, 0, 1, blocks, win); });
  MPI_Type_free(&blocks);
  const auto accumulate = [&](int count) {
    MPI_Accumulate(local, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, win);
  };
  flushed("rma_acc_4k", 200, [&] { accumulate(512); });
  flushed("rma_acc_1m", 10, [&] { accumulate(kMegabyte / 8); });
  long one = 1;
  constexpr int kPuts = 1000;
  print_row("rma_rate_8", best_of_batches(20, [&] {
                            for (int i = 0; i < kPuts; ++i) MPI_Put(&one, 1, MPI_LONG, 1, i, 1, MPI_LONG, win);
                            MPI_Win_flush(1, win);
                          }) / kPuts);
}

// The target computes: what each operation takes meanwhile.
void measure_busy_target(Bench& bench) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (bench.rank == 1) {
    bench_rma::compute();
  } else {
    const MPI_Win win = bench.win;
    long one = 1;
    long result = 0;
    bench_rma::Percentiles times(4);
    const auto locked = [&](std::size_t kind, auto call) {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      times.measure(kind, [&] {
        call();
        MPI_Win_flush(1, win);
      });
      MPI_Win_unlock(1, win);
    };
    for (const double end = now() + 0.9 * bench_rma::kBusyMicroseconds; now() < end;) {
      locked(0, [&] { MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); });
      locked(1, [&] { MPI_Get(&result, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); });
      locked(2, [&] { MPI_Fetch_and_op(&one, &result, MPI_LONG, 1, 0, MPI_SUM, win); });
      times.measure(3, [&] {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(1, win);
      });
    }
    const char* const names[] = {"rma_busy_put_p99", "rma_busy_get_p99", "rma_busy_fop_p99", "rma_busy_lock_p99"};
    for (std::size_t kind = 0; kind < 4; ++kind) print_row(names[kind], times.p99(kind));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// 64 KiB that a dynamic window gets and loses again. Returns 0 where the MPI has no such windows.
double attach_and_detach() {
  MPI_Win win = MPI_WIN_NULL;
  std::vector<char> memory(65536);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int made = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  if (made != MPI_SUCCESS) return 0;
  const double time = best_of_batches(200, [&] {
    MPI_Win_attach(win, memory.data(), static_cast<MPI_Aint>(memory.size()));
    MPI_Win_detach(win, memory.data());
  });
  MPI_Win_free(&win);
  return time;
}

void measure_ring(const Bench& bench, int ranks) {
  const MPI_Win win = bench.win;
  const int from = (bench.rank + ranks - 1) % ranks;
  const int to = (bench.rank + 1) % ranks;
  const long one = 1;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group sources = MPI_GROUP_NULL;
  MPI_Group targets = MPI_GROUP_NULL;
  MPI_Win_get_group(win, &world);
  MPI_Group_incl(world, 1, &from, &sources);
  MPI_Group_incl(world, 1, &to, &targets);
  const double fence = best_of_batches(20, [&] { MPI_Win_fence(0, win); });
  const double ring = best_of_batches(20, [&] {
    MPI_Win_post(sources, 0, win);
    MPI_Win_start(targets, 0, win);
    MPI_Put(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  });
  MPI_Group_free(&targets);
  MPI_Group_free(&sources);
  MPI_Group_free(&world);
  if (bench.rank != 0) return;
  print_row(("rma_fence_" + std::to_string(ranks)).c_str(), fence);
  print_row(("rma_pscw_" + std::to_string(ranks)).c_str(), ring);
}

void measure_locks(Bench& bench) {
  const MPI_Win win = bench.win;
  const long one = 1;
  print_row("rma_lock_put_unlock", best_of_batches(2000, [&] {
              MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
              MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
              MPI_Win_unlock(1, win);
            }));
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  const double exclusive = best_of_batches(200, [&] {
    MPI_Accumulate(bench.local.data(), 512, MPI_DOUBLE, 1, 0, 512, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(1, win);
  });
  MPI_Win_unlock(1, win);
  print_row("rma_acc_4k_exclusive", exclusive);
}

void measure_epochs(Bench& bench) {
  const MPI_Win win = bench.win;
  const long one = 1;
  if (bench.rank == 0) measure_locks(bench);
  MPI_Barrier(MPI_COMM_WORLD);
  const double fence = best_of_batches(500, [&] { MPI_Win_fence(0, win); });
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group other = MPI_GROUP_NULL;
  const int peer = 1 - bench.rank;
  MPI_Win_get_group(win, &world);
  MPI_Group_incl(world, 1, &peer, &other);
  const double ring = best_of_batches(500, [&] {
    MPI_Win_post(other, 0, win);
    MPI_Win_start(other, 0, win);
    MPI_Put(&one, 1, MPI_LONG, peer, 0, 1, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  });
  const double attached = attach_and_detach();
  const double windows = best_of_batches(3, [&] {
    char* memory = nullptr;
    MPI_Win made = MPI_WIN_NULL;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &made);
    MPI_Win_free(&made);
  });
  if (bench.rank == 0) {
    print_row("rma_fence", fence);
    print_row("rma_pscw", ring);
    print_row("rma_win", windows);
    if (attached != 0) print_row("rma_attach", attached);
  }
  MPI_Group_free(&other);
  MPI_Group_free(&world);
}

void measure_pair(Bench& bench) {
  if (bench.rank == 0) {
    MPI_Win_lock_all(0, bench.win);
    measure_words(bench);
    measure_blocks(bench);
    MPI_Win_unlock_all(bench.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  measure_epochs(bench);
  measure_busy_target(bench);
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  bench_rma::read_arguments(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Win_allocate(2 * kMegabyte, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bench.memory, &bench.win);
  std::fill(bench.memory, bench.memory + 2 * kMegabyte, '\0');
  MPI_Barrier(MPI_COMM_WORLD);
  if (ranks > 2) {
    measure_ring(bench, ranks);
  } else {
    measure_pair(bench);
  }
  MPI_Win_free(&bench.win);
  MPI_Finalize();
  return 0;
}
