// The trace of one PE: a ring of its last spans, in a file that is mapped. The kernel keeps what has been written,
// however the process ends. The PEs of a node share a file, in which each has a part of its own:
//
//   RingHeader, in a page | names of routines | events
//
// Edge:  recorded  TraceEvent::sequence.store -> load    the event's other members, for a reader in another process
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/result.hpp"
#include "stats/clock_map.hpp"
#include "stats/counters.hpp"
#include "stats/kinds.hpp"

namespace shmemx::stats {

inline constexpr std::uint64_t kRingMagic = 0x32656361'7274786d;  // "mxtrace2"
inline constexpr std::size_t kRoutineBytes = 48;

struct TraceEvent {
  std::uint64_t begin_ns;  // of this machine's clock
  std::uint64_t end_ns;
  std::uint64_t bytes;
  std::uint64_t caller;  // a return address; 0: unknown
  std::int32_t pe;       // the other one, -1: none
  std::uint32_t context;
  RoutineId routine;
  std::uint16_t thread;
  Family family;
  Path path;
  // The round of the ring in which the event was written, from 1; 0: it is being written.
  std::atomic<std::uint32_t> sequence;
};
static_assert(sizeof(TraceEvent) <= kCacheLine);
struct alignas(kCacheLine) Slot {
  TraceEvent event;
};

struct RingOwner {
  std::uint32_t pe;
  std::uint32_t n_pes;
  std::uint32_t node;
  std::uint32_t n_nodes;
  char host[64];
};
// Where the executable lies in this process, and by how much above the addresses in its file.
struct RingProgram {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t load_bias;
  char path[1024];
};
// A call that waits and has not ended. Of each thread the outermost one.
struct OpenCall {
  std::atomic<std::uint64_t> begin_ns;  // 0: none
  RoutineId routine;
  Family family;
};
inline constexpr std::size_t kOpenCalls = 32;  // further threads show none

struct RingHeader {
  std::uint64_t magic;
  std::uint64_t job;       // the same on all PEs of the job
  std::uint64_t begun_ns;  // since 1970
  std::uint32_t n_parts;   // of this file
  std::uint32_t capacity;  // events, a power of two
  RingOwner owner;
  ClockMap clock;  // of the lowest PE of a node, for all of them
  RingProgram program;
  OpenCall open[kOpenCalls];                               // by thread, from 1
  alignas(kCacheLine) std::atomic<std::uint64_t> written;  // events, also those that are gone
};
static_assert(sizeof(RingHeader) <= kPageBytes);

inline constexpr std::size_t kNamesOffset = kPageBytes;
inline constexpr std::size_t kEventsOffset = kNamesOffset + kRoutines * kRoutineBytes;
inline constexpr std::size_t part_bytes(std::size_t capacity) noexcept {
  return round_up(kEventsOffset + capacity * sizeof(Slot), kPageBytes);
}

// What a part of a file holds, mapped.
struct Part {
  std::byte* at = nullptr;

  RingHeader& header() const noexcept { return *reinterpret_cast<RingHeader*>(at); }
  char* name(std::size_t id) const noexcept { return reinterpret_cast<char*>(at + kNamesOffset + id * kRoutineBytes); }
  Slot* slots() const noexcept { return reinterpret_cast<Slot*>(at + kEventsOffset); }
};

// Maps part `index` of the file of `header.n_parts`, and begins a ring there, in place of an earlier one. Requires
// counters, for names. `many_threads`: several may record at the same time.
Status open_ring(const char* path, std::size_t index, const RingHeader& header, bool many_threads) noexcept;
bool has_ring() noexcept;
// The header of this PE's ring; requires one.
RingHeader& ring_header() noexcept;

// Returns where the program called, from this thread's stack; null: not known.
const void* find_caller() noexcept;

// The outermost call that waits begins, or ends.
void record_open(const Call& call, std::uint64_t begin_ns) noexcept;
void record_closed() noexcept;

void record(const Call& call, std::uint64_t begin_ns, std::uint64_t end_ns, const void* caller) noexcept;

}  // namespace shmemx::stats
