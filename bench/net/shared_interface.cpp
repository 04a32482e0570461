// Checks the raw frames that stand beside the transport ethernet. Two links between two PEs use one interface, as those
// of two jobs do, and take turns: each gets all of its frames and none of the other one's.
#include <shmem.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "../support/job.hpp"
#include "raw_frames.hpp"

namespace {
using namespace shmemx::bench;

constexpr std::size_t kStreamBytes = std::size_t{8} << 20;  // more than both rings hold
constexpr int kRoundTrips = 1000;
constexpr int kTurns = 3;

RawAddress address;  // symmetric

void connect(RawFrames& link) {
  const bool is_leader = shmem_my_pe() == 0;
  if (is_leader) {
    const RawAddress mine = link.listen();
    shmem_putmem(&address, &mine, sizeof mine, 1);
  }
  shmem_barrier_all();
  is_leader ? link.accept() : link.connect(address);
  shmem_barrier_all();
}

void send(RawFrames& link, std::size_t bytes, int value) {
  link.send(std::vector(bytes, static_cast<std::byte>(value)));
}
void receive(RawFrames& link, std::size_t bytes, int value) {
  std::vector<std::byte> got(bytes);
  link.receive(got);
  const auto is_other = [value](std::byte byte) { return byte != static_cast<std::byte>(value); };
  if (std::any_of(got.begin(), got.end(), is_other)) die("a raw link has got a frame of another one");
}

void take_turn(RawFrames& link, int value) {
  const bool is_leader = shmem_my_pe() == 0;
  is_leader ? send(link, kStreamBytes, value) : receive(link, kStreamBytes, value);
  for (int i = 0; i < kRoundTrips; ++i) {
    if (!is_leader) send(link, sizeof(long), value);
    receive(link, sizeof(long), value);
    if (is_leader) send(link, sizeof(long), value);
  }
}

}  // namespace

int main() {
  shmem_init();
  RawFrames links[2];
  for (RawFrames& link : links) connect(link);
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int i = 0; i < 2; ++i) {
      take_turn(links[i], 1 + 2 * turn + i);
      shmem_barrier_all();
    }
  }
  if (shmem_my_pe() == 0) std::puts("raw links are separate");
  shmem_finalize();
  return 0;
}
