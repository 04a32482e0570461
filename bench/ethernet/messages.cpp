// The measurements of the Open-MX paper between PEs on different hosts: ping-pong from 1 B to 4 MiB, the
// send-and-receive patterns SendRecv (each PE sends to its right neighbour and receives from its left one) and Exchange
// (with both neighbours at once), collectives, and long puts whose blocks are pulled by the target.
#include <vector>

#include "../net/cases.hpp"
#include "../support/program.hpp"
#include "../support/shmem_coll.hpp"
#include "../two_sided/messages.hpp"

namespace {
using namespace shmemx::bench;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kLongest = 4096 * kKiB;
constexpr int kMostPes = 4;
constexpr int kTag = 7;

int left_of(const Work& work) { return (work.pe + work.pes - 1) % work.pes; }

void ping_pong(Work& work, long iterations) {
  if (work.pe > 1) return;
  for (long i = 0; i < iterations; ++i) {
    if (work.pe == 0) send(work.source, work.bytes, 1, kTag);
    receive(work.dest, work.bytes, 1 - work.pe, kTag);
    if (work.pe != 0) send(work.source, work.bytes, 0, kTag);
  }
}

void send_receive(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    MessageRequest requests[2];
    start_receive(&requests[0], work.dest, work.bytes, left_of(work), kTag);
    start_send(&requests[1], work.source, work.bytes, work.peer, kTag);
    complete(requests, 2);
  }
}

void exchange_with_both(Work& work, long iterations) {
  const int left = left_of(work);
  for (long i = 0; i < iterations; ++i) {
    MessageRequest requests[4];
    start_receive(&requests[0], work.dest, work.bytes, left, kTag);
    start_receive(&requests[1], work.dest + work.bytes, work.bytes, work.peer, kTag + 1);
    start_send(&requests[2], work.source, work.bytes, work.peer, kTag);
    start_send(&requests[3], work.source, work.bytes, left, kTag + 1);
    complete(requests, 4);
  }
}

std::size_t count_of(const Work& work) { return work.bytes / sizeof(long); }
const long* source_words(const Work& work) { return reinterpret_cast<const long*>(work.source); }

void barrier_once(Work&) { shmem_barrier_all(); }
void reduce_once(Work& work) { sum(work, work.words(), source_words(work), count_of(work)); }
void alltoall_once(Work& work) { exchange(work, work.words(), source_words(work), count_of(work)); }
void collect_once(Work& work) { collect(work, work.words(), source_words(work), count_of(work)); }
// A broadcast lets its root run ahead; without the barrier it would be a stream.
void broadcast_once(Work& work) {
  broadcast(work, work.words(), source_words(work), count_of(work));
  shmem_barrier_all();
}

template <void (*operation)(Work&)>
void repeat(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) operation(work);
}

// PE 0 puts while its peer waits for the end.
void put_stream(Work& work, long iterations) {
  ++work.sequence;
  if (work.pe == 0) {
    for (long i = 0; i < iterations; ++i) shmem_putmem(work.dest, work.source, work.bytes, 1);
    shmem_quiet();
    shmem_long_p(&work.shared->flag.value, work.sequence, 1);
  } else if (work.pe == 1) {
    shmem_long_wait_until(&work.shared->flag.value, SHMEM_CMP_EQ, work.sequence);
  }
}

Case with(Case made, void (*begin)(Work&) = nullptr) {
  made.begin = begin;
  return made;
}
Case in_us(const char* name, std::size_t bytes, Loop loop) {
  return {name,    bytes, Unit::us, Role::together, "",      one_operation, loop,
          nullptr, 1,     1,        nullptr,        nullptr, nullptr,       kStreamSampleNs};
}

void prepare(Work&) { prepare_collectives(); }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (std::size_t bytes : {1, 4, 16, 64, 128, 256, 512})
    cases.push_back(with(one_way("eth_pingpong", bytes, ping_pong, nullptr)));
  for (std::size_t bytes = kKiB; bytes <= kLongest; bytes *= 2)
    cases.push_back(with(one_way("eth_pingpong", bytes, ping_pong, nullptr)));
  cases.push_back(with(in_us("eth_barrier", 0, repeat<barrier_once>)));
  struct Pattern {
    const char* name;
    Loop loop;
  };
  constexpr Pattern kPatterns[] = {
      {"eth_sendrecv", send_receive},          {"eth_exchange", exchange_with_both},
      {"eth_reduce", repeat<reduce_once>},     {"eth_broadcast", repeat<broadcast_once>},
      {"eth_alltoall", repeat<alltoall_once>}, {"eth_fcollect", repeat<collect_once>},
  };
  for (const Pattern& pattern : kPatterns)
    for (std::size_t bytes : {std::size_t{16}, 4 * kKiB, 64 * kKiB, kLongest})
      cases.push_back(with(in_us(pattern.name, bytes, pattern.loop), prepare));
  cases.push_back(with(stream("eth_pull", kLongest, put_stream, nullptr)));
  return cases;
}
}  // namespace

int main(int argc, char** argv) {
  const std::vector<Case> cases = all_cases();
  return run_program(argc, argv, cases, kMostPes * kLongest);
}
