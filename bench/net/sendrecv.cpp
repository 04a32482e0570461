// Two-sided messages between two PEs on different hosts, by this library or an MPI (BENCH_MPI): the one-way time, as
// in the figures of the Nemesis paper, and the rates where PE 0 sends, and where both send to each other at once.
// Samples of a bare link between the same two processes alternate with the first two (not with BENCH_MPI).
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

// Between samples nobody is in the library, so a message that waits for a poll (SHMEMX_NET_BYPASS=0) has to leave
// before.
void poll_once() {
#if !defined(BENCH_MPI)
  int flag = 0;
  shmemx_iprobe(SHMEMX_ANY_SOURCE, kTag + 1, &flag, nullptr);
#endif
}

// All PEs call the loops; there are two.
void ping_pong(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    if (work.pe == 0) send(work.source, work.bytes, work.peer, kTag);
    receive(work.dest, work.bytes, work.peer, kTag);
    if (work.pe != 0) send(work.source, work.bytes, work.peer, kTag);
  }
  poll_once();
}

// PE 0 sends, kWindow messages at a time; an empty message from PE 1 tells that all have arrived.
constexpr long kWindow = 16;
void one_direction(Work& work, long iterations) {
  MessageRequest requests[kWindow];
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < kWindow; ++k) {
      if (work.pe == 0) start_send(&requests[k], work.source, work.bytes, work.peer, kTag);
      if (work.pe != 0) start_receive(&requests[k], work.dest, work.bytes, work.peer, kTag);
    }
    complete(requests, kWindow);
  }
  if (work.pe == 0) receive(work.dest, 0, work.peer, kTag);
  if (work.pe != 0) send(work.source, 0, work.peer, kTag);
  poll_once();
}
double window_operations(const Work&) { return kWindow; }

void both_ways(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    MessageRequest requests[2];
    start_receive(&requests[0], work.dest, work.bytes, work.peer, kTag);
    start_send(&requests[1], work.source, work.bytes, work.peer, kTag);
    complete(requests, 2);
  }
  poll_once();
}

#if defined(BENCH_MPI)
constexpr Loop kRival = nullptr, kStreamRival = nullptr;
constexpr void (*prepare)(Work&) = nullptr;
#else
constexpr Loop kRival = raw_pingpong;
void raw_windows(Work& work, long iterations) { raw_stream_out(work, iterations * kWindow); }
constexpr Loop kStreamRival = raw_windows;
constexpr auto prepare = connect_raw;
#endif

constexpr Case latency(std::size_t bytes) {
  Case made = one_way("net_sendrecv", bytes, ping_pong, bytes == 0 ? nullptr : kRival);
  made.begin = prepare;
  return made;
}
constexpr Case one_way_rate(std::size_t bytes) {
  Case made = stream("net_sendrecv_one_way", bytes, one_direction, kStreamRival);
  made.begin = prepare;
  made.operations = window_operations;
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
    latency(0),
    latency(8),
    latency(64),
    latency(512),
    latency(4 * kKiB),
    latency(16 * kKiB),
    latency(64 * kKiB),
    latency(256 * kKiB),
    latency(1024 * kKiB),
    latency(kLargestBytes),
    exchange(512),
    exchange(4 * kKiB),
    exchange(16 * kKiB),
    exchange(64 * kKiB),
    exchange(256 * kKiB),
    exchange(1024 * kKiB),
    exchange(kLargestBytes),
    one_way_rate(64),
    one_way_rate(512),
    one_way_rate(4 * kKiB),
    one_way_rate(16 * kKiB),
    one_way_rate(64 * kKiB),
    one_way_rate(256 * kKiB),
    one_way_rate(1024 * kKiB),
    one_way_rate(kLargestBytes),
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, kLargestBytes); }
