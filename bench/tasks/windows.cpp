// Public windows of a PE of another node, beside symmetric memory; and what registration of memory costs a PE that
// exposes some of its own and frees the window again: beside the same without the cache of registrations, as a second
// job.
//   windows [--rounds n] [--case tasks_window_put|tasks_window_get|tasks_window_registration]
#include <shmemx.h>

#include "program.hpp"

namespace {
using namespace shmemx::bench;

constexpr std::size_t kMost = std::size_t{16} << 20;
constexpr int kOwner = 1;

// The description of the owner's window, on both PEs.
class Exchange {
 public:
  Exchange() : slot_(static_cast<shmemx_window_description_t*>(shmem_malloc(sizeof *slot_))) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { shmem_free(slot_); }
  // Collective. The owner gives its window, PE 0 null; PE 0 gets the attached one.
  shmemx_window_t attach(const shmemx_window_t* own) {
    if (own != nullptr) {
      shmemx_window_describe(*own, slot_);
      shmem_putmem(slot_, slot_, sizeof *slot_, 0);
    }
    shmem_barrier_all();
    shmemx_window_t window{};
    if (own == nullptr) shmemx_window_attach(slot_, &window);
    return window;
  }

 private:
  shmemx_window_description_t* slot_;
};

bool owns() { return shmem_my_pe() == kOwner; }

// PE 0 measures `run` beside `other`, in turns.
template <class Run, class Other>
void compare(const char* name, std::size_t bytes, const Options& options, const Run& run, const Other& other) {
  const int repeats = bytes <= 4096 ? 100 : 10;
  std::vector<double> ours, others;
  const auto time = [&](std::vector<double>& times, const auto& what) {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < repeats; ++i) what();
    times.push_back(seconds_since(begin) * 1e6 / repeats);
  };
  for (int round = 0; round < 4 * options.rounds; ++round) {
    time(ours, run);
    time(others, other);
  }
  const Figure figure{name, bytes, "us", ""};
  print_figure(figure, shmem_n_pes(), ours, "");
  print_figure(figure, shmem_n_pes(), others, kComparator);
}

void measure_copies(const Options& options) {
  constexpr std::size_t kSizes[] = {8, 4096, std::size_t{64} << 10, std::size_t{1} << 20};
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  auto* const symmetric = static_cast<char*>(shmem_calloc(kBytes, 1));
  std::vector<char> memory(kBytes), own(kBytes);
  shmemx_window_t exposed;
  if (owns()) shmemx_window_expose(memory.data(), kBytes, &exposed);
  Exchange exchange;
  const shmemx_window_t window = exchange.attach(owns() ? &exposed : nullptr);
  for (const std::size_t bytes : kSizes) {
    if (owns()) break;
    char* const base = static_cast<char*>(shmemx_window_base(window));
    if (options.wants("tasks_window_put"))
      compare(
          "tasks_window_put", bytes, options, [&] { shmemx_window_put(window, base, own.data(), bytes); },
          [&] {
            shmem_putmem(symmetric, own.data(), bytes, kOwner);
            shmem_quiet();
          });
    if (options.wants("tasks_window_get"))
      compare(
          "tasks_window_get", bytes, options, [&] { shmemx_window_get(window, own.data(), base, bytes); },
          [&] { shmem_getmem(own.data(), symmetric, bytes, kOwner); });
  }
  if (!owns()) shmemx_window_detach(window);
  shmem_barrier_all();
  if (owns()) shmemx_window_free(exposed);
  shmem_free(symmetric);
}

// A window over the same memory again and again, with one put of all of it.
void measure_registration(const Options& options) {
  std::vector<char> memory(kMost, 1);
  Exchange exchange;
  for (const std::size_t bytes : {std::size_t{64} << 10, std::size_t{1} << 20, kMost}) {
    std::vector<double> times;
    for (int i = 0; i < 4 * options.rounds + 1; ++i) {
      shmemx_window_t exposed;
      shmem_barrier_all();
      const std::int64_t begin = now_ns();
      if (owns()) shmemx_window_expose(memory.data(), bytes, &exposed);
      const shmemx_window_t window = exchange.attach(owns() ? &exposed : nullptr);
      if (!owns()) {
        shmemx_window_put(window, shmemx_window_base(window), memory.data(), bytes);
        shmemx_window_detach(window);
      }
      shmem_barrier_all();
      if (owns()) shmemx_window_free(exposed);
      shmem_barrier_all();
      if (i > 0) times.push_back(seconds_since(begin) * 1e6);  // the first one registers in any case
    }
    if (!owns()) print_figure({"tasks_window_registration", bytes, "us", ""}, shmem_n_pes(), times, "");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  shmem_init();
  if (shmem_n_pes() == 2) {
    if (options.wants("tasks_window_put") || options.wants("tasks_window_get")) measure_copies(options);
    if (options.wants("tasks_window_registration")) measure_registration(options);
  }
  shmem_finalize();
  return 0;
}
