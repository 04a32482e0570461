// Two-sided messages between two PEs on different hosts, by this library or an MPI (BENCH_MPI): the one-way time, as
// in the figures of the Nemesis paper, and the rate where both send to each other at once. Samples of a bare TCP
// connection between the same two processes alternate with the first (not with BENCH_MPI).
#include "../support/program.hpp"
#include "../two_sided/messages.hpp"
#include "cases.hpp"
#if !defined(BENCH_MPI)
#include "raw_kernels.hpp"
#endif

namespace {
using namespace shmemx::bench;

constexpr int kTag = 5;
constexpr std::size_t kKiB = 1024;

// All PEs call the loops; there are two.
void ping_pong(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    if (work.pe == 0) send(work.source, work.bytes, work.peer, kTag);
    receive(work.dest, work.bytes, work.peer, kTag);
    if (work.pe != 0) send(work.source, work.bytes, work.peer, kTag);
  }
}

void both_ways(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    MessageRequest requests[2];
    start_receive(&requests[0], work.dest, work.bytes, work.peer, kTag);
    start_send(&requests[1], work.source, work.bytes, work.peer, kTag);
    complete(requests, 2);
  }
}

#if defined(BENCH_MPI)
constexpr Loop kRival = nullptr;
constexpr void (*prepare)(Work&) = nullptr;
#else
constexpr Loop kRival = raw_pingpong;
constexpr auto prepare = connect_raw;
#endif

constexpr Case latency(std::size_t bytes) {
  Case made = one_way("net_sendrecv", bytes, ping_pong, bytes == 0 ? nullptr : kRival);
  made.begin = prepare;
  return made;
}
// A stream leaves one PE idle until the other one is done; here both work, so no PE is excepted.
constexpr Case exchange(std::size_t bytes) {
  Case made = stream("net_sendrecv_both", bytes, both_ways, nullptr);
  made.begin = prepare;
  made.operations = there_and_back_operations;
  return made;
}

constexpr std::array kCases = {
    latency(0),          latency(8),           latency(64),         latency(512),          latency(4 * kKiB),
    latency(16 * kKiB),  latency(64 * kKiB),   latency(256 * kKiB), latency(1024 * kKiB),  latency(kLargestBytes),
    exchange(4 * kKiB),  exchange(64 * kKiB),  exchange(1024 * kKiB), exchange(kLargestBytes),
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, kLargestBytes); }
