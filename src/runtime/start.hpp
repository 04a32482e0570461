// The steps of the first shmem_init of a process, in the order in which runtime/job.cpp takes them.
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
  bootstrap::StaticDataState static_data{};
  bool statics_are_symmetric = false;  // agreed between the PEs
  std::uint64_t heap_bytes = 0;        // what this PE requests; the least of all PEs' is reserved
  std::uint64_t heap_limit_bytes = 0;  // what shmem_malloc may hand out
  std::uintptr_t common_heap = 0;      // where the heap of each PE was to lie; 0: anywhere
  NodePath path = NodePath::direct;    // agreed between the PEs, never automatic
  std::string path_reason;
  std::string path_warning;  // why the node's memory is not mapped though the user asked for nothing else; or empty
  Nodes nodes;
};

// Reads the environment and the limits of the process.
Status read_parameters(StartParameters& parameters);

// Fills this PE's record, waits for the records of all PEs, computes the geometry, maps the memory, shares the static
// data.
Status share_memory(windows::Arena& arena, StartParameters& parameters, bootstrap::Bootstrap& launcher,
                    const char* routine);

// Makes the default context: routes to all PEs.
context::Context make_world(const windows::Arena& arena, const StartParameters& parameters) noexcept;

// Sets the waiting policy and the shape of barriers, by the numbers of PEs and cores. Once for all lives of the
// library: the progress thread of the networks, which reads what this writes, goes on between them.
void configure_waiting(const windows::Arena& arena, const StartParameters& parameters) noexcept;

// Waits until all PEs of this arena have called it. A waiting PE sleeps at once, since PEs may start seconds apart.
// Returns an error if one of them cannot start, and says so to its program.
Status meet_node_pes(const windows::Arena& arena, const char* routine) noexcept;

// Prints what SHMEM_INFO=2 requests at the end of traffic. Only PE 0 prints.
void report_end(const StartParameters& parameters, const bootstrap::Bootstrap& launcher) noexcept;
// Prints what SHMEM_VERSION and SHMEM_INFO request, and warnings of the configuration. Only PE 0 prints.
void report_start(const windows::Arena& arena, const StartParameters& parameters,
                  const bootstrap::Bootstrap& launcher) noexcept;

}  // namespace shmemx::runtime
