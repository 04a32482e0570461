#include "rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace shmemx::bench {
namespace {

// Smaller differences are noise on a shared machine.
constexpr double kNoise = 0.05;

Verdict at_most(std::string bar, std::optional<double> value, std::optional<double> bound) {
  Verdict verdict{std::move(bar)};
  if (!value || !bound) return verdict;
  verdict.met = *value <= *bound;
  if (*bound > 0) verdict.times = *value / *bound;
  return verdict;
}

Verdict at_least(std::string bar, std::optional<double> value, std::optional<double> bound) {
  Verdict verdict{std::move(bar)};
  if (!value || !bound) return verdict;
  verdict.met = *value >= *bound;
  if (*value > 0) verdict.times = *bound / *value;
  return verdict;
}

std::optional<double> scaled(double factor, const std::optional<double>& value) {
  return value ? std::optional(factor * *value) : value;
}

Verdict within(double factor, const Row& row, const std::optional<double>& reference, const char* of) {
  return at_most(fmt::format("<= {:g}x {}", factor, of), row.ours, scaled(factor, reference));
}

Verdict reaches(double factor, const Row& row, const std::optional<double>& reference, const char* of) {
  return at_least(fmt::format(">= {}x {}", factor, of), row.ours, scaled(factor, reference));
}

// The bar is `gain` times as good as a peer. Without all peers of the row it may be missed, but not met.
Verdict beside_peer(std::string bar, const Row& row, const std::optional<double>& peer, double gain) {
  Verdict verdict = row.high_is_better ? at_least(std::move(bar), row.ours, scaled(gain, peer))
                                       : at_most(std::move(bar), row.ours, scaled(1 / gain, peer));
  if (verdict.met == true && row.lacks_peer) verdict.met.reset();
  return verdict;
}

Verdict reaches(double factor, const Row& row, const char* of) { return reaches(factor, row, row.limit, of); }

Verdict absolute(const Row& row, double bound) {
  return at_most(fmt::format("<= {:g} {}", bound, row.unit), row.ours, bound);
}

Verdict instructions(const Row& row) {
  static const std::map<std::string, double> kBounds{{"p_instructions", 12},
                                                     {"g_instructions", 12},
                                                     {"fadd_instructions", 14},
                                                     {"enqueue_instructions", 6},
                                                     {"dequeue_instructions", 11},
                                                     {"sendrecv_instructions", 200},
                                                     {"net_rma_p_instructions", 150},
                                                     {"net_rma_g_instructions", 150},
                                                     {"net_rma_put_nbi_instructions", 150},
                                                     {"net_rma_p_private_instructions", 150},
                                                     {"net_rma_g_private_instructions", 150},
                                                     {"net_rma_put_nbi_private_instructions", 150}};
  // The bar is for one cell. Rows for longer queues and for polling an empty one have no bar.
  if (row.state.ends_with("from empty") || row.state.ends_with("of three")) return {};
  const auto found = kBounds.find(row.name);
  return found == kBounds.end() ? Verdict{} : absolute(row, found->second);
}

Verdict barrier(const Row& row) {
  if (row.pes == 2) return within(2, row, row.limit, "limit");
  const double us = row.pes == 8 ? 25 : 60;
  return at_most(fmt::format("<= {:g} us", us), row.ours, us * (row.unit == "ns" ? 1000 : 1));
}

Verdict collective(const Row& row, const Rows& all) {
  if (row.bytes > 8) return reaches(0.8, row, "limit");
  std::optional<double> barrier_ns;
  for (const Row& other : all)
    if (other.name == "barrier" && other.pes == row.pes) barrier_ns = other.ours;
  return within(3, row, barrier_ns, "barrier");
}

// Nothing but the first reduction takes longer than the barrier may; nothing grows faster than n log n, within noise.
Verdict coll_node(const Row& row, const Rows& all) {
  static const std::map<int, double> kFirst{{64, 10}, {256, 25}, {1000, 200}}, kLater{{256, 1.5}, {1000, 10}};
  const auto& bounds = row.state == "first reduce" ? kFirst : kLater;
  const auto bound = bounds.find(row.pes);
  if (bound == bounds.end()) return {};
  Verdict verdict = absolute(row, bound->second);
  for (const Row& other : all) {
    if (other.name != row.name || other.state != row.state || other.pes != 64 || row.state == "first reduce") continue;
    constexpr double kSpread = 2;
    const double growth = row.pes * std::log(row.pes) / (64 * std::log(64));
    const Verdict slower = at_most(verdict.bar, row.ours, scaled(kSpread * growth, other.ours));
    if (slower.met == false) verdict = slower;
  }
  return verdict;
}

// Barriers have bars of their own; a reduction takes at most 1.3 of them.
Verdict coll_nodes(const Row& row, const Rows& all) {
  static const std::map<int, double> kBarrier{{64, 5}, {128, 15}, {256, 40}};
  const auto bound = kBarrier.find(row.pes);
  if (row.state == "barrier" && bound != kBarrier.end()) return absolute(row, bound->second);
  if (row.state != "reduce") return {};
  for (const Row& other : all)
    if (other.name == row.name && other.pes == row.pes && other.state == "barrier")
      return within(1.3, row, other.ours, "barrier");
  return {};
}

Verdict scale_connections(const Row& row) {
  const double leader = 2 * std::ceil(std::log2(row.hosts)) + 2;
  return absolute(row, row.state == "leader" ? leader : 2);
}

// Over a job of one node.
Verdict scale_world(const Row& row) {
  if (row.state == "init") return absolute(row, 500);
  if (row.unit != "KiB" || !row.limit) return {};
  const double more_mib = row.state == "arena" ? 16 : 4;
  return at_most(fmt::format("<= one node + {:g} MiB", more_mib), row.ours, *row.limit + more_mib * 1024);
}

double start_bound(const Row& row) {
  if (row.pes <= 2) return 25;
  if (row.pes <= 64) return 600;
  return row.pes <= 256 ? 4000 : 3000;
}

const Row* find_row(const Rows& all, const std::string& name, int pes, const std::string& word) {
  for (const Row& row : all)
    if (row.name == name && row.pes == pes && row.state.ends_with(word)) return &row;
  return nullptr;
}

Verdict of_messages(const Row& row, const Rows& all) {
  const std::string& name = row.name;
  if (name == "sendrecv" && row.bytes == 8) return within(1.6, row, row.limit, "limit");
  if (name == "lmt_mapped" || name == "lmt_cma") return reaches(0.9, row, "limit");
  if (name == "am_roundtrip") return within(2, row, row.limit, "limit");
  if (name == "queue_put" || name == "queue_fadd") return within(3, row, row.limit, "limit");
  if (name == "queue_busy_target" && row.state.ends_with("p99")) return absolute(row, 1000);
  if (name.starts_with("match_") && row.state.ends_with("depth 10000")) {
    const Row* first = find_row(all, name, row.pes, "depth 1");
    return within(2, row, first != nullptr ? first->ours : std::nullopt, "depth 1");
  }
  if (name == "alltoall_messages" && row.pes > 2) {
    const Row* pair = find_row(all, name, 2, "");
    return reaches(0.5, row, pair != nullptr ? pair->ours : std::nullopt, "2 PEs");
  }
  if (name == "alltoall_share" && row.pes > 2) return at_least(">= 0.5 of mean", row.ours, 0.5);
  return {};
}

bool is_net(const Row& row) { return !row.transport.empty(); }

// Twice the processes on the same number of hosts may take 1.5 times the bar of one process for each host.
Verdict net_barrier(const Row& row, const Rows& all) {
  constexpr double kPair = 2.6, kCrowd = 1.5;
  if (row.pes == 2) return within(kPair, row, row.raw, "raw one-way");
  if (row.hosts != 2) return {};
  for (const Row& other : all)
    if (other.name == row.name && other.pes == 2 && other.beside_mpi == row.beside_mpi)
      return within(kPair * kCrowd, row, other.raw, "raw one-way");
  return {};
}

Verdict net_rate(const Row& row) {
  constexpr double kAsked = 20, kRawAtLeast = 60;
  const bool enough = !row.raw || *row.raw >= kRawAtLeast;
  Row bounded = row;
  bounded.limit = enough ? std::optional(kAsked) : *row.raw * (kAsked / kRawAtLeast);
  return reaches(1, bounded, enough ? "20 Mops/s" : "a third of raw");
}

// Of small operations in a loop, whatever else the machine carries.
Verdict net_stream_rate(const Row& row) {
  constexpr double kTcp = 15, kOthers = 8;
  Row bounded = row;
  bounded.limit = row.transport == "tcp" ? kTcp : kOthers;
  return reaches(1, bounded, row.transport == "tcp" ? "15 Mops/s" : "8 Mops/s");
}

// Of small operations that bring a result.
Verdict net_fetch_rate(const Row& row) {
  constexpr double kEthernet = 8, kOthers = 10;
  Row bounded = row;
  bounded.limit = row.transport == "ethernet" ? kEthernet : kOthers;
  return reaches(1, bounded, row.transport == "ethernet" ? "8 Mops/s" : "10 Mops/s");
}

// Rows of bench/ethernet, whose limit is our own tcp. A job that waits for nothing costs at most a hundredth of a core.
Verdict open_mx_verdict(const Row& row) {
  if (row.name == "idle_cpu") return absolute(row, 1);
  if (row.name == "eth_goodput") return reaches(0.5, row, "our tcp");
  // Two jobs of one kind; tcp beside ethernet has no bar.
  if (row.name != "eth_fairness" || !row.state.starts_with("ethernet beside ethernet")) return {};
  constexpr double kFair = 0.9;
  Row bounded = row;
  bounded.limit = kFair;
  return reaches(1, bounded, "0.9");
}

// Messages of a frame or a few, with frames of 9000 bytes.
Verdict put_signal_beside_tcp(const Row& row) {
  if (row.state.find("mtu 9000") == std::string::npos) return {};
  if (row.bytes == 4096) return within(0.8, row, row.limit, "our tcp");
  return row.bytes == std::size_t{64} << 10 ? within(1 + kNoise, row, row.limit, "our tcp") : Verdict{};
}

// The limit of frames is our own tcp. The bars are those of both.
Verdict ethernet_verdict(const Row& row) {
  const std::string& name = row.name;
  if (name == "net_put_signal") return put_signal_beside_tcp(row);
  if (name == "net_p_rate") {
    Row bounded = row;
    bounded.limit = 10;
    return reaches(1, bounded, "10 Mops/s");
  }
  if ((name == "net_put" || name == "net_get") && row.bytes >= 1 << 20) return reaches(0.9, row, row.raw, "raw frames");
  if (row.bytes != 8) return {};
  if (name != "net_pingpong" && name != "net_put_quiet" && name != "net_get" && name != "net_fadd") return {};
  if (row.ours && row.raw && *row.ours > 1.3 * *row.raw) return within(1.3, row, row.raw, "raw frames");
  return within(0.55, row, row.limit, "our tcp");
}

// Over shm the kernel copies on a core that the target may need; that is reported without a bar.
Verdict rma_busy(const Row& row) {
  if (row.state != "target computes, strict provider") return {};
  return within(1.5, row, row.limit, "a target that waits");
}

Verdict net_verdict(const Row& row, const Rows& all) {
  const std::string& name = row.name;
  if (name == "net_rma_get_busy" || name == "net_rma_put_busy") return rma_busy(row);
  if (name == "net_rma_wake") return row.state.starts_with("waits 1000 ms") ? Verdict{} : absolute(row, 50);
  if (name == "net_rma_wait_cpu") return absolute(row, 5);
  const bool is_beside_other = row.state.find(", beside ") != std::string::npos;
  if (name.starts_with("net_rma_") && is_beside_other) return {};  // it may have mapped the memory
  if (name == "net_rma_threads") return reaches(0.85, row, "2 x one thread");
  if (name == "net_ablation") return {};
  if (name.ends_with("_instructions")) return instructions(row);
  if (name.starts_with("eth_") || name.starts_with("kernel_") || name == "idle_cpu") return open_mx_verdict(row);
  const bool is_collective = name == "net_barrier" || name == "net_reduce";
  if (name == "net_get_nbi_rate" || name == "net_fetch_add_nbi_rate") return net_fetch_rate(row);
  if (row.transport == "ethernet" && !is_collective && name != "net_sendrecv" && (row.raw || name == "net_p_rate"))
    return ethernet_verdict(row);
  if (name == "net_busy_target") return row.state.find("p99") != std::string::npos ? absolute(row, 1000) : Verdict{};
  if (name == "net_agent_idle_cpu") return absolute(row, 1);
  if (name == "net_agent_cost") return within(1.05, row, row.limit, "without it");
  if (name == "net_start") return within(2, row, row.limit, "empty MPICH");
  if (name == "net_barrier") return net_barrier(row, all);
  if (name == "net_p_rate" || name == "net_atomic_add_rate" || name == "net_put_signal_rate")
    return net_stream_rate(row);
  const bool beside_raw = row.raw && row.limit == row.raw;
  if (name == "net_sendrecv")
    return beside_raw && (row.bytes == 8 || row.bytes == std::size_t{1} << 20) ? within(1.2, row, row.limit, "raw")
                                                                               : Verdict{};
  if (row.unit == "GB/s" && row.bytes >= std::size_t{1} << 20)
    return beside_raw ? reaches(0.9, row, "raw") : reaches(1 - kNoise, row, "plain program");
  if (!beside_raw || row.bytes != 8) return {};
  if (name == "net_pingpong" || name == "net_put_signal") return within(1.15, row, row.limit, "raw");
  if (name == "net_put_quiet" || name == "net_get" || name == "net_fadd") return within(1.2, row, row.limit, "raw");
  if (name == "net_put_nbi_rate") return net_rate(row);
  return {};
}

// Raw frames beside the TCP of the peers: short operations of all kinds are at least twice as fast, and short
// collectives take at most 0.6 of their time.
Verdict ethernet_against_peer(const Row& row, const std::optional<double>& best) {
  constexpr double kCollective = 0.6, kHalf = 0.5;
  const bool is_collective = row.name == "net_barrier" || row.name == "net_reduce";
  const bool is_short = row.bytes <= 8 && !row.high_is_better && row.name != "net_sendrecv";
  if (!is_short) return {};
  const double factor = is_collective ? kCollective : kHalf;
  return beside_peer(fmt::format("<= {:g}x the peers", factor), row, best, 1 / factor);
}

// Bars beside the MPIs: short collectives take half their time, other rows are not slower.
Verdict net_against_peer(const Row& row) {
  const auto best = row.best_peer();
  if ((!best && !row.lacks_peer) || row.name == "net_ablation") return {};
  if (row.transport == "ethernet") return ethernet_against_peer(row, best);
  if (row.name == "net_gups") return beside_peer(">= 20x OSHMEM", row, best, 20);
  static const std::set<std::string> kCollectives{"net_reduce", "net_alltoall", "net_broadcast"};
  const bool half = row.beside_mpi && kCollectives.count(row.name) != 0 && row.bytes != 0 && row.bytes <= 1024;
  return beside_peer(half ? "2x faster" : "not slower", row, best, half ? 2 : 1 - kNoise);
}

// Rows of messages below tasks.
Verdict tasks_messages_verdict(const Row& row) {
  const std::string& name = row.name;
  if (name == "tasks_unexpected" || name == "tasks_during_handler") {
    static const std::map<std::size_t, double> kBounds{{1024, 1.3}, {4096, 1.6}, {16384, 2}};
    const auto bound = kBounds.find(row.bytes);
    return bound == kBounds.end() ? Verdict{} : within(bound->second, row, row.limit, "expected");
  }
  if (name == "tasks_posted" || name == "tasks_match_misses") return within(1.1, row, row.limit, "one receive");
  if (name == "tasks_bypass") return within(1 + kNoise, row, row.limit, "without it");
  if (name == "tasks_both_ways") return reaches(0.9, row, "one way");
  if (name == "tasks_fcollect" || name == "tasks_ring") return within(1.1, row, row.limit, "the best");
  return {};
}

// Rows of remote tasks (bench/tasks). What the limit is stands in docs/benchmarks.md.
Verdict tasks_verdict(const Row& row) {
  const std::string& name = row.name;
  const auto is_of = [&](const char* words) { return row.state.ends_with(words); };
  if (name == "tasks_histogram" && is_of("tcp")) {
    Row bounded = row;
    bounded.limit = 15;
    return reaches(1, bounded, "15 M/s");
  }
  if (name == "tasks_histogram") return reaches(1 - kNoise, row, "atomics");
  if (name == "tasks_gathering") return is_of("tcp") ? reaches(5, row, "ungathered") : Verdict{};
  if (name == "tasks_cpu")
    return row.bytes == 4096 && is_of("ungathered") ? within(2, row, row.limit, "16 B") : Verdict{};
  if (name == "tasks_multicast") return within(1, row, row.limit, "n/2 sends");
  if (name == "tasks_silent_pe") return absolute(row, 200);
  if (name == "tasks_stencil" && row.state.starts_with("8 objects")) {
    const bool delayed = row.state.find("without delay") == std::string::npos;
    return within(delayed ? 0.62 : 1.05, row, row.limit, "1 object");
  }
  if (name == "tasks_mesh") return row.pes >= 16 ? within(0.7, row, row.limit, "direct") : Verdict{};
  if (name == "tasks_alltoall") return within(1.1, row, row.limit, "better of both");
  if (name != "tasks_late_reduce") return tasks_messages_verdict(row);
  Row bounded = row;
  bounded.limit = 16;
  return reaches(1, bounded, "16 ms");
}

}  // namespace

std::optional<double> Row::best_peer() const {
  if (!openmpi || !mpich) return openmpi ? openmpi : mpich;
  return high_is_better ? std::max(*openmpi, *mpich) : std::min(*openmpi, *mpich);
}

Verdict against_limit(const Row& row, const Rows& all) {
  static const std::set<std::string> kAtomics{"fadd", "cswap", "swap", "add_double"};
  static const std::set<std::string> kCollectives{"reduce", "broadcast", "fcollect", "alltoall"};
  const std::string& name = row.name;
  if (is_net(row)) return net_verdict(row, all);
  if (name == "p" || name == "g" || name == "put_quiet") return within(1.5, row, row.limit, "limit");
  if (name.ends_with("_instructions")) return instructions(row);
  if (name == "pingpong" && row.pes == 2) return within(1.25, row, row.limit, "limit");
  if (name == "pingpong") return at_most("<= 10 us", row.ours, 10'000);
  if (kAtomics.count(name) != 0) return within(1.3, row, row.limit, "limit");
  if (name == "put" || name == "get" || name == "put_at" || name == "get_at") return reaches(0.95, row, "limit");
  if (name == "put_nbi_rate") return reaches(0.5, row, "limit");
  if (name == "barrier") return barrier(row);
  if (kCollectives.count(name) != 0) return collective(row, all);
  if (name == "idle_cpu") return absolute(row, 5);
  if (name == "start") return absolute(row, start_bound(row));
  if (name == "coll_node") return coll_node(row, all);
  if (name == "coll_nodes") return coll_nodes(row, all);
  if (name == "scale_connections") return scale_connections(row);
  if (name == "scale_world") return scale_world(row);
  if (name.starts_with("node_peer_team_")) return within(1.2, row, row.limit, "one node");
  if (name.starts_with("node_peer_")) return within(1.15, row, row.limit, "one node");
  if (name == "rss") return absolute(row, row.pes <= 2 ? 6 : 12);
  if (name.starts_with("tasks_")) return tasks_verdict(row);
  if (name == "threads_rate") return reaches(0.8, row, "2 x one thread");
  return of_messages(row, all);
}

static Verdict against_mpi(const Row& row) {
  static const std::set<std::string> kNotSlower{"tasks_unexpected", "tasks_expected",  "tasks_posted",
                                                "tasks_one_way",    "tasks_both_ways", "tasks_fcollect"};
  if (kNotSlower.count(row.name) != 0 && row.best_peer())
    return beside_peer("not slower", row, row.best_peer(), 1 - kNoise);
  if (row.name == "tasks_stencil" && row.state.starts_with("8 objects with delay"))
    return beside_peer("ahead of both", row, row.best_peer(), 1);
  static const std::set<std::string> kAsked{"sendrecv", "halo"};
  if (kAsked.count(row.name) == 0 || row.bytes > std::size_t{4} << 20) return {};
  return beside_peer("ahead of both", row, row.best_peer(), 1);
}

Verdict against_peer(const Row& row) {
  if (row.name.starts_with("tasks_") && !row.beside_mpi) return {};
  if (is_net(row)) return net_against_peer(row);
  if (row.beside_mpi) return against_mpi(row);
  static const std::set<std::string> kAlone{"coll_node", "coll_nodes", "scale_connections"};
  if (kAlone.count(row.name) != 0 || row.name.starts_with("node_peer_")) return {};  // peers are not measured
  static const std::set<std::string> kThree{"p", "g", "put_quiet"};
  static const std::set<std::string> kTwo{"fadd", "cswap", "swap", "add_double", "barrier"};
  double factor = 1;
  if (kThree.count(row.name) != 0) factor = 3;
  if (kTwo.count(row.name) != 0) factor = 2;
  if (row.name == "pingpong") factor = 1.5;
  return beside_peer(factor > 1 ? fmt::format("{:g}x faster", factor) : std::string("not slower"), row, row.openmpi,
                     factor > 1 ? factor : 1 - kNoise);
}

}  // namespace shmemx::bench
