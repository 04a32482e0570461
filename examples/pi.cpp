// Pi by integration, with the C++ overloads: the types of the arguments select the routine. A counter on PE 0 hands
// out slices of the interval, so a fast PE computes more of them.
//
// Usage: pi [slices = 1000]
#include <shmem.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

// Symmetric, like every object with static storage duration.
long next_slice = 0;
long done_here = 0;
long done_in_all = 0;
double partial = 0.0;
double pi = 0.0;

constexpr double kPi = 3.14159265358979323846;
constexpr long kPointsPerSlice = 2000;

double integrate_slice(long slice, long slice_count) {
  const double width = 1.0 / (static_cast<double>(slice_count) * kPointsPerSlice);
  double sum = 0.0;
  for (long i = 0; i < kPointsPerSlice; ++i) {
    const double x = (static_cast<double>(slice * kPointsPerSlice + i) + 0.5) * width;
    sum += 4.0 / (1.0 + x * x);
  }
  return sum * width;
}

bool compute(long slice_count) {
  for (;;) {
    const long slice = shmem_atomic_fetch_inc(&next_slice, 0);
    if (slice >= slice_count) break;
    partial += integrate_slice(slice, slice_count);
    ++done_here;
  }
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &pi, &partial, 1);
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &done_in_all, &done_here, 1);
  return done_in_all == slice_count && std::abs(pi - kPi) < 1e-9;
}

// Returns true if the neighbour's `pi` holds the same total.
bool neighbour_agrees() {
  const int neighbour = (shmem_my_pe() + 1) % shmem_n_pes();
  double copy = 0.0;
  shmem_get(&copy, &pi, 1, neighbour);
  return copy == pi && shmem_g(&done_in_all, neighbour) == done_in_all;
}

}  // namespace

int main(int argc, char **argv) {
  const long slice_count = argc > 1 ? std::atol(argv[1]) : 1000;
  if (slice_count < 100) {
    std::fprintf(stderr, "usage: %s [slices, 100..]\n", argv[0]);
    return 2;
  }
  shmem_init();
  bool ok = compute(slice_count);
  shmem_barrier_all();
  ok = neighbour_agrees() && ok;
  if (shmem_my_pe() == 0)
    std::printf("pi: %d PEs, %.12f (error %.1e), %ld of %ld slices here: %s\n", shmem_n_pes(), pi, std::abs(pi - kPi),
                done_here, slice_count, ok ? "verified" : "WRONG");
  shmem_finalize();
  return ok ? 0 : 1;
}
