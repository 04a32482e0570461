// Heat spreads along a rod: each PE holds a part, and writes its outermost cells into the halos of its neighbours.
#include <shmemx/shmemx.hpp>

#include <cmath>
#include <cstdio>
#include <utility>

namespace {

constexpr std::size_t kCells = 100;  // of each PE, between two halo cells
constexpr int kSteps = 500;

// Writes the outermost cells to the neighbours, each with a signal, and waits for theirs.
void exchange(const shmemx::symmetric_array<double> &rod, const shmemx::symmetric_array<std::uint64_t> &from,
              int step) {
  const int me = shmemx::my_pe();
  const int last = shmemx::n_pes() - 1;
  const auto count = static_cast<std::uint64_t>(step);
  using shmemx::signal_op::set;
  if (me > 0) shmemx::put_signal(rod + kCells + 1, rod.subspan(1, 1), from + 1, count, set, me - 1);
  if (me < last) shmemx::put_signal(rod, rod.subspan(kCells, 1), from, count, set, me + 1);
  if (me > 0) shmemx::signal_wait_until(from, shmemx::cmp::ge, count);
  if (me < last) shmemx::signal_wait_until(from + 1, shmemx::cmp::ge, count);
}

}  // namespace

int main() {
  const shmemx::library library;
  shmemx::symmetric_array<double> rod(kCells + 2);  // zeroed on all PEs
  shmemx::symmetric_array<double> next(kCells + 2);
  const shmemx::symmetric_array<std::uint64_t> from(2);  // signals of the left and the right neighbour
  if (shmemx::my_pe() == 0) rod[1] = 1000;

  for (int step = 1; step <= kSteps; ++step) {
    exchange(rod, from, step);
    for (std::size_t i = 1; i <= kCells; ++i) next[i] = rod[i] + 0.25 * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
    if (shmemx::my_pe() == 0) next[1] += 0.25 * rod[1];  // the ends keep their heat
    if (shmemx::my_pe() == shmemx::n_pes() - 1) next[kCells] += 0.25 * rod[kCells];
    shmemx::barrier_all();  // all have read their halos
    std::swap(rod, next);
  }

  const shmemx::symmetric_array<double> heat(1);
  for (std::size_t i = 1; i <= kCells; ++i) heat[0] += rod[i];
  shmemx::reduce(shmemx::team::world(), heat, heat, shmemx::ops::sum);
  if (shmemx::my_pe() == 0) std::printf("heat after %d steps: %.3f\n", kSteps, heat[0]);
  return std::abs(heat[0] - 1000) < 1e-6 ? 0 : 1;
}
