// Counted instructions of puts and gets past the target's CPU: those of this library, without the network's own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "dumps.hpp"
#include "measure.hpp"

namespace shmemx::bench {
namespace {

constexpr const char* kProgram = "net_rma_instructions";

// Adds up the cost lines of a dump. They name their object before: "ob=(1) /path", later "ob=(1)". The line behind
// "calls=" is the cost of a call, which the called function has as its own.
class OwnCosts {
 public:
  void take(const std::string& line) {
    if (line.starts_with("ob=")) return enter(line.substr(3));
    if (line.starts_with("cob=")) return note(line.substr(4));
    if (line.starts_with("calls=")) {
      is_call_ = true;
      return;
    }
    const bool is_cost =
        !line.empty() && (std::isdigit(line[0]) != 0 || line[0] == '+' || line[0] == '-' || line[0] == '*');
    if (!is_cost) return;
    if (!std::exchange(is_call_, false) && is_own_) sum_ += std::stod(line.substr(line.find(' ') + 1));
  }
  double sum() const { return sum_; }

 private:
  void note(const std::string& text) {
    const std::size_t space = text.find(' ');
    if (space != std::string::npos) names_[text.substr(0, space)] = text.substr(space + 1);
  }
  void enter(const std::string& text) {
    note(text);
    is_own_ = names_[text.substr(0, text.find(' '))].find("libshmemx") != std::string::npos;
  }

  std::map<std::string, std::string> names_;
  bool is_own_ = false;
  bool is_call_ = false;
  double sum_ = 0;
};

// Instructions of each loop by name, the least of several counts. Each thread has dumps of its own; those of the first
// one count.
std::map<std::string, double> read_own_dumps(const std::string& directory) {
  LoopTotals totals;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::ifstream dump(file.path());
    CountedLoop loop;
    int thread = 1;
    OwnCosts costs;
    for (std::string line; std::getline(dump, line);) {
      static const std::string kThread = "thread: ";
      loop.take(line);
      if (line.starts_with(kThread)) thread = std::stoi(line.substr(kThread.size()));
      costs.take(line);
    }
    if (loop.name.empty() || thread != 1) continue;
    const auto [known, is_new] = totals[loop.name].emplace(loop.iterations, costs.sum());
    if (!is_new) known->second = std::min(known->second, costs.sum());
  }
  return per_iteration(totals);
}

}  // namespace

Rows measure_net_instructions(const Settings& settings, const Variant& variant) {
  Rows rows;
  std::map<std::string, double> counts;
  for (const char* call : {"p", "g", "put_nbi", "p_private", "g_private", "put_nbi_private"}) {
    const std::string name = std::string("net_rma_") + call + "_instructions";
    if (!wanted(settings, name) && !wanted(settings, "net_rma")) continue;
    if (counts.empty()) {
      std::cerr << "bench: instructions of RMA, under callgrind\n";
      const std::string directory = settings.scratch + "/" + kProgram;
      std::filesystem::create_directories(directory);
      const Arguments wrapper{"valgrind", "-q", "--tool=callgrind", "--separate-threads=yes",
                              "--callgrind-out-file=" + directory + "/out.%p"};
      const Finished run = run_once(command(settings, variant, kProgram, 2, wrapper), Milliseconds(60'000));
      if (!run.ok) std::cerr << fmt::format("bench: {}: callgrind {}\n", variant.label, run.why);
      counts = read_own_dumps(directory);
    }
    Row row{.name = name, .pes = 2, .bytes = 8, .unit = "instructions", .state = "callgrind"};
    if (counts.count(call) != 0) row.ours = std::round(counts[call]);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace shmemx::bench
