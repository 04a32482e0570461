// Aggregation of small tasks: increments of a distributed histogram by 8-byte tasks, beside atomics, and a gather of
// distributed elements by calls, beside gets. The table is four times the last cache,
// unless its size is given.
//   aggregation [--rounds n] [--table-kib n] [--case tasks_histogram|tasks_gather_index]
#include <shmemx.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "program.hpp"

namespace {
using namespace shmemx::bench;

enum : int { kIncrement = 1, kLoad = 2 };
constexpr std::size_t kWindow = 512;       // calls under way
constexpr std::size_t kSendsPerPoll = 64;  // a PE runs the tasks of others now and then
constexpr std::size_t kPollAtMost = 1024;

struct Table {
  long* words;
  std::size_t count;  // of each PE
};

struct Target {
  int pe;
  long index;
};

void increment(int, const void* payload, std::size_t, void* table) {
  ++static_cast<Table*>(table)->words[*static_cast<const long*>(payload)];
}
void load(int, const void* payload, std::size_t, void* table) {
  const long value = static_cast<Table*>(table)->words[*static_cast<const long*>(payload)];
  shmemx_task_reply(&value, sizeof value);
}

std::size_t words_of_each_pe(const Options& options) {
  constexpr long kLeast = 4L << 20, kMost = 64L << 20;
  const long cache = std::clamp(sysconf(_SC_LEVEL3_CACHE_SIZE), kLeast, kMost);
  const std::size_t bytes = options.table_kib != 0 ? options.table_kib << 10 : static_cast<std::size_t>(4 * cache);
  return bytes / sizeof(long) / static_cast<std::size_t>(shmem_n_pes());
}

std::vector<Target> random_targets(std::size_t count, std::size_t words) {
  std::minstd_rand random(static_cast<unsigned>(shmem_my_pe() + 1));
  std::vector<Target> targets(count);
  for (Target& target : targets) {
    target.pe = static_cast<int>(random() % static_cast<unsigned>(shmem_n_pes()));
    target.index = static_cast<long>(random() % words);
  }
  return targets;
}

void add_by_tasks(const std::vector<Target>& targets) {
  std::size_t sent = 0;
  for (const Target& target : targets) {
    shmemx_task_send(target.pe, kIncrement, &target.index, sizeof target.index, 0);
    if (++sent % kSendsPerPoll == 0) shmemx_scheduler_poll(kPollAtMost);
  }
  shmemx_scheduler_quiesce();
}

void add_by_atomics(const std::vector<Target>& targets, const Table& table) {
  for (const Target& target : targets) shmem_long_atomic_add(table.words + target.index, 1, target.pe);
  shmem_barrier_all();
}

void run_tasks_until_complete(shmemx_request_t& request) {
  int is_complete = 0;
  for (shmemx_test(&request, &is_complete, nullptr); is_complete == 0; shmemx_test(&request, &is_complete, nullptr))
    shmemx_scheduler_poll(kPollAtMost);
}

void load_by_calls(const std::vector<Target>& targets, std::vector<long>& values) {
  std::vector<shmemx_request_t> requests(kWindow);
  for (std::size_t first = 0; first < targets.size(); first += kWindow) {
    const std::size_t count = std::min(kWindow, targets.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const Target& target = targets[first + i];
      shmemx_task_call(target.pe, kLoad, &target.index, sizeof target.index, &values[first + i], sizeof(long),
                       &requests[i]);
    }
    shmemx_task_flush();
    for (std::size_t i = 0; i < count; ++i) run_tasks_until_complete(requests[i]);
  }
  shmemx_scheduler_quiesce();
}

void load_by_gets(const std::vector<Target>& targets, const Table& table, std::vector<long>& values) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    shmem_long_get_nbi(&values[i], table.words + targets[i].index, 1, targets[i].pe);
  shmem_quiet();
  shmem_barrier_all();
}

// Millions a second of all PEs, `ours` and `other` in turns.
template <class Ours, class Other>
void compare(const Options& options, const Figure& figure, std::size_t count, const Ours& ours, const Other& other) {
  std::vector<double> rates[2];
  const auto measure = [&](const auto& what, std::vector<double>& into) {
    shmem_barrier_all();
    const std::int64_t begin = now_ns();
    what();
    into.push_back(static_cast<double>(count) * shmem_n_pes() / seconds_since(begin) / 1e6);
  };
  for (int round = -1; round < options.rounds; ++round) {
    if (round == 0) rates[0].clear(), rates[1].clear();  // the first round touches the memory
    measure(ours, rates[0]);
    measure(other, rates[1]);
  }
  if (shmem_my_pe() != 0) return;
  print_figure(figure, shmem_n_pes(), rates[0], "");
  print_figure(figure, shmem_n_pes(), rates[1], kComparator);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  shmem_init();
  Table table{nullptr, words_of_each_pe(options)};
  table.words = static_cast<long*>(shmem_calloc(table.count, sizeof(long)));
  shmemx_task_register(kIncrement, increment, &table);
  shmemx_task_register(kLoad, load, &table);
  shmem_barrier_all();
  const bool is_short = options.rounds <= 1;
  const std::vector<Target> adds = random_targets(is_short ? 2000 : 400'000, table.count);
  const std::vector<Target> loads = random_targets(is_short ? 2000 : 100'000, table.count);
  std::vector<long> values(loads.size());
  if (options.wants("tasks_histogram"))
    compare(
        options, {"tasks_histogram", 8, "M/s", "", true}, adds.size(), [&] { add_by_tasks(adds); },
        [&] { add_by_atomics(adds, table); });
  if (options.wants("tasks_gather_index"))
    compare(
        options, {"tasks_gather_index", 8, "M/s", "", true}, loads.size(), [&] { load_by_calls(loads, values); },
        [&] { load_by_gets(loads, table, values); });
  shmem_free(table.words);
  shmem_finalize();
  return 0;
}
