// Measurements of messages from programs that print their results in one run: counted instructions, all-to-all, and a
// target that computes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

#include "../support/stats.hpp"
#include "measure.hpp"

namespace shmemx::bench {
namespace {

Finished run_variant(const Settings& settings, const Variant& variant, const std::string& program, int pes,
                     const Arguments& options) {
  Arguments arguments = command(settings, variant, program, pes);
  arguments.insert(arguments.end(), options.begin(), options.end());
  Finished finished = run_once(arguments, Milliseconds(40'000));
  if (!finished.ok) std::cerr << fmt::format("bench: {}: {} ({} PEs) {}\n", variant.label, program, pes, finished.why);
  return finished;
}

std::string why(const Variant& variant, const std::string& program, const Finished& run) {
  return run.ok ? "" : fmt::format("{}: {} {}. ", variant.label, program, run.why);
}

// Adds medians of several runs; the variants take turns.
void add_alltoall_rows(const Settings& settings, int pes, Rows& rows) {
  const auto variants = variants_of(settings, Peers::messages);
  std::array<std::vector<double>, kVariants> rates, shares;
  Row rate{
      .name = "alltoall_messages", .pes = pes, .bytes = 8, .unit = "Mops/s", .high_is_better = true, .state = "all"};
  Row share{
      .name = "alltoall_share", .pes = pes, .bytes = 8, .unit = "of mean", .high_is_better = true, .state = "fewest"};
  const Arguments options{"--budget", settings.full ? "2000" : "400"};
  for (int round = 0; round < 3; ++round)
    for (std::size_t v = 0; v < kVariants; ++v) {
      if (!variants[v]->missing.empty()) continue;
      const Finished run = run_variant(settings, *variants[v], "alltoall_messages", pes, options);
      if (round == 0) rate.remark += why(*variants[v], "alltoall_messages", run);
      for (const Line& line : parse_lines(run.output))
        (line.name == rate.name ? rates : shares)[v].push_back(line.median);
    }
  for (std::size_t v = 0; v < kVariants; ++v) {
    if (!rates[v].empty()) rate.*kFigures[v] = median_of(rates[v]);
    if (!shares[v].empty()) share.*kFigures[v] = median_of(shares[v]);
  }
  rate.beside_mpi = share.beside_mpi = true;
  if (wanted(settings, rate.name)) rows.push_back(rate);
  if (wanted(settings, share.name)) rows.push_back(share);
}

Row counted_row(const std::string& name) {
  Row row{.name = name, .pes = 2, .bytes = 8, .unit = "instructions", .state = "callgrind"};
  row.beside_mpi = true;
  return row;
}

}  // namespace

// bench_queue counts the queue layer alone; names such as enqueue_behind tell the situation.
Rows measure_queue_instructions(const Settings& settings) {
  Rows rows;
  const std::string kinds[] = {"enqueue", "dequeue"};
  if (!wanted(settings, "enqueue_instructions") && !wanted(settings, "dequeue_instructions")) return rows;
  std::cerr << "bench: instructions of the queue, under callgrind\n";
  const std::string directory = settings.scratch + "/queue";
  const Finished run = run_once({settings.ours.programs + "/../bench_queue", "--only", "counts", "--output", directory},
                                Milliseconds(60'000));
  std::ifstream csv(directory + "/queue.csv");
  std::map<std::string, int> found;
  for (std::string text; std::getline(csv, text);) {
    const auto line = parse_line(text);
    for (const std::string& kind : kinds) {
      if (!line || line->name.rfind(kind + "_", 0) != 0 || !wanted(settings, kind + "_instructions")) continue;
      Row row = counted_row(kind + "_instructions");
      row.pes = 1;
      row.state = "callgrind, " + line->name.substr(kind.size() + 1);
      row.ours = line->median;
      std::replace(row.state.begin(), row.state.end(), '_', ' ');
      rows.push_back(row);
      ++found[kind];
    }
  }
  for (const std::string& kind : kinds) {
    if (found[kind] != 0 || !wanted(settings, kind + "_instructions")) continue;
    rows.push_back(counted_row(kind + "_instructions"));
    rows.back().remark = "ours: bench_queue " + (run.ok ? std::string("counted nothing") : run.why) + ". ";
  }
  return rows;
}

Rows measure_message_instructions(const Settings& settings) {
  Rows rows;
  const std::string program = "message_instructions";
  std::array<std::map<std::string, double>, kVariants> counts;
  bool counted = false;
  for (const char* call : {"sendrecv", "send", "recv"}) {
    Row row = counted_row(std::string(call) + "_instructions");
    if (!wanted(settings, row.name)) continue;
    if (!counted) {
      std::cerr << "bench: instructions of messages, under callgrind\n";
      const auto variants = variants_of(settings, Peers::messages);
      for (std::size_t v = 0; v < kVariants; ++v)
        if (v != 1 && variants[v]->missing.empty()) counts[v] = count_instructions(settings, *variants[v], program);
      counted = true;
    }
    for (std::size_t v = 0; v < kVariants; ++v)
      if (counts[v].count(call) != 0 && counts[v].count("reference") != 0)
        row.*kFigures[v] = std::round(counts[v][call] - counts[v]["reference"]);
    rows.push_back(row);
  }
  return rows;
}

Rows measure_alltoall_messages(const Settings& settings) {
  Rows rows;
  if (!wanted(settings, "alltoall_messages") && !wanted(settings, "alltoall_share")) return rows;
  for (const int pes : {2, 8}) {
    std::cerr << fmt::format("bench: alltoall_messages with {} PEs\n", pes);
    add_alltoall_rows(settings, pes, rows);
  }
  return rows;
}

Rows measure_queue_busy_target(const Settings& settings) {
  Rows rows;
  if (!wanted(settings, "queue_busy_target")) return rows;
  std::cerr << "bench: queue_busy_target\n";
  const Arguments options{"--budget", settings.full ? "10000" : "2000"};
  Variant ours = settings.ours;
  ours.launcher.insert(ours.launcher.begin(), {"env", "SHMEMX_NODE_PATH=queue"});
  const Finished runs[] = {run_variant(settings, ours, "queue_busy_target", 2, options),
                           run_variant(settings, settings.limit, "queue_busy_target", 2, options)};
  std::map<std::string, double> limits;
  for (const Line& line : parse_lines(runs[1].output)) limits[line.state + ", " + line.note] = line.median;
  for (const Line& line : parse_lines(runs[0].output)) {
    Row row{.name = "queue_busy_target", .pes = 2, .bytes = 8, .unit = "us", .state = line.state + ", " + line.note};
    row.ours = line.median;
    if (limits.count(row.state) != 0) row.limit = limits[row.state];
    row.beside_mpi = true;
    rows.push_back(row);
  }
  if (rows.empty()) {
    Row row{.name = "queue_busy_target", .pes = 2, .bytes = 8, .unit = "us"};
    row.remark = why(settings.ours, "queue_busy_target", runs[0]);
    row.beside_mpi = true;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace shmemx::bench
