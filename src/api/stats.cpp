// Counters of this PE: the entry points of shmemx/stats.h.
#include <shmemx/stats.h>

#include <algorithm>
#include <cstring>

#include "api/arg_check.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "runtime/nodes.hpp"
#include "stats/counters.hpp"
#include "stats/span.hpp"

namespace api = shmemx::api;
namespace context = shmemx::context;
namespace stats = shmemx::stats;

namespace {

static_assert(SHMEMX_STATS_FAMILIES == stats::kTransfers && SHMEMX_STATS_PATHS == stats::kPaths);

bool is_counting() noexcept { return stats::asked.counts; }

// Returns what the routines return.
int counting_result() noexcept { return is_counting() ? 0 : 1; }

template <class CountOf>
void fill_stats(shmemx_stats_t* out, const CountOf& count_of) noexcept {
  *out = {};
  if (!is_counting()) return;
  for (std::size_t family = 0; family < stats::kTransfers; ++family) {
    for (std::size_t path = 0; path < stats::kPaths; ++path) {
      const stats::Count count = count_of(family, path);
      out->transfers[family][path] = {count.operations, count.bytes};
    }
  }
  out->waiting_ns = stats::counters.blocked_ns.value();
  out->counted_ns = shmemx::now_ns() - stats::counters.opened_ns;
}

}  // namespace

extern "C" {

void shmemx_net_stats(shmemx_net_stats_t* stats) noexcept {
  context::require_initialized("shmemx_net_stats");
  api::check_result("shmemx_net_stats", "stats", stats);
  const auto counts = shmemx::runtime::gather_counts();
  const auto frames = shmemx::runtime::frame_counts();
  *stats = {counts.operations, counts.messages,   counts.bytes,     frames.sent,    frames.received, frames.resent,
            frames.duplicates, frames.overflowed, frames.truncated, frames.foreign, frames.forged,   frames.stale};
}

int shmemx_stats_get(shmemx_stats_t* out) noexcept {
  context::require_initialized("shmemx_stats_get");
  api::check_result("shmemx_stats_get", "stats", out);
  fill_stats(out, [](std::size_t family, std::size_t path) {
    return stats::total_of(static_cast<stats::Family>(family), static_cast<stats::Path>(path));
  });
  return counting_result();
}

int shmemx_stats_get_context(shmem_ctx_t ctx, shmemx_stats_t* out) noexcept {
  const context::Context& of = api::checked_context(ctx, "shmemx_stats_get_context");
  context::require_initialized("shmemx_stats_get_context");
  api::check_result("shmemx_stats_get_context", "stats", out);
  const std::ptrdiff_t index = &of - context::context_table;
  fill_stats(out, [index](std::size_t family, std::size_t path) {
    return stats::counters.contexts[index].of[family][path].count();
  });
  return counting_result();
}

int shmemx_stats_get_peer(int pe, shmemx_stats_count_t* out) noexcept {
  context::require_initialized("shmemx_stats_get_peer");
  api::check_result("shmemx_stats_get_peer", "count", out);
  if (!context::pe_in_range(api::default_context(), pe))
    shmemx::fatal("shmemx_stats_get_peer", "argument 'pe' is %d, allowed are 0..%u (team WORLD)", pe,
                  api::default_context().n_pes - 1);
  *out = {};
  if (!is_counting()) return 1;
  const stats::Count count = stats::counters.peers[pe].count();
  *out = {count.operations, count.bytes};
  return 0;
}

// Equal names may lie at several addresses.
int shmemx_stats_get_routine(const char* routine, shmemx_stats_routine_t* out) noexcept {
  context::require_initialized("shmemx_stats_get_routine");
  api::check_array("shmemx_stats_get_routine", "routine", routine);
  api::check_result("shmemx_stats_get_routine", "counts", out);
  *out = {};
  if (!is_counting()) return 1;
  for (std::size_t id = 0; id < stats::kRoutines; ++id) {
    const char* const name = stats::counters.names[id].load(std::memory_order_relaxed);
    if (name == nullptr || std::strcmp(name, routine) != 0) continue;
    const stats::RoutineCounters& counted = stats::counters.routines[id];
    out->calls += counted.calls.value();
    out->waits += counted.waits.value();
    out->ns += counted.calls.value() != 0 ? counted.call_ns.value() : counted.wait_ns.value();
    out->longest_ns = std::max<unsigned long long>(out->longest_ns, counted.longest_ns.value());
  }
  return 0;
}

int shmemx_stats_reset() noexcept {
  context::require_initialized("shmemx_stats_reset");
  if (is_counting()) stats::clear_counters();
  return counting_result();
}

}  // extern "C"
