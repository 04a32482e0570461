#include "runtime/observing.hpp"

#include <cstdio>
#include <cstring>

#include "base/fatal.hpp"
#include "coll/barrier.hpp"
#include "coll/common/team.hpp"
#include "context/route.hpp"
#include "onesided/operations.hpp"
#include "runtime/job.hpp"
#include "runtime/tracing.hpp"
#include "stats/counters.hpp"
#include "stats/span.hpp"
#include "stats/summary.hpp"

namespace shmemx::runtime {
namespace {

using stats::Summary;

stats::NetworkSummary network_counts() {
  const am::GatherCounts small = gather_counts();
  const transport::FrameCounts frames = frame_counts();
  return {small.operations, small.messages, frames.sent, frames.resent};
}

void meet_for_summary(const char* routine) { coll::barrier(coll::team_table[coll::kEndTeam], routine); }

// Reads the summary of a PE, whose copy on this PE is `own`.
void fetch_summary(const char* routine, const Summary& own, int pe, Summary& out) {
  const context::Context& world = context::default_context();
  const context::Location found = context::resolve(world, {routine, "source"}, &own, sizeof own, pe);
  if (!found.is_mapped()) return onesided::get(routine, world, &out, found.place, sizeof out);
  std::memcpy(static_cast<void*>(&out), found.address, sizeof out);
}

// Adds up the summaries of all PEs along a binomial tree, in the one of PE 0.
void gather_summaries(const char* routine, Summary& own) {
  const context::Context& world = context::default_context();
  const int n_pes = static_cast<int>(world.n_pes);
  stats::summarize(own, world.my_pe, network_counts());
  meet_for_summary(routine);
  for (int step = 1; step < n_pes; step *= 2) {
    if (world.my_pe % (2 * step) == 0 && world.my_pe + step < n_pes) {
      Summary other;
      fetch_summary(routine, own, world.my_pe + step, other);
      stats::merge(own, other);
    }
    meet_for_summary(routine);
  }
}

bool is_asked() { return stats::asked.counts || stats::asked.traces; }

// The heap holds nothing that is still in use: all PEs are in their last call.
void report_counts(const char* routine, const Nodes& nodes) {
  const auto offset = allocator().allocate(sizeof(Summary), kCacheLine);
  const int me = context::default_context().my_pe;
  if (!offset) {
    if (me == 0)
      warn("SHMEM_STATS: the summary needs %zu bytes of the symmetric heap, and no such block is free",
           sizeof(Summary));
    return;
  }
  auto* const own = ::new (reinterpret_cast<void*>(context::default_context().heap_base + *offset)) Summary;
  gather_summaries(routine, *own);
  if (me == 0) {
    std::fputs(stats::text_of(*own, nodes.n_nodes).c_str(), stdout);
    std::fflush(stdout);
  }
  std::memset(static_cast<void*>(own), 0, sizeof *own);  // as memory that nobody has used
  static_cast<void>(allocator().release(*offset));
}

}  // namespace

void open_observing(const StartParameters& parameters, const windows::Arena& arena) noexcept {
  const config::Config& config = parameters.config;
  const bool is_wanted = config.stats || config.trace.text[0] != 0;
  const bool is_first = stats::counters.contexts == nullptr;
  const auto n_pes = static_cast<std::size_t>(parameters.identity.n_pes);
  if (is_wanted && is_first && !stats::open_counters(n_pes, context::kMaxContexts)) {
    warn("SHMEM_STATS: no memory for the counters, so nothing is observed");
    return;
  }
  if (!is_first) stats::clear_counters();
  stats::asked = {.counts = config.stats, .traces = open_trace(config, parameters.nodes, arena)};
  context::uses_cold_halves = context::uses_cold_halves || is_asked();  // others may use them, too
}

void start_observing(const char* routine, const Nodes& nodes) noexcept {
  if (configuration().trace.text[0] != 0) align_clocks(routine, nodes, ClockTime::start);
  stats::observes = is_asked();
}

void control_observing(int level) noexcept {
  if (!is_initialized() || !is_asked()) return;
  if (level >= 2) stats::clear_counters();
  stats::observes = level > 0;
}

// By the configuration, which is the same on all PEs, whatever this one could open.
void report_observed(const char* routine, const Nodes& nodes) noexcept {
  stats::observes = false;
  if (configuration().stats) report_counts(routine, nodes);
  if (configuration().trace.text[0] != 0) finish_trace(routine, nodes);
}

}  // namespace shmemx::runtime
