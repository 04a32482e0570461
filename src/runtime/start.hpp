// The steps of the first shmem_init of a process, in the order runtime/job.cpp takes them.
#pragma once

#include <cstdint>
#include <string>

#include "base/node_path.hpp"
#include "bootstrap/bootstrap.hpp"
#include "config/config.hpp"
#include "context/context.hpp"
#include "runtime/nodes.hpp"
#include "windows/arena.hpp"
#include "windows/static_data.hpp"

namespace shmemx::runtime {

struct StartParameters {
  bootstrap::Identity identity;
  config::Config config;
  windows::StaticData statics;
  std::uint64_t heap_bytes = 0;        // this PE's wish; the least of all PEs' is reserved
  std::uint64_t heap_limit_bytes = 0;  // what shmem_malloc may hand out
  NodePath path = NodePath::direct;    // what the PEs have agreed on, never automatic
  std::string path_reason;
  Nodes nodes;
};

// Reads the environment and the limits of the process.
Status read_parameters(StartParameters& parameters);

// Fills this PE's record, waits for all others', computes the geometry, maps the memory and shares the static data.
Status share_memory(windows::Arena& arena, StartParameters& parameters, bootstrap::Bootstrap& launcher,
                    const char* routine);

// The default context: routes to all PEs.
context::Context make_world(const windows::Arena& arena, const StartParameters& parameters) noexcept;

// Waiting policy and barrier shape, from how many PEs share how many cores.
void configure_waiting(const windows::Arena& arena, const StartParameters& parameters) noexcept;

// A barrier of the PEs of this arena on its header; sleeps at once, since PEs may start seconds apart.
void meet_node_pes(const windows::Arena& arena, const char* routine) noexcept;

// SHMEM_VERSION, SHMEM_INFO, warnings of the configuration: printed by PE 0.
void report_start(const StartParameters& parameters) noexcept;

}  // namespace shmemx::runtime
