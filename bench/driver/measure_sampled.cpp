// The sampled cases of one node, and what all measurements share: commands and the lines that programs print.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>

#include "interleaved.hpp"

namespace shmemx::bench {

bool wanted(const Settings& settings, const std::string& name) {
  return settings.only.empty() || std::find(settings.only.begin(), settings.only.end(), name) != settings.only.end();
}

std::array<const Variant*, kVariants> variants_of(const Settings& settings, Peers peers) {
  switch (peers) {
    case Peers::shmem:
      return {&settings.ours, &settings.limit, &settings.openmpi, nullptr};
    case Peers::messages:
      return {&settings.ours, &settings.limit, &settings.openmpi_messages, &settings.mpich};
    case Peers::none:
      break;
  }
  return {&settings.ours, &settings.limit, nullptr, nullptr};
}

Arguments command(const Settings& settings, const Variant& variant, const std::string& program, int pes,
                  const Arguments& wrapper) {
  Arguments arguments;
  for (std::string word : variant.launcher) {
    if (const auto at = word.find("{n}"); at != std::string::npos) word.replace(at, 3, std::to_string(pes));
    arguments.push_back(word);
  }
  arguments.insert(arguments.end(), wrapper.begin(), wrapper.end());
  arguments.push_back(variant.programs + "/" + (variant.program.empty() ? program : variant.program));
  if (program == "hello") return arguments;
  if (variant.launcher.empty()) arguments.insert(arguments.end(), {"--pes", std::to_string(pes)});
  arguments.insert(arguments.end(), {"--cpus", settings.cpus, "--far", fmt::format("{}", settings.far_ns)});
  return arguments;
}

Variant in_environment(Variant variant, const Arguments& settings) {
  variant.launcher.insert(variant.launcher.begin(), settings.begin(), settings.end());
  variant.launcher.insert(variant.launcher.begin(), "env");
  return variant;
}

std::optional<Line> parse_line(const std::string& text) {
  std::istringstream fields(text);
  std::array<std::string, 10> field;
  for (std::string& value : field)
    if (!std::getline(fields, value, ',')) return std::nullopt;
  if (field[0] == "name") return std::nullopt;
  Line line{field[0], field[3], field[7], field[8], 0, 0, 0, 0};
  try {
    line.pes = std::stoi(field[1]);
    line.bytes = std::stoul(field[2]);
    line.median = std::stod(field[4]);
    line.samples = std::stoul(field[9]);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return line;
}

std::vector<Line> parse_lines(const std::string& output) {
  std::vector<Line> lines;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);)
    if (auto parsed = parse_line(line)) lines.push_back(*parsed);
  return lines;
}

namespace {

struct ProgramRun {
  const char* program;
  int pes;
  Peers peers = Peers::shmem;
  const char* environment = "";  // of ours: NAME=value
  const char* cases = "";        // how the name with the note begins
};
constexpr const char* kQueuePath = "SHMEMX_NODE_PATH=queue";
constexpr ProgramRun kRuns[] = {
    {"latency", 2},
    {"atomics", 2},
    {"bandwidth", 2},
    {"distances", 2},
    {"pingpong", 2},
    {"pingpong", 8},
    {"barrier", 2},
    {"barrier", 8},
    {"barrier", 16},
    {"collectives", 2},
    {"sendrecv", 2, Peers::messages},
    {"lmt", 2, Peers::none, "SHMEMX_LMT=mapped", "lmt_mapped"},
    {"lmt", 2, Peers::none, "SHMEMX_LMT=cma", "lmt_cma"},
    {"lmt", 2, Peers::none, "SHMEMX_LMT=copy", "lmt_copy"},
    {"lmt", 2, Peers::none, "SHMEMX_LMT=queue", "lmt_queue"},
    {"active", 2, Peers::none},
    {"queue_latency", 2, Peers::none, kQueuePath},
    {"halo", 4, Peers::messages, "", "halo two-sided"},
    {"halo", 4, Peers::messages, "", "halo one-sided direct"},
    {"halo", 4, Peers::messages, kQueuePath, "halo one-sided queue"},
    {"message_barrier", 2, Peers::messages, "", "message_barrier direct"},
    {"message_barrier", 2, Peers::messages, kQueuePath, "message_barrier queue"},
    {"message_barrier", 4, Peers::messages, "", "message_barrier direct"},
    {"message_barrier", 4, Peers::messages, kQueuePath, "message_barrier queue"},
    {"message_barrier", 8, Peers::messages, "", "message_barrier direct"},
    {"message_barrier", 8, Peers::messages, kQueuePath, "message_barrier queue"},
    {"message_barrier", 16, Peers::messages, "", "message_barrier direct"},
    {"message_barrier", 16, Peers::messages, kQueuePath, "message_barrier queue"},
};

bool belongs_to(const ListedCase& what, const ProgramRun& run) {
  return (what.name + " " + what.note).starts_with(run.cases);
}

constexpr int kLaunches = 3;

Turns turns_of(const Settings& settings, const ProgramRun& run) {
  Turns turns{.program = run.program, .pes = run.pes, .variants = {}, .beside_mpi = run.peers != Peers::shmem};
  const auto variants = variants_of(settings, run.peers);
  for (std::size_t v = 0; v < kVariants; ++v)
    if (variants[v] != nullptr) turns.variants[v] = *variants[v];
  if (*run.environment != '\0') turns.variants[0] = in_environment(*turns.variants[0], {run.environment});
  const bool shared = run.pes > 2;
  const bool many = run.peers == Peers::messages;  // four at a time, with many cases
  const int rounds = shared ? std::max(3, settings.rounds / 2) : settings.rounds;
  turns.budget_ms = settings.budget_ms * (!shared ? 1 : many ? 2 : 3);
  turns.launches = run.peers == Peers::none ? rounds : many && !shared ? std::min(kLaunches, rounds) : 1;
  turns.rounds = std::max(1, (many && !shared ? rounds * 3 / 4 : rounds) / turns.launches);
  return turns;
}

}  // namespace

Rows measure_sampled(const Settings& settings) {
  Rows rows;
  for (const ProgramRun& run : kRuns) {
    const auto cases = list_cases(settings.limit.programs + "/" + run.program);
    const auto is_wanted = [&](const ListedCase& what) { return belongs_to(what, run) && wanted(settings, what.name); };
    if (std::none_of(cases.begin(), cases.end(), is_wanted)) continue;
    std::cerr << fmt::format("bench: {} with {} PEs {}\n", run.program, run.pes, run.environment);
    const Turns turns = turns_of(settings, run);
    Interleaved interleaved(settings, turns);
    for (int launch = 0; launch < turns.launches; ++launch) {
      interleaved.launch();
      for (std::size_t i = 0; i < cases.size(); ++i)
        if (is_wanted(cases[i])) interleaved.measure(static_cast<int>(i), cases[i]);
    }
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (is_wanted(cases[i])) rows.push_back(interleaved.row(static_cast<int>(i), cases[i]));
  }
  return rows;
}

}  // namespace shmemx::bench
