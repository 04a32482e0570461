// The measurements, each as rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "process.hpp"
#include "rows.hpp"

namespace shmemx::bench {

// One of the three that are compared: a launcher and the folder with its programs.
struct Variant {
  std::string label;
  Arguments launcher;     // "{n}" stands for the number of PEs; empty for plain processes
  std::string programs;   // folder
  std::string missing;    // why there is none; empty where it is there
};

struct Settings {
  Variant ours, limit, openmpi;
  bool full = false;
  double budget_ms = 30;  // of one case of one variant in one round
  int rounds = 9;
  double far_ns = 90;
  std::string cpus;
  std::vector<std::string> only;  // names of results; all where empty
  std::string scratch;
};

bool wanted(const Settings& settings, const std::string& name);
Arguments command(const Settings& settings, const Variant& variant, const std::string& program, int pes,
                  const Arguments& wrapper = {});

// Cases that are sampled in turns: latency, atomics, bandwidth, pingpong, barrier, collectives.
Rows measure_sampled(const Settings& settings);
// What a program answers in one run: idle_cpu, threads_rate, instructions.
Rows measure_idle_cpu(const Settings& settings);
Rows measure_threads_rate(const Settings& settings);
Rows measure_instructions(const Settings& settings);
// start and rss.
Rows measure_start(const Settings& settings);

// The fields of a CSV line of support/report.hpp.
struct Line {
  std::string name, unit, state, note;
  int pes = 0;
  std::size_t bytes = 0, samples = 0;
  double median = 0;
};
std::optional<Line> parse_line(const std::string& text);
std::vector<Line> parse_lines(const std::string& output);

}  // namespace shmemx::bench
