#include "perf/rounds.hpp"

#include <shmemx.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "perf/amounts.hpp"

namespace shmemx::perf {
namespace {

constexpr std::size_t kSmallestBlock = 4096;

std::vector<std::size_t> sizes_of(const Settings& settings, const Test& test) {
  if (test.unit_bytes == 0 || settings.sizes.empty()) return {test.default_bytes};
  std::vector<std::size_t> sizes;
  for (const std::size_t size : settings.sizes) {
    if (size % test.unit_bytes == 0) sizes.push_back(size);
  }
  return sizes;
}

std::size_t block_bytes(const Settings& settings, int n_pes) {
  std::size_t most = kSmallestBlock;
  for (const Test* test : settings.tests) {
    for (const std::size_t size : sizes_of(settings, *test))
      most = std::max(most, size * (test->per_pe ? static_cast<std::size_t>(n_pes) : 1));
  }
  return most;
}

bool repeats(const Round& round) {
  std::set<int> seen;
  for (const Pair& pair : round) {
    if (!seen.insert(pair.from).second || !seen.insert(pair.to).second) return true;
  }
  return false;
}

// The words of the routes from this PE to all others, each once.
std::string routes_to_all() {
  std::set<std::string> words;
  for (int pe = 0; pe < shmem_n_pes(); ++pe) {
    char route[32] = "";
    if (pe != shmem_my_pe()) shmemx_route(pe, route, sizeof route);
    words.insert(std::string(route, std::strcspn(route, ":")));
  }
  if (words.size() > 1) words.erase("");
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "+") + (word.empty() ? "itself" : word);
  return text;
}

std::string route_of_window(shmemx_window_t window) {
  switch (shmemx_window_path(window)) {
    case SHMEMX_WINDOW_MAPPED:
      return "mapped: loads, stores and the processor's atomics";
    case SHMEMX_WINDOW_CMA:
      return "cma: process_vm_readv and process_vm_writev, the rest by messages";
    default:
      return "messages: the owner executes them; long ones by the network's own put and get";
  }
}

// A row as its leader writes it to PE 0; symmetric.
struct Record {
  Result result;
  char route[256];
};

class Runner {
 public:
  Runner(const Settings& settings, Output& output, Shared* shared, Record* records, Buffers& buffers)
      : settings_(settings), output_(output), shared_(shared), records_(records), buffers_(buffers) {}

  void run(const Test& test, std::size_t bytes, const Round& round) {
    *shared_ = {};
    shmem_barrier_all();
    if (test.kind == Kind::collective) {
      run_collective(test, bytes);
    } else {
      run_pairs(test, bytes, round);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) print(test, bytes, round);
  }

 private:
  void publish(const Result& result, const std::string& route, std::size_t index) {
    Record record{result, ""};
    std::strncpy(record.route, route.c_str(), sizeof record.route - 1);
    shmem_putmem(&records_[index], &record, sizeof record, 0);
  }

  void run_collective(const Test& test, std::size_t bytes) {
    Work work;
    work.bytes = bytes;
    buffers_.aim(work, shmem_my_pe());
    Measurement measurement(test, settings_, shared_, work);
    if (shmem_my_pe() == 0) {
      publish(measurement.lead(), routes_to_all(), 0);
    } else {
      measurement.follow();
    }
  }

  void run_pairs(const Test& test, std::size_t bytes, const Round& round) {
    const int me = shmem_my_pe();
    long leaders = 0;
    for (std::size_t i = 0; i < round.size(); ++i) {
      if (round[i].from == me) lead_pair(test, bytes, round[i].to, i);
      if (round[i].to != me || round[i].from == me) continue;
      ++leaders;
      if (test.kind == Kind::ping_pong) follow_pair(test, bytes, round[i].from);
    }
    if (leaders == 0 || !settings_.target_computes || test.kind == Kind::ping_pong) return;
    Work work;
    Measurement(test, settings_, shared_, work).compute(leaders);
  }

  void lead_pair(const Test& test, std::size_t bytes, int to, std::size_t index) {
    Work work;
    work.bytes = bytes;
    buffers_.aim(work, to);
    Measurement measurement(test, settings_, shared_, work);
    const Result result = measurement.lead();
    char route[256] = "";
    shmemx_route(to, route, sizeof route);
    publish(result, settings_.memory == Memory::window ? route_of_window(work.window) : route, index);
  }

  void follow_pair(const Test& test, std::size_t bytes, int from) {
    Work work;
    work.bytes = bytes;
    buffers_.aim(work, from);
    Measurement(test, settings_, shared_, work).follow();
  }

  void print(const Test& test, std::size_t bytes, const Round& round) {
    if (test.kind == Kind::collective) {
      output_.add({&test, bytes, -1, -1, records_[0].result, records_[0].route});
      return;
    }
    for (std::size_t i = 0; i < round.size(); ++i)
      output_.add({&test, bytes, round[i].from, round[i].to, records_[i].result, records_[i].route});
  }

  const Settings& settings_;
  Output& output_;
  Shared* shared_;
  Record* records_;
  Buffers& buffers_;
};

}  // namespace

std::vector<Round> rounds_of(const Settings& settings, int n_pes) {
  const std::vector<int> from = parse_pes(settings.from, n_pes);
  const std::vector<int> to = parse_pes(settings.to.empty() ? (n_pes > 1 ? "1" : "0") : settings.to, n_pes);
  std::vector<Round> rounds;
  if (settings.together) {
    if (from.size() != to.size())
      throw std::invalid_argument("--together: --from names " + std::to_string(from.size()) + " PEs, --to names " +
                                  std::to_string(to.size()));
    if (std::set<int>(from.begin(), from.end()).size() != from.size())
      throw std::invalid_argument("--together: a PE stands twice in --from");
    rounds.emplace_back();
    for (std::size_t i = 0; i < from.size(); ++i) rounds.back().push_back({from[i], to[i]});
    return rounds;
  }
  const bool is_single = from.size() == 1 && to.size() == 1;
  for (const int pe : from) {
    for (const int target : to) {
      if (pe != target || is_single) rounds.push_back({{pe, target}});
    }
  }
  if (rounds.empty()) throw std::invalid_argument("--from and --to name no pair of different PEs");
  return rounds;
}

void check_runs(const Settings& settings, const std::vector<Round>& rounds, int n_pes) {
  for (const Test* test : settings.tests) {
    if (sizes_of(settings, *test).empty())
      throw std::invalid_argument(std::string(test->name) + ": none of the sizes is a multiple of " +
                                  std::to_string(test->unit_bytes));
    if (test->kind != Kind::ping_pong) continue;
    for (const Round& round : rounds) {
      if (repeats(round))
        throw std::invalid_argument(std::string(test->name) + " needs two PEs for each pair, and no PE in two pairs");
    }
  }
  if (settings.memory == Memory::static_data && block_bytes(settings, n_pes) > Buffers::kStaticBytes)
    throw std::invalid_argument("--memory static: at most " + std::to_string(Buffers::kStaticBytes) + " bytes");
}

bool run_all(const Settings& settings, const std::vector<Round>& rounds, Output& output, std::string& why) {
  std::size_t most_pairs = 1;
  for (const Round& round : rounds) most_pairs = std::max(most_pairs, round.size());
  const std::size_t bytes = block_bytes(settings, shmem_n_pes());
  auto* const shared = static_cast<Shared*>(shmem_calloc(1, sizeof(Shared)));
  auto* const records = static_cast<Record*>(shmem_calloc(most_pairs, sizeof(Record)));
  bool is_done = false;
  {
    Buffers buffers(settings.memory, bytes);
    is_done = shared != nullptr && records != nullptr && buffers.exist();
    if (!is_done)
      why = "no memory (" + std::string(name_of(settings.memory)) + ") for two blocks of " + std::to_string(bytes) +
            " bytes on each PE";
    Runner runner(settings, output, shared, records, buffers);
    for (const Test* test : settings.tests) {
      for (const std::size_t size : sizes_of(settings, *test)) {
        if (!is_done) continue;
        if (test->kind == Kind::collective) {
          runner.run(*test, size, {});
        } else {
          for (const Round& round : rounds) runner.run(*test, size, round);
        }
      }
    }
  }
  shmem_free(records);
  shmem_free(shared);
  return is_done;
}

}  // namespace shmemx::perf
