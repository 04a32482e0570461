// Measures the cost of windows, each figure beside its reference in the same run: two PEs, PE 1 only waits. Medians
// of interleaved batches. Prints one line for each case: name, ns or ratio.
#include <shmem.h>
#include <shmemx/windows.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

double now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Contender {
  std::string name;
  std::function<void()> run;
  std::vector<double> ns = {};
};

// Interleaved, so that a disturbance affects all contenders alike.
void compare(const char* name, int repeats, std::vector<Contender> contenders) {
  for (int round = 0; round < 31; ++round) {
    for (Contender& contender : contenders) {
      const double begin = now_ns();
      for (int i = 0; i < repeats; ++i) contender.run();
      if (round > 0) contender.ns.push_back((now_ns() - begin) / repeats);
    }
  }
  double base = 0;
  for (Contender& contender : contenders) {
    std::ranges::sort(contender.ns);
    const double median = contender.ns[contender.ns.size() / 2];
    if (base == 0) base = median;
    std::printf("%-18s %-28s %12.1f ns   %6.2f x\n", name, contender.name.c_str(), median, median / base);
  }
}

struct Peer {
  shmemx_window_t window;
  std::byte* base;
};

Peer attach(void* address, std::size_t bytes, shmemx_window_description_t* slot) {
  shmemx_window_t own;
  if (address == nullptr) {
    shmemx_window_allocate(bytes, &address, &own);
  } else {
    shmemx_window_expose(address, bytes, &own);
  }
  std::memset(address, 0, bytes);
  shmemx_window_describe(own, slot);
  shmem_barrier_all();
  shmemx_window_description_t theirs;
  shmem_getmem(&theirs, slot, sizeof theirs, 1 - shmem_my_pe());
  Peer peer{};
  shmemx_window_attach(&theirs, &peer.window);
  peer.base = static_cast<std::byte*>(shmemx_window_base(peer.window));
  shmem_barrier_all();
  return peer;
}

void measure_life(std::size_t windows) {
  std::vector<shmemx_window_t> own(windows);
  std::vector<shmemx_window_t> attached(windows);
  std::vector<shmemx_window_description_t> descriptions(windows);
  void* address = nullptr;
  const auto each = [&](const char* what, const std::function<void(std::size_t)>& run) {
    const double begin = now_ns();
    for (std::size_t i = 0; i < windows; ++i) run(i);
    std::printf("%-18s %-28s %12.1f ns   with up to %zu\n", "life", what,
                (now_ns() - begin) / static_cast<double>(windows), windows);
  };
  each("allocate and describe", [&](std::size_t i) {
    shmemx_window_allocate(64, &address, &own[i]);
    shmemx_window_describe(own[i], &descriptions[i]);
  });
  each("attach", [&](std::size_t i) { shmemx_window_attach(&descriptions[i], &attached[i]); });
  each("detach", [&](std::size_t i) { shmemx_window_detach(attached[i]); });
  each("free", [&](std::size_t i) { shmemx_window_free(own[i]); });
}

void measure_peer(const Peer& mapped, const Peer& other, long* symmetric) {
  constexpr std::size_t kLarge = std::size_t{1} << 20;
  std::vector<std::byte> source(kLarge, std::byte{1});
  std::vector<std::byte> dest(kLarge);
  const long one = 1;
  long old = 0;
  const auto put = [&](const Peer& peer, std::size_t bytes) {
    return [&, bytes] { shmemx_window_put(peer.window, peer.base, source.data(), bytes); };
  };
  const auto add = [&](const Peer& peer) {
    return [&] { shmemx_window_fetch_op(peer.window, peer.base, &one, &old, SHMEMX_INT64, SHMEMX_OP_SUM); };
  };
  const auto accumulate = [&](const Peer& peer, int op) {
    return [&, op] { shmemx_window_accumulate(peer.window, peer.base, source.data(), kLarge / 8, SHMEMX_INT64, op); };
  };
  const auto plain = [&] { std::memcpy(dest.data(), source.data(), kLarge); };
  compare("fetch_op 8 B", 1000,
          {{"shmem_atomic_fetch_add", [&] { old = shmem_long_atomic_fetch_add(symmetric, 1, 1); }},
           {"mapped window", add(mapped)}});
  compare("fetch_op 8 B", 200, {{"private window", add(other)}});
  compare("put 8 B", 1000,
          {{"shmem_long_p", [&] { shmem_long_p(symmetric, 1, 1); }}, {"mapped window", put(mapped, 8)}});
  compare("put 8 B", 200, {{"private window", put(other, 8)}});
  compare("put 1 MiB", 10,
          {{"memcpy", plain}, {"mapped window", put(mapped, kLarge)}, {"private window", put(other, kLarge)}});
  compare("accumulate 1 MiB", 5,
          {{"memcpy", plain},
           {"mapped, sum", accumulate(mapped, SHMEMX_OP_SUM)},
           {"mapped, max", accumulate(mapped, SHMEMX_OP_MAX)},
           {"mapped, replace", accumulate(mapped, SHMEMX_OP_REPLACE)},
           {"mapped, sum exclusive", accumulate(mapped, SHMEMX_OP_SUM | SHMEMX_OP_EXCLUSIVE)},
           {"private, sum", accumulate(other, SHMEMX_OP_SUM)}});
}

}  // namespace

int main() {
  shmem_init();
  if (shmem_n_pes() != 2) shmem_global_exit(2);
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  auto* const slot = static_cast<shmemx_window_description_t*>(shmem_malloc(sizeof(shmemx_window_description_t)));
  auto* const symmetric = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  std::vector<std::byte> memory(kBytes);
  const Peer mapped = attach(nullptr, kBytes, slot);
  const Peer other = attach(memory.data(), kBytes, slot);
  if (shmem_my_pe() == 0) {
    const char* const paths[] = {"none", "mapped", "cma", "messages"};
    std::printf("allocated window: %s; private window: %s\n", paths[shmemx_window_path(mapped.window)],
                paths[shmemx_window_path(other.window)]);
    measure_life(1000);
    measure_life(65536);
    measure_peer(mapped, other, symmetric);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
