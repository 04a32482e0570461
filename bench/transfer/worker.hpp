// One of the two processes of a pair.
#pragma once

#include "order.hpp"

namespace shmemx::bench {

struct WorkerPlace {
  PairBlock* block;
  const Arena* arena;
  const MechanismInfo* info;
  bool local;
  int socket;   // to the other process
  int orders;   // pipe from the coordinator
  int replies;  // pipe to it
  int cpu;      // -1: not pinned
  bool crowded;
  std::size_t working_set_bytes;
};

[[noreturn]] void run_worker(const WorkerPlace& place);

}  // namespace shmemx::bench
