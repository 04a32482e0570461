// Measures collectives of two PEs: the time for one word and the rate for 1 MiB a PE. The raw program moves the same
// bytes with the fewest flags that keep two PEs in step.
#include <array>

#include "support/program.hpp"
#if defined(BENCH_RAW)
#include "support/raw_copy.hpp"
#include "support/raw_gate.hpp"
#else
#include "support/shmem_coll.hpp"
#endif

namespace {
using namespace shmemx::bench;

constexpr std::size_t kMiB = std::size_t{1} << 20;
[[maybe_unused]] constexpr long kAckEvery = Shared::kSlots / 2;

#if defined(BENCH_RAW)
long* longs(std::byte* buffer) { return reinterpret_cast<long*>(buffer); }

// Sends one line to the peer and receives one, each with number and value. A mailbox is reused after eight rounds,
// and no PE can be two rounds ahead.
void reduce_word(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    const long slot = ++work.sequence % Shared::kSlots;
    Mailbox& there = work.peer_shared->mailbox[slot];
    Mailbox& here = work.shared->mailbox[slot];
    there.value = work.shared->value.value;
    there.sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
    raw_await(work, here.sequence, work.sequence);
    work.shared->result.value = work.shared->value.value + here.value;
  }
}

// The root runs ahead by at most the number of mailboxes; every fourth round is acknowledged.
void broadcast_word(Work& work, long iterations) {
  raw_meet(work);
  for (long i = 0; i < iterations; ++i) {
    const long slot = ++work.sequence % Shared::kSlots;
    if (work.pe == 0) {
      if (i >= Shared::kSlots && i % kAckEvery == 0)
        raw_await(work, work.shared->gate.sequence, work.sequence - kAckEvery);
      work.peer_shared->mailbox[slot].value = work.shared->value.value;
      work.peer_shared->mailbox[slot].sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
      work.shared->result.value = work.shared->value.value;
    } else {
      raw_await(work, work.shared->mailbox[slot].sequence, work.sequence);
      work.shared->result.value = work.shared->mailbox[slot].value;
      if (i % kAckEvery == 0)
        work.peer_shared->gate.sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
    }
  }
}

void add(long* dest, const long* a, const long* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) dest[i] = a[i] + b[i];
  forget_memory();
}

void reduce_block(Work& work, long iterations) {
  const std::size_t count = work.bytes / sizeof(long);
  const std::size_t half = count / 2;
  const std::size_t mine = work.pe == 0 ? 0 : half;
  for (long i = 0; i < iterations; ++i) {
    raw_meet(work);
    if (work.method == 0) {  // each PE computes the whole sum
      add(longs(work.dest), longs(work.source), longs(work.peer_source), count);
    } else {  // each PE sums one half and copies the other
      add(longs(work.dest) + mine, longs(work.source) + mine, longs(work.peer_source) + mine, half);
      raw_meet(work);
      raw_copy(0, longs(work.dest) + (half - mine), longs(work.peer_dest) + (half - mine), half * sizeof(long));
    }
    raw_meet(work);
  }
}

void broadcast_block(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    raw_meet(work);
    raw_copy(work.method, work.dest, work.pe == 0 ? work.source : work.peer_source, work.bytes);
    raw_meet(work);
  }
}

void collect_block(Work& work, long iterations) {
  std::byte* first = work.pe == 0 ? work.source : work.peer_source;
  std::byte* second = work.pe == 0 ? work.peer_source : work.source;
  for (long i = 0; i < iterations; ++i) {
    raw_meet(work);
    raw_copy(work.method, work.dest, first, work.bytes);
    raw_copy(work.method, work.dest + work.bytes, second, work.bytes);
    raw_meet(work);
  }
}

void exchange_block(Work& work, long iterations) {
  const std::size_t mine = static_cast<std::size_t>(work.pe) * work.bytes;
  std::byte* first = work.pe == 0 ? work.source : work.peer_source;
  std::byte* second = work.pe == 0 ? work.peer_source : work.source;
  for (long i = 0; i < iterations; ++i) {
    raw_meet(work);
    raw_copy(work.method, work.dest, first + mine, work.bytes);
    raw_copy(work.method, work.dest + work.bytes, second + mine, work.bytes);
    raw_meet(work);
  }
}
#else
using Collective = void (*)(Work&, long*, const long*, std::size_t);

template <Collective collective>
void on_word(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) collective(work, &work.shared->result.value, &work.shared->value.value, 1);
}

template <Collective collective>
void on_block(Work& work, long iterations) {
  long* dest = reinterpret_cast<long*>(work.dest);
  const long* source = reinterpret_cast<const long*>(work.source);
  for (long i = 0; i < iterations; ++i) collective(work, dest, source, work.bytes / sizeof(long));
}

constexpr auto reduce_word = on_word<sum>;
constexpr auto broadcast_word = on_word<broadcast>;
constexpr auto reduce_block = on_block<sum>;
constexpr auto broadcast_block = on_block<broadcast>;
constexpr auto collect_block = on_block<collect>;
constexpr auto exchange_block = on_block<exchange>;
#endif

constexpr std::array kCases = {
    // clang-format off
    Case{"reduce",    8,    Unit::ns,       Role::together, "", one_operation, reduce_word,     nullptr, 1},
    Case{"broadcast", 8,    Unit::ns,       Role::together, "", one_operation, broadcast_word,  nullptr, 2},
    Case{"reduce",    kMiB, Unit::gb_per_s, Role::together, "", one_operation, reduce_block,    nullptr, 2},
    Case{"broadcast", kMiB, Unit::gb_per_s, Role::together, "", one_operation, broadcast_block, nullptr, 3},
    Case{"fcollect",  kMiB, Unit::gb_per_s, Role::together, "", one_operation, collect_block,   nullptr, 3},
    Case{"alltoall",  kMiB, Unit::gb_per_s, Role::together, "", one_operation, exchange_block,  nullptr, 3},
    // clang-format on
};
}  // namespace

int main(int argc, char** argv) {
#if !defined(BENCH_RAW)
  prepare_collectives();  // static memory, prepared before any PE uses it
#endif
  return run_program(argc, argv, kCases, 2 * kMiB);
}
