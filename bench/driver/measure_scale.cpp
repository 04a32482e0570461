// The rows of many PEs, and those of node peers in a job of several nodes.
#include <fmt/format.h>

#include <iostream>

#include "../support/stats.hpp"
#include "measure.hpp"

namespace shmemx::bench {
namespace {

constexpr Milliseconds kLimit{60'000};  // of one job
constexpr const char* kCollectives[] = {"first reduce", "barrier", "reduce", "broadcast", "fcollect"};

// The medians of several jobs, since a job has only one first reduction.
Rows coll_node_rows(const Settings& settings, int pes) {
  std::map<std::string, std::vector<double>> medians;
  std::string remark;
  for (int job = 0; job < (settings.full ? 9 : 3) && remark.empty(); ++job) {
    const Finished run = run_once(command(settings, settings.ours, "coll_node", pes), kLimit);
    if (!run.ok) remark = fmt::format("coll_node of {} PEs {}. ", pes, run.why);
    for (const Line& line : parse_lines(run.output)) medians[line.state].push_back(line.median);
  }
  Rows rows;
  for (const std::string what : kCollectives) {
    Row row{.name = "coll_node", .pes = pes, .bytes = what == "barrier" ? 0U : 8U, .unit = "ms", .state = what};
    row.remark = remark;
    if (!medians[what].empty()) row.ours = median_of(medians[what]);
    rows.push_back(row);
  }
  return rows;
}

// A job of two nodes with two PEs each beside a job of one node (the limit), in turns.
Rows node_peer_rows(const Settings& settings) {
  constexpr int kPes = 4;
  const Variant several = in_environment(settings.ours, {"SHMEMX_PES_PER_NODE=2"});
  struct Medians {
    std::vector<double> ours, limit;
  };
  std::map<std::pair<std::string, std::size_t>, Medians> medians;
  std::string remark;
  for (int job = 0; job < (settings.full ? 15 : 5) && remark.empty(); ++job) {
    for (const bool one_node : {false, true}) {
      const Finished run =
          run_once(command(settings, one_node ? settings.ours : several, "node_peer", kPes), kLimit);
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
    for (Row& row : coll_node_rows(settings, pes)) rows.push_back(std::move(row));
  }
  for (Row& row : measure_start(settings, {1000})) rows.push_back(std::move(row));
  return rows;
}

}  // namespace shmemx::bench
