// Counters of this PE: transfers by context, family and path, and by the other PE; calls that wait, by routine. All
// threads write them, relaxed: nothing but their sums is read. Their memory stays, as threads may run until the process
// ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "stats/kinds.hpp"

namespace shmemx::stats {

struct Count {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;
};
// A sum that any thread adds to.
class Counter {
 public:
  void add(std::uint64_t value) noexcept { value_.fetch_add(value, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }
  void clear() noexcept { value_.store(0, std::memory_order_relaxed); }
  // Only while a few threads write: the largest value.
  void raise_to(std::uint64_t value) noexcept;

 private:
  std::atomic<std::uint64_t> value_{0};
};
struct TransferCounter {
  Counter operations;
  Counter bytes;
  void add(std::uint64_t n_bytes) noexcept {
    operations.add(1);
    bytes.add(n_bytes);
  }
  Count count() const noexcept { return {operations.value(), bytes.value()}; }
};

struct ContextCounters {
  TransferCounter of[kTransfers][kPaths];
};

// Of a routine that waits. `waits` are those of its calls that did not find at once what they waited for.
struct RoutineCounters {
  Counter calls;
  Counter call_ns;
  Counter waits;
  Counter wait_ns;
  Counter longest_ns;  // of one call, or of one wait where calls are not counted
};

// Routines by the address of their name. Names that are equal may lie at several addresses.
inline constexpr std::size_t kRoutines = 2048;
using RoutineId = std::uint16_t;

struct Counters {
  ContextCounters* contexts = nullptr;  // by index in the context table; entry 0: calls without a context
  std::size_t n_contexts = 0;
  TransferCounter* peers = nullptr;  // by PE of the world
  std::size_t n_pes = 0;
  RoutineCounters* routines = nullptr;        // by id
  std::atomic<const char*>* names = nullptr;  // by id
  Counter blocked_ns;                         // in calls that wait, of all threads; a call within another is not added
  Counter tasks;                              // run on this PE
  Counter task_ns;                            // in their handlers
  std::uint64_t opened_ns = 0;
};
inline constinit Counters counters;

// Returns false if there is no memory for them.
bool open_counters(std::size_t n_pes, std::size_t n_contexts) noexcept;
void clear_counters() noexcept;

RoutineId routine_id(const char* name) noexcept;
void count_transfer(const Call& call) noexcept;

// A context ends: what it has counted moves to entry 0.
void retire_context(std::size_t index) noexcept;

// Sums over all contexts.
Count total_of(Family family, Path path) noexcept;

}  // namespace shmemx::stats
