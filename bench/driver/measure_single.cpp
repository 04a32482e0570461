// Measurements of programs that print their results in one run, and of the launcher.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "../support/stats.hpp"
#include "dumps.hpp"
#include "measure.hpp"

namespace shmemx::bench {
namespace {

const Variant& variant_at(const Settings& settings, int v) {
  return v == 0 ? settings.ours : v == 1 ? settings.limit : settings.openmpi;
}

// Runs `program` once for each variant, with further options.
std::vector<Finished> run_all(const Settings& settings, const std::string& program, const Arguments& options,
                              Milliseconds limit) {
  std::vector<Finished> runs;
  for (int v = 0; v < 3; ++v) {
    const Variant& variant = variant_at(settings, v);
    Finished finished{false, variant.missing, {}, 0};
    if (variant.missing.empty()) {
      Arguments arguments = command(settings, variant, program, 2);
      arguments.insert(arguments.end(), options.begin(), options.end());
      finished = run_once(arguments, limit);
      if (!finished.ok) std::cerr << fmt::format("bench: {}: {} {}\n", variant.label, program, finished.why);
    }
    runs.push_back(finished);
  }
  return runs;
}

std::string remark_of(const Settings& settings, const std::string& program, const std::vector<Finished>& runs) {
  std::string remark;
  for (int v = 0; v < 3; ++v)
    if (const auto& run = runs[static_cast<std::size_t>(v)]; !run.ok)
      remark += fmt::format("{}: {} {}. ", variant_at(settings, v).label, program, run.why);
  return remark;
}

// Instructions of each loop by name, from the dumps that callgrind left.
std::map<std::string, double> read_dumps(const std::string& directory) {
  LoopTotals totals;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::ifstream dump(file.path());
    CountedLoop loop;
    for (std::string line; std::getline(dump, line);) {
      loop.take(line);
      if (line.starts_with("totals: ") && !loop.name.empty())
        totals[loop.name][loop.iterations] = std::stod(line.substr(8));
    }
  }
  return per_iteration(totals);
}

struct Starts {
  std::vector<double> wall_ms;
  std::vector<double> rss_mib;
  std::string why;
};

// Starts plain processes one after the other, which run side by side, and waits for all of them.
Finished start_plain(const Settings& settings, int count) {
  const std::string program = settings.limit.programs + "/hello";
  return run_once({"sh", "-c", "i=0; while [ $i -lt $1 ]; do \"$2\" & i=$((i+1)); done; wait", "sh",
                   std::to_string(count), program},
                  Milliseconds(30'000));
}

void start_once(const Settings& settings, const Variant& variant, int pes, Starts& starts) {
  if (!variant.missing.empty()) {
    starts.why = variant.missing;
    return;
  }
  const Finished run = variant.launcher.empty() ? start_plain(settings, pes)
                                                : run_once(command(settings, variant, "hello", pes),
                                                           Milliseconds(settings.full ? 120'000 : 60'000));
  std::istringstream text(run.output);
  int lines = 0;
  for (std::string word; text >> word;) {
    double kib = 0;
    if (word != "rss_kib" || !(text >> kib)) continue;
    starts.rss_mib.push_back(kib / 1024);
    ++lines;
  }
  if (run.ok && lines == pes) {
    starts.wall_ms.push_back(run.wall_ms);
  } else {
    starts.why = run.ok ? fmt::format("only {} of {} PEs reported", lines, pes) : run.why;
  }
}

void add_start_rows(const Settings& settings, int pes, Starts (&starts)[3], Rows& rows) {
  Row start{.name = "start", .pes = pes, .unit = "ms", .state = "launch to end"};
  Row rss{.name = "rss", .pes = pes, .unit = "MiB", .state = "after init"};
  for (int v = 0; v < 3; ++v) {
    if (starts[v].wall_ms.empty()) {
      const std::string remark =
          fmt::format("{}: start of {} PEs {}. ", variant_at(settings, v).label, pes, starts[v].why);
      std::cerr << "bench: " << remark << "\n";
      start.remark += remark;
      rss.remark += remark;
      continue;
    }
    start.*kFigures[v] = median_of(starts[v].wall_ms);
    rss.*kFigures[v] = median_of(starts[v].rss_mib);
  }
  if (wanted(settings, "start")) rows.push_back(start);
  if (wanted(settings, "rss") && pes != 64) rows.push_back(rss);
}

}  // namespace

std::map<std::string, double> count_instructions(const Settings& settings, const Variant& variant,
                                                 const std::string& program) {
  const std::string directory = settings.scratch + "/" + program + "." + variant.label;
  std::filesystem::create_directories(directory);
  const Arguments wrapper{"valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + directory + "/out.%p"};
  const Finished run = run_once(command(settings, variant, program, 2, wrapper), Milliseconds(60'000));
  if (!run.ok) std::cerr << fmt::format("bench: {}: callgrind {}\n", variant.label, run.why);
  return read_dumps(directory);
}

Rows measure_idle_cpu(const Settings& settings) {
  Rows rows;
  if (!wanted(settings, "idle_cpu")) return rows;
  const int seconds = settings.full ? 10 : 2;
  std::cerr << fmt::format("bench: idle_cpu, {} s each\n", seconds);
  const auto runs = run_all(settings, "idle_cpu", {"--budget", std::to_string(seconds * 1000)},
                            Milliseconds(seconds * 3000 + 20'000));
  for (const char* state : {"wait_until", "barrier", "lock"}) {
    Row row{.name = "idle_cpu", .pes = 2, .unit = "%", .state = state, .remark = remark_of(settings, "idle_cpu", runs)};
    for (int v = 0; v < 3; ++v)
      for (const Line& line : parse_lines(runs[static_cast<std::size_t>(v)].output))
        if (line.state == state) row.*kFigures[v] = line.median;
    rows.push_back(row);
  }
  return rows;
}

// The limit of this row is twice what the library itself reaches with one thread.
Rows measure_threads_rate(const Settings& settings) {
  Rows rows;
  if (!wanted(settings, "threads_rate")) return rows;
  std::cerr << "bench: threads_rate\n";
  const auto runs =
      run_all(settings, "threads_rate", {"--budget", settings.full ? "5000" : "1500"}, Milliseconds(15'000));
  Row row{.name = "threads_rate", .pes = 2, .bytes = 8, .unit = "Mops/s", .high_is_better = true, .state = "k=2"};
  row.remark = remark_of(settings, "threads_rate", runs);
  for (const Line& line : parse_lines(runs[0].output)) {
    if (line.state == "k=1") row.limit = 2 * line.median;
    if (line.state == "k=2") row.ours = line.median;
  }
  for (const Line& line : parse_lines(runs[2].output))
    if (line.state == "k=2") row.openmpi = line.median;
  rows.push_back(row);
  return rows;
}

Rows measure_instructions(const Settings& settings) {
  Rows rows;
  std::map<std::string, double> counts[3];
  bool counted = false;
  for (const char* call : {"p", "g", "fadd"}) {
    const std::string name = std::string(call) + "_instructions";
    if (!wanted(settings, name)) continue;
    if (!counted) {
      std::cerr << "bench: instructions, under callgrind\n";
      for (int v = 0; v < 3; ++v)
        if (const Variant& variant = variant_at(settings, v); variant.missing.empty())
          counts[v] = count_instructions(settings, variant, "instructions");
      counted = true;
    }
    Row row{.name = name, .pes = 2, .bytes = 8, .unit = "instructions", .state = "callgrind"};
    for (int v = 0; v < 3; ++v)
      if (counts[v].count(call) != 0 && counts[v].count("reference") != 0)
        row.*kFigures[v] = std::round(counts[v][call] - counts[v]["reference"]);
    rows.push_back(row);
  }
  return rows;
}

Rows measure_start(const Settings& settings, const std::vector<int>& counts) {
  Rows rows;
  if (!wanted(settings, "start") && !wanted(settings, "rss")) return rows;
  for (const int pes : counts) {
    std::cerr << fmt::format("bench: start of {} PEs\n", pes);
    const int repeats = (settings.full ? 3 : 1) * (pes == 2 ? 9 : pes == 64 ? 3 : 1);
    const int peer_repeats = pes == 2 ? 3 : 1;  // seconds each
    Starts starts[3];
    const bool peer_too = pes < 256 || (settings.full && pes == 256);
    if (!peer_too) starts[2].why = "takes over a minute, measured with 256 PEs in a full run only";
    for (int repeat = 0; repeat < repeats; ++repeat)
      for (int v = 0; v < 3; ++v)
        if (v != 2 || (peer_too && repeat < peer_repeats))
          start_once(settings, variant_at(settings, v), pes, starts[v]);
    add_start_rows(settings, pes, starts, rows);
  }
  return rows;
}

}  // namespace shmemx::bench
