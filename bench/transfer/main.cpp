// bench_transfer: measures how fast, at what cost and under which conditions two processes of one node can move data.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "copy.hpp"
#include "driver/process.hpp"
#include "output.hpp"
#include "plan.hpp"
#include "tasks.hpp"

namespace {
using namespace shmemx::bench;

struct CommandLine {
  std::string mode = "quick";
  std::string output = ".";
  std::string copy = kCopyNames[0];
  std::vector<std::string> only;
  bool spoil = false;
  int rounds = 0;
  double budget_ms = 0;
  double limit_s = 0;
  double far_ns = 90;
  std::size_t arena_mib = 0;
  std::size_t largest = std::size_t{16} << 20;
};

Settings settings_of(const CommandLine& line) {
  const bool full = line.mode == "full";
  Settings settings;
  settings.mode = line.mode;
  settings.only = line.only;
  settings.rounds = line.rounds > 0 ? line.rounds : full ? 15 : 3;
  settings.budget_ms = line.budget_ms > 0 ? line.budget_ms : full ? 40 : 12;
  settings.limit_s = line.limit_s > 0 ? line.limit_s : full ? 900 : 35;
  settings.size_step = full ? 2 : 4;
  settings.far_ns = line.far_ns;
  settings.arena_bytes = line.arena_mib << 20;
  settings.largest_bytes = line.largest;
  return settings;
}

int run(const CommandLine& line) {
  for (int method = 0; method < kCopyMethods; ++method)
    if (line.copy == kCopyNames[method]) copy_method = method;
  spoil_data = line.spoil;
  std::filesystem::create_directories(line.output);
  const Results results = measure_all(settings_of(line));
  write_json(results, line.output + "/results.json");
  const std::string table = text(results);
  std::ofstream(line.output + "/results.txt") << table;
  write_plots(results, line.output);
  std::cout << table << "Written: results.json, results.txt and plots in " << line.output << "\n";
  for (const Measured& measured : results.mechanisms)
    if (measured.failures != 0) return 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  CLI::App app{"Measures the ways of moving data between two processes of one node."};
  app.add_option("mode", line.mode, "quick or full")->check(CLI::IsMember({"quick", "full"}));
  app.add_option("--output", line.output, "folder for the results");
  std::vector<std::string> names;
  for (const MechanismInfo& info : mechanisms()) names.push_back(info.name);
  app.add_option("--only", line.only, "names of the mechanisms wanted")->delimiter(',')->check(CLI::IsMember(names));
  app.add_option("--copy", line.copy, "how processes copy")->check(CLI::IsMember({"memcpy", "movsb", "stream", "vectors"}));
  app.add_option("--rounds", line.rounds, "turns of each mechanism")->check(CLI::Range(1, 1000));
  app.add_option("--budget", line.budget_ms, "milliseconds of one size in one turn")->check(CLI::Range(0.1, 10'000.0));
  app.add_option("--limit", line.limit_s, "seconds after which no further round begins")->check(CLI::PositiveNumber);
  app.add_option("--far", line.far_ns, "a cache line takes longer one way, in ns: the state is far");
  app.add_option("--arena", line.arena_mib, "MiB on either side through which buffers are shifted");
  app.add_flag("--spoil", line.spoil, "damage what arrives: the checks must see it, and the exit status is 1");
  app.add_option("--largest", line.largest, "bytes of the largest transfer")
      ->check(CLI::Range(std::size_t{4096}, std::size_t{1} << 30));
  CLI11_PARSE(app, argc, argv);
  continue_in_own_session();
  try {
    return run(line);
  } catch (const std::exception& error) {
    std::cerr << "bench_transfer: " << error.what() << "\n";
    return 1;
  }
}
