// Memory shared by the processes of the queue's bench: for each variation a place with its queues, boxes and cells.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "../support/clock.hpp"
#include "bench/queue/free_cells.hpp"
#include "bench/queue/plain_queue.hpp"
#include "nemesis/fastbox.hpp"

namespace shmemx::bench {

using namespace shmemx::nemesis;

constexpr int kMaxProcesses = 9;  // a receiver and up to eight senders

// One direction of a pair.
struct Boxes {
  Fastbox box;
  Consumed consumed;
};

// Zeros are the initial state. Process 0 receives from all; the others receive from process 0.
struct Place {
  std::array<MpscQueue, kMaxProcesses> receive;
  std::array<PlainQueue, kMaxProcesses> plain_receive;
  std::array<MpscQueue, kMaxProcesses> free_queues;
  std::array<CellStack, kMaxProcesses> free_stacks;
  std::array<Boxes, kMaxProcesses> boxes;  // the boxes that the process receives from; for pairs only
  alignas(kCacheLine) std::array<std::atomic<long>, 64> flag_to;  // lines of the raw ping-pong
  alignas(kCacheLine) std::size_t cell_bytes;
  std::size_t cell_count;  // of each process

  Cell* cell(int process, std::size_t index) {
    auto* const cells = reinterpret_cast<std::byte*>(this) + kPlaceBytes;
    return reinterpret_cast<Cell*>(cells + (static_cast<std::size_t>(process) * cell_count + index) * cell_bytes);
  }
  static constexpr std::size_t kPlaceBytes = 4 * kPageBytes;
  static std::size_t bytes_for(std::size_t cell_bytes, std::size_t cell_count, std::size_t processes) {
    return kPlaceBytes + round_up(processes * cell_count * cell_bytes, kPageBytes);
  }
};
static_assert(sizeof(Place) <= Place::kPlaceBytes);

// How process 0 tells the others what to do.
// Edges:  order  sequence.store -> sequence.load  what to do
//         done   done.fetch_add -> done.load      it is done
struct alignas(kCacheLine) Order {
  std::atomic<long> sequence;
  int what;  // index of the variation; -1: a probe, -2: the end
  int senders;
  long iterations;
};
struct Lead {
  std::array<Order, kMaxProcesses> orders;
  alignas(kCacheLine) std::atomic<long> done;
  alignas(kCacheLine) std::atomic<long> ping;
  alignas(kCacheLine) std::atomic<long> pong;
};

inline std::byte* map_shared(std::size_t bytes) {
  const int file = memfd_create("bench_queue", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    std::perror("bench_queue: memory");
    std::exit(1);
  }
  void* const where = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  close(file);
  if (where == MAP_FAILED) {
    std::perror("bench_queue: memory");
    std::exit(1);
  }
  return static_cast<std::byte*>(where);
}

// Polls until done(). With more processes than cores it yields; otherwise only after a long wait.
inline bool g_crowded = false;
template <class Done>
void poll_until(Done done) {
  for (long polls = 0; !done(); ++polls) {
    if (g_crowded || polls > 20'000) sched_yield();
  }
}

}  // namespace shmemx::bench
