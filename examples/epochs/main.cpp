// Fence, passive-target and post-start-complete-wait epochs as in MPI-3 RMA, on public windows, with checked results.
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "epochs.hpp"

namespace {

using epochs::Epochs;
using epochs::Lock;

void require(bool ok, const char *what) {
  if (ok) return;
  std::fprintf(stderr, "PE %d: %s\n", shmem_my_pe(), what);
  shmem_global_exit(1);
}

// In each epoch every PE puts a row to its right neighbour and gets it back from there.
void use_fences(int rounds) {
  const int me = shmem_my_pe();
  const int right = (me + 1) % shmem_n_pes();
  const int left = (me + shmem_n_pes() - 1) % shmem_n_pes();
  constexpr std::size_t kRow = 1000;
  Epochs window(kRow * sizeof(int));
  const shmemx::attached_window &target = window.at(right);
  std::vector<int> row(kRow);
  std::vector<int> back(kRow);
  window.fence();
  for (int round = 0; round < rounds; ++round) {
    std::iota(row.begin(), row.end(), me * 100'000 + round);
    shmemx_window_put_nbi(target.handle(), target.target<int>(), row.data(), kRow * sizeof(int), nullptr);
    window.fence();
    for (std::size_t i = 0; i < kRow; ++i)
      require(window.mine<int>()[i] == left * 100'000 + round + static_cast<int>(i), "fence: a wrong row has come");
    shmemx_window_get_nbi(target.handle(), back.data(), target.target<int>(), kRow * sizeof(int), nullptr);
    window.fence();
    require(back == row, "fence: what was put is not what is got");
  }
}

// A histogram on all PEs. A bin of two words is changed under an exclusive lock, so both agree whenever it is read.
void use_locks(int rounds) {
  constexpr std::size_t kBins = 16;
  const int n = shmem_n_pes();
  Epochs window(2 * kBins * sizeof(long));
  std::uint64_t random = static_cast<std::uint64_t>(shmem_my_pe()) * 7919 + 1;
  for (int round = 0; round < rounds; ++round) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const auto pe = static_cast<int>((random >> 33) % static_cast<std::uint64_t>(n));
    const std::size_t bin = random >> 60;
    const shmemx::attached_window &target = window.at(pe);
    long words[2];
    const bool writes = round % 4 != 0;
    window.lock(writes ? Lock::exclusive : Lock::shared, pe);
    target.get(std::span(words), target.target<long>(2 * bin));
    require(words[0] == words[1], "lock: the two words of a bin differ");
    if (writes) {
      target.put(target.target<long>(2 * bin), words[0] + 1);
      target.put(target.target<long>(2 * bin + 1), words[1] + 1);
    }
    window.unlock(pe);
  }
  window.fence();
  long sum = 0;
  for (int pe = 0; pe < n; ++pe) {
    std::vector<long> words(2 * kBins);
    window.at(pe).get(std::span(words), window.at(pe).target<long>());
    for (std::size_t bin = 0; bin < kBins; ++bin) sum += words[2 * bin];
  }
  require(sum == static_cast<long>(n) * (rounds - (rounds + 3) / 4), "lock: updates were lost");
}

// A line of PEs: in each step every PE opens its halo to its neighbours and accesses theirs.
void use_post_start(int rounds) {
  const int me = shmem_my_pe();
  std::vector<int> group;
  if (me > 0) group.push_back(me - 1);
  if (me + 1 < shmem_n_pes()) group.push_back(me + 1);
  Epochs window(2 * sizeof(double));  // from the left, from the right
  for (int round = 0; round < rounds; ++round) {
    window.post(group);
    window.start(group);
    for (const int pe : group) {
      const std::size_t side = pe > me ? 0 : 1;
      window.at(pe).put(window.at(pe).target<double>(side), me * 1000.0 + round);
    }
    window.complete();
    window.wait_for_access();
    for (const int pe : group)
      require(window.mine<double>()[pe < me ? 0 : 1] == pe * 1000.0 + round, "post: a wrong halo has come");
  }
}

}  // namespace

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
  shmem_init();
  use_fences(rounds);
  use_locks(rounds);
  use_post_start(rounds);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) std::printf("%d PEs: fence, lock and post epochs agree, %d rounds\n", shmem_n_pes(), rounds);
  shmem_finalize();
  return 0;
}
