// What public windows know of the job: who is who, the node's file, which ways are allowed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/window_path.hpp"

namespace shmemx::public_windows {

struct Node {
  int me = 0;
  int n_pes = 0;
  int (*fd)() = nullptr;         // of the node's file; windows lie behind what it holds when they are first used
  std::uint64_t file_bytes = 0;  // so much of it belongs to others
  std::size_t n_places = 0;      // PEs that share the file
  std::uint64_t key = 0;         // of the job
  WindowPath path = WindowPath::automatic;
  bool agent = true;                       // may a helper thread serve this PE's windows?
  std::int32_t (*pid_of)(int) = nullptr;   // of a PE of this node, as itself sees it
  std::size_t (*place_of)(int) = nullptr;  // of a PE of this node among those that share the file
  bool maps_peers = true;                  // is the memory of all PEs of this node mapped? start() finds out
};

// The first call counts: windows live until the process ends. Any thread. False: the node's file cannot grow.
bool start(const Node& node) noexcept;
bool is_started() noexcept;
// Valid when started.
const Node& node() noexcept;

// This PE's memory will be reached by messages of node peers, if it has any: from now on they are executed, also while
// the PE computes. Those of PEs of other nodes are executed anyway.
void serve_messages() noexcept;
// This PE sends messages and waits for answers.
void expect_answers() noexcept;

}  // namespace shmemx::public_windows
