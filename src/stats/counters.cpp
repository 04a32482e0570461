#include "stats/counters.hpp"

#include <sys/mman.h>

#include "base/clock.hpp"
#include "base/lazy_mapping.hpp"

namespace shmemx::stats {
namespace {

// Memory that is zero, and taken page by page.
template <class T>
T* map_zeros(std::size_t count) noexcept {
  void* const memory = map_on_touch(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

template <class T>
void make_zero(T* memory, std::size_t count) noexcept {
  ::madvise(static_cast<void*>(memory), count * sizeof(T), MADV_DONTNEED);
}

}  // namespace

void Counter::raise_to(std::uint64_t value) noexcept {
  std::uint64_t seen = value_.load(std::memory_order_relaxed);
  while (seen < value && !value_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

bool open_counters(std::size_t n_pes, std::size_t n_contexts) noexcept {
  counters.n_pes = n_pes;
  counters.n_contexts = n_contexts;
  counters.peers = map_zeros<TransferCounter>(n_pes);
  counters.routines = map_zeros<RoutineCounters>(kRoutines);
  counters.names = map_zeros<std::atomic<const char*>>(kRoutines);
  counters.contexts = map_zeros<ContextCounters>(n_contexts);
  counters.opened_ns = now_ns();
  return counters.peers != nullptr && counters.routines != nullptr && counters.names != nullptr &&
         counters.contexts != nullptr;
}

void clear_counters() noexcept {
  if (counters.contexts == nullptr) return;
  make_zero(counters.contexts, counters.n_contexts);
  make_zero(counters.peers, counters.n_pes);
  make_zero(counters.routines, kRoutines);
  counters.blocked_ns.clear();
  counters.tasks.clear();
  counters.task_ns.clear();
  counters.opened_ns = now_ns();
}

// Where the table is full, the last entry stands for all others.
RoutineId routine_id(const char* name) noexcept {
  constexpr std::size_t kMostProbes = 64;
  const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(name) * 0x9e3779b97f4a7c15U;
  for (std::size_t probe = 0; probe < kMostProbes; ++probe) {
    const std::size_t id = ((hash >> 53) + probe) % (kRoutines - 1);
    const char* seen = counters.names[id].load(std::memory_order_relaxed);
    if (seen == name) return static_cast<RoutineId>(id);
    if (seen == nullptr && (counters.names[id].compare_exchange_strong(seen, name, std::memory_order_relaxed) ||
                            seen == name))  // the name is constant: nothing else has to be visible with it
      return static_cast<RoutineId>(id);
  }
  return kRoutines - 1;
}

void count_transfer(const Call& call) noexcept {
  counters.contexts[call.context].of[index_of(call.family)][index_of(call.path)].add(call.bytes);
  if (static_cast<std::size_t>(call.pe) < counters.n_pes) counters.peers[call.pe].add(call.bytes);
}

void retire_context(std::size_t index) noexcept {
  if (counters.contexts == nullptr) return;
  for (std::size_t family = 0; family < kTransfers; ++family) {
    for (std::size_t path = 0; path < kPaths; ++path) {
      TransferCounter& from = counters.contexts[index].of[family][path];
      const Count count = from.count();
      if (count.operations == 0) continue;
      TransferCounter& to = counters.contexts[0].of[family][path];
      to.operations.add(count.operations);
      to.bytes.add(count.bytes);
      from.operations.clear();
      from.bytes.clear();
    }
  }
}

Count total_of(Family family, Path path) noexcept {
  Count total;
  for (std::size_t i = 0; i < counters.n_contexts && counters.contexts != nullptr; ++i) {
    const Count count = counters.contexts[i].of[index_of(family)][index_of(path)].count();
    total.operations += count.operations;
    total.bytes += count.bytes;
  }
  return total;
}

}  // namespace shmemx::stats
