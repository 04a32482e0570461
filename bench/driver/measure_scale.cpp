// The rows of many PEs, and those of node peers in a job of several nodes.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <iterator>

#include "../support/stats.hpp"
#include "measure.hpp"

namespace shmemx::bench {
namespace {

constexpr Milliseconds kLimit{60'000};  // of one job
constexpr const char* kCollectives[] = {"first reduce", "barrier", "reduce", "broadcast", "fcollect"};

Variant on_nodes_of(const Settings& settings, int pes_per_node) {
  return in_environment(settings.ours, {fmt::format("SHMEMX_PES_PER_NODE={}", pes_per_node), "SHMEMX_TRANSPORT=tcp"});
}

// The medians of several jobs, since a job has only one first reduction.
Rows coll_rows(const Settings& settings, const Variant& variant, const std::string& name, int pes) {
  std::map<std::string, std::vector<double>> medians;
  std::string remark;
  for (int job = 0; job < (settings.full ? 9 : 3) && remark.empty(); ++job) {
    const Finished run = run_once(command(settings, variant, "coll_node", pes), kLimit);
    if (!run.ok) remark = fmt::format("{} of {} PEs {}. ", name, pes, run.why);
    for (const Line& line : parse_lines(run.output)) medians[line.state].push_back(line.median);
  }
  Rows rows;
  for (const std::string what : kCollectives) {
    Row row{.name = name, .pes = pes, .bytes = what == "barrier" ? 0U : 8U, .unit = "ms", .state = what};
    row.remark = remark;
    if (!medians[what].empty()) row.ours = median_of(medians[what]);
    rows.push_back(row);
  }
  return rows;
}

// A job of two nodes with two PEs each beside a job of one node (the limit), in turns.
Rows node_peer_rows(const Settings& settings) {
  constexpr int kPes = 4;
  const Variant several = on_nodes_of(settings, 2);
  struct Medians {
    std::vector<double> ours, limit;
  };
  std::map<std::pair<std::string, std::size_t>, Medians> medians;
  std::string remark;
  for (int job = 0; job < (settings.full ? 15 : 5) && remark.empty(); ++job) {
    for (const bool one_node : {false, true}) {
      const Finished run = run_once(command(settings, one_node ? settings.ours : several, "node_peer", kPes), kLimit);
      if (!run.ok) remark = fmt::format("node_peer {}. ", run.why);
      for (const Line& line : parse_lines(run.output)) {
        Medians& found = medians[{line.state, line.bytes}];
        (one_node ? found.limit : found.ours).push_back(line.median);
      }
    }
  }
  Rows rows;
  for (const auto& [what, found] : medians) {
    Row row{.name = "node_peer_" + what.first, .pes = kPes, .bytes = what.second, .unit = "ns"};
    row.remark = remark;
    if (!found.ours.empty()) row.ours = median_of(found.ours);
    if (!found.limit.empty()) row.limit = median_of(found.limit);
    rows.push_back(row);
  }
  return rows;
}

// The most connections of a PE in a job of many nodes of one PE, and of two.
Rows connection_rows(const Settings& settings, int nodes, int pes_per_node) {
  const int pes = nodes * pes_per_node;
  const Finished run =
      run_once(command(settings, on_nodes_of(settings, pes_per_node), "scale_connections", pes), kLimit);
  Rows rows;
  for (const Line& line : parse_lines(run.output)) {
    if (line.state == "others" && pes_per_node == 1) continue;  // there are none
    Row row{.name = "scale_connections", .pes = pes, .unit = "count", .state = line.state};
    row.ours = line.median;
    row.hosts = nodes;
    rows.push_back(row);
  }
  if (!run.ok) {
    rows.push_back({.name = "scale_connections", .pes = pes, .unit = "count"});
    rows.back().remark = fmt::format("scale_connections of {} nodes {}. ", nodes, run.why);
  }
  return rows;
}

// What PE 0 has moved through its launcher, as SHMEM_INFO reports it.
Rows launcher_rows(const std::string& output, int pes) {
  Rows rows;
  unsigned long long puts = 0, put_bytes = 0, gets = 0, got_bytes = 0;
  const std::size_t at = output.find(" puts of ");
  const std::size_t begin = at == std::string::npos ? at : output.rfind(':', at);
  if (begin == std::string::npos || std::sscanf(output.c_str() + begin, ": %llu puts of %llu bytes, %llu gets of %llu",
                                                &puts, &put_bytes, &gets, &got_bytes) != 4)
    return rows;
  rows.push_back({.name = "scale_world", .pes = pes, .unit = "count", .state = "launcher, messages of PE 0"});
  rows.back().ours = static_cast<double>(puts + gets);
  rows.push_back({.name = "scale_world", .pes = pes, .unit = "bytes", .state = "launcher, bytes of PE 0"});
  rows.back().ours = static_cast<double>(put_bytes + got_bytes);
  return rows;
}

// Two nodes of two PEs in a world of very many, beside a job on one node (the limit).
Rows world_rows(const Settings& settings, int pes) {
  constexpr int kReal = 4;
  constexpr int kNodePes = 128;
  const Variant world = in_environment(
      settings.ours, {fmt::format("SHMEMX_SYNTHETIC_WORLD={}/{}@0,{}", pes, kNodePes, pes / 2 / kNodePes * kNodePes),
                      "SHMEMX_TRANSPORT=tcp", "SHMEM_INFO=peers"});
  std::map<std::string, double> one_node;
  for (const Line& line : parse_lines(run_once(command(settings, settings.ours, "scale_world", kReal), kLimit).output))
    one_node[line.state] = line.median;
  const Finished run = run_once(command(settings, world, "scale_world", kReal), kLimit);
  Rows rows;
  for (const Line& line : parse_lines(run.output)) {
    Row row{.name = "scale_world", .pes = pes, .unit = line.unit, .state = line.state};
    row.ours = line.median;
    if (one_node.count(line.state) != 0) row.limit = one_node[line.state];
    rows.push_back(row);
  }
  for (const Row& row : launcher_rows(run.output, pes)) rows.push_back(row);
  for (Row& row : rows) row.hosts = (pes + kNodePes - 1) / kNodePes;
  if (!run.ok) {
    rows.push_back({.name = "scale_world", .pes = pes, .unit = "KiB"});
    rows.back().remark = fmt::format("scale_world of {} PEs {}. ", pes, run.why);
  }
  return rows;
}

// The start of a job of 256 nodes.
Rows nodes_start_rows(const Settings& settings) {
  Settings ours_alone = settings;
  ours_alone.ours = on_nodes_of(settings, 1);
  ours_alone.limit.missing = ours_alone.openmpi.missing = "not compared";
  Rows rows = measure_start(ours_alone, {256});
  for (Row& row : rows) {
    row.hosts = 256;
    row.state += ", pretended nodes";
  }
  return rows;
}

void append(Rows& rows, Rows more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Rows measure_scale(const Settings& settings) {
  Rows rows;
  if (wanted(settings, "node_peer")) {
    std::cerr << "bench: node_peer\n";
    rows = node_peer_rows(settings);
  }
  for (const int pes : {64, 256, 1000}) {
    if (!wanted(settings, "coll_node")) break;
    std::cerr << fmt::format("bench: coll_node of {} PEs\n", pes);
    append(rows, coll_rows(settings, settings.ours, "coll_node", pes));
  }
  for (const int nodes : {64, 128, 256}) {
    if (!wanted(settings, "coll_nodes")) break;
    std::cerr << fmt::format("bench: coll_nodes of {} nodes\n", nodes);
    append(rows, coll_rows(settings, on_nodes_of(settings, 1), "coll_nodes", nodes));
  }
  for (const int pes_per_node : {1, 2}) {
    if (!wanted(settings, "scale_connections")) break;
    constexpr int kNodes = 256;
    std::cerr << fmt::format("bench: connections of {} nodes of {}\n", kNodes, pes_per_node);
    append(rows, connection_rows(settings, kNodes, pes_per_node));
  }
  for (const int pes : {10'000, 100'000, 1'000'000}) {
    if (!wanted(settings, "scale_world")) break;
    std::cerr << fmt::format("bench: a world of {} PEs\n", pes);
    append(rows, world_rows(settings, pes));
  }
  append(rows, measure_start(settings, {1000}));
  append(rows, nodes_start_rows(settings));
  return rows;
}

}  // namespace shmemx::bench
