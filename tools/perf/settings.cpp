#include "perf/settings.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "perf/amounts.hpp"
#include "perf/tests.hpp"

#ifndef SHMEMX_PROJECT_VERSION
#error "SHMEMX_PROJECT_VERSION is set by the build"
#endif

namespace shmemx::perf {
namespace {

const std::map<std::string, Memory> kMemories = {
    {"heap", Memory::heap}, {"static", Memory::static_data}, {"window", Memory::window}};

std::string list_of_tests() {
  std::string text;
  for (const Test& test : all_tests()) {
    char line[128];
    std::snprintf(line, sizeof line, "  %-22s %s\n", test.name, test.text);
    text += line;
  }
  return text;
}

constexpr const char* kExamples =
    "Examples:\n"
    "  oshrun -n 2 shmem_perf put_latency -s 8\n"
    "  oshrun -n 2 shmem_perf put_bandwidth get_bandwidth -s 1:4M\n"
    "  oshrun -n 4 -hosts a,b shmem_perf put_latency --from 0 --to all\n"
    "  oshrun -n 8 shmem_perf put_rate --from 0..3 --to 4..7 --together\n"
    "  oshrun -n 8 shmem_perf barrier reduce --json";

void check_tests(Settings& settings, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "all") {
      for (const Test& test : all_tests()) {
        if (settings.memory != Memory::window || (test.kind == Kind::one_sided && test.other_loop != nullptr))
          settings.tests.push_back(&test);
      }
      continue;
    }
    const Test* const test = find_test(name);
    if (test == nullptr) throw std::invalid_argument("there is no test '" + name + "'; --list names all");
    if (settings.memory == Memory::window && (test->kind != Kind::one_sided || test->other_loop == nullptr))
      throw std::invalid_argument(name + " has no form for windows");
    settings.tests.push_back(test);
  }
}

struct Raw {
  std::vector<std::string> tests;
  std::string sizes;
  bool list = false;
  bool json = false;
  bool csv = false;
  std::string memory = "heap";
  std::string target = "waits";
};

void add_options(CLI::App& app, Settings& settings, Raw& raw) {
  app.set_version_flag("--version", "shmem_perf (shmemx) " SHMEMX_PROJECT_VERSION);
  app.footer(kExamples);
  app.add_option("tests", raw.tests, "Tests to run, or 'all'; --list names them");
  app.add_option("-s,--sizes", raw.sizes, "Bytes: 8, a list 8,64,1M, or a range 1:4M, which doubles, or 1:4M:4");
  app.add_option("--from", settings.from, "PEs that start operations: 0, a list 0,3, a range 0..3, or all");
  app.add_option("--to", settings.to, "PEs whose memory is accessed; 1 by default");
  app.add_flag("--together", settings.together,
               "The first of --from with the first of --to and so on, at the same time");
  app.add_option("-m,--memory", raw.memory, "Memory that is accessed: heap, static or window")
      ->check(CLI::IsMember({"heap", "static", "window"}).description(""));
  app.add_option("--target", raw.target, "What the target does meanwhile: waits (in the library) or computes")
      ->check(CLI::IsMember({"waits", "computes"}).description(""));
  app.add_option("-i,--iterations", settings.iterations, "Iterations; by default as many as fit into --time")
      ->check(CLI::Range(1L, 1'000'000'000L).description(""));
  app.add_option("-w,--warm-up", settings.warm_up, "Iterations before the measured ones")
      ->check(CLI::Range(0L, 1'000'000'000L).description(""));
  app.add_option("-t,--time", settings.seconds, "Seconds for each row")->check(CLI::Range(1e-4, 3600.).description(""));
  app.add_option("-b,--burst", settings.burst, "Operations that are completed together, in tests of bandwidth and rate")
      ->check(CLI::Range(1L, 1'000'000L).description(""));
  CLI::Option* const json = app.add_flag("--json", raw.json, "Print JSON");
  app.add_flag("--csv", raw.csv, "Print CSV")->excludes(json);
  app.add_flag("--list", raw.list, "Print the tests");
}

CommandLine answer(const std::string& text) {
  CommandLine line;
  line.text = text;
  line.is_answer = true;
  return line;
}

CommandLine wrong(const std::string& text) {
  CommandLine line;
  line.text = text + "; see shmem_perf --help";
  line.is_wrong = true;
  return line;
}

}  // namespace

CommandLine parse(int argc, char** argv) {
  CommandLine line;
  Raw raw;
  CLI::App app("Measures operations between PEs of a job, and prints the route that they take.", "shmem_perf");
  try {
    add_options(app, line.settings, raw);
    app.parse(argc, argv);
    if (raw.list) return answer(list_of_tests());
    if (raw.tests.empty()) return wrong("no test is named, such as put_latency or all");
    line.settings.memory = kMemories.at(raw.memory);
    check_tests(line.settings, raw.tests);
    if (!raw.sizes.empty()) line.settings.sizes = parse_sizes(raw.sizes);
  } catch (const CLI::CallForHelp&) {
    return answer(app.help());
  } catch (const CLI::CallForVersion& version) {
    return answer(version.what() + std::string("\n"));
  } catch (const std::exception& error) {
    return wrong(error.what());
  }
  line.settings.target_computes = raw.target == "computes";
  line.settings.format = raw.json ? Format::json : raw.csv ? Format::csv : Format::table;
  return line;
}

const char* name_of(Memory memory) {
  for (const auto& [name, value] : kMemories) {
    if (value == memory) return name.c_str();
  }
  return "";
}

}  // namespace shmemx::perf
