// The sampled cases. All jobs of a program are started and then take turns, a few ten milliseconds each; whoever
// is not measured sleeps. Figures are compared only where they come from the same state of the machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "../support/stats.hpp"
#include "measure.hpp"

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
  arguments.push_back(variant.programs + "/" + program);
  if (program == "hello") return arguments;
  if (variant.launcher.empty()) arguments.insert(arguments.end(), {"--pes", std::to_string(pes)});
  arguments.insert(arguments.end(), {"--cpus", settings.cpus, "--far", fmt::format("{}", settings.far_ns)});
  return arguments;
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
    {"pingpong", 2},
    {"pingpong", 8},
    {"barrier", 2},
    {"barrier", 8},
    {"barrier", 16},
    {"collectives", 2},
    {"sendrecv", 2, Peers::messages},
    {"lmt", 2, Peers::none, "SHMEMX_LMT=mapped", "lmt_mapped"},
    {"lmt", 2, Peers::none, "SHMEMX_LMT=cma", "lmt_cma"},
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

struct ListedCase {
  std::string name, unit, note;
  std::size_t bytes = 0;
  int raw_methods = 1;
  int peer_methods = 1;

  int methods(int variant) const { return variant == 0 ? 1 : variant == 1 ? raw_methods : peer_methods; }
  bool belongs_to(const ProgramRun& run) const { return (name + " " + note).starts_with(run.cases); }
};

std::vector<ListedCase> list_cases(const Settings& settings, const std::string& program) {
  const Finished listed = run_once({settings.limit.programs + "/" + program, "--list"}, Milliseconds(5000));
  std::vector<ListedCase> cases;
  std::istringstream text(listed.output);
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line);
    std::array<std::string, 6> field;
    for (std::string& value : field) std::getline(fields, value, ',');
    cases.push_back({field[0], field[2], field[3], std::stoul(field[1]), std::stoi(field[4]), std::stoi(field[5])});
  }
  return cases;
}

// What one way of one variant gave in one state of the machine.
struct Bin {
  std::vector<double> medians;  // one for each round
  std::size_t samples = 0;
};
using Bins = std::map<std::string, std::vector<Bin>>;  // by state, then by method

std::size_t samples_in(const Bins& bins, const std::string& state) {
  const auto found = bins.find(state);
  if (found == bins.end()) return 0;
  std::size_t most = 0;
  for (const Bin& bin : found->second) most = std::max(most, bin.samples);
  return most;
}

// The state with the most samples of everyone who has any; nobody is compared across states.
std::string common_state(const std::array<Bins, kVariants>& all) {
  std::string best;
  std::size_t best_samples = 0;
  for (const Bins& of_one : all)
    for (const auto& [state, ignored] : of_one) {
      std::size_t fewest = SIZE_MAX;
      for (const Bins& bins : all)
        if (!bins.empty()) fewest = std::min(fewest, samples_in(bins, state));
      if (best.empty() || fewest > best_samples) {
        best = state;
        best_samples = fewest;
      }
    }
  return best;
}

std::optional<double> best_method(const Bins& bins, const std::string& state, bool high_is_better) {
  const auto found = bins.find(state);
  if (found == bins.end()) return std::nullopt;
  std::optional<double> best;
  for (const Bin& bin : found->second) {
    if (bin.medians.empty()) continue;
    const double median = median_of(bin.medians);
    if (!best || (high_is_better ? median > *best : median < *best)) best = median;
  }
  return best;
}

class Interleaved {
 public:
  Interleaved(const Settings& settings, ProgramRun run)
      : settings_(settings), run_(run), variants_(variants_of(settings, run.peers)) {
    const bool shared = run.pes > 2;
    const bool many = run.peers == Peers::messages;  // four at a time, with many cases
    rounds_ = shared ? std::max(3, settings.rounds / 2) : settings.rounds;
    budget_ms_ = settings.budget_ms * (!shared ? 1 : many ? 2 : 3);
    launches_ = run.peers == Peers::none ? rounds_ : many && !shared ? std::min(kLaunches, rounds_) : 1;
    rounds_ = std::max(1, (many && !shared ? rounds_ * 3 / 4 : rounds_) / launches_);
  }

  // Every launch gets other pages. Where memory lies decides about the time of a line no less than where the cores are;
  // nobody shall have luck or misfortune with it for a whole run.
  int launches() const { return launches_; }

  void launch() {
    static int count = 0;
    const std::string directory = fmt::format("{}/{}.{}", settings_.scratch, run_.program, ++count);
    for (auto& job : jobs_) job.reset();
    for (std::size_t v = 0; v < kVariants; ++v) {
      if (variants_[v] == nullptr || !variants_[v]->missing.empty()) continue;
      if (complained_[v]) continue;
      Arguments line = command(settings_, *variants_[v], run_.program, run_.pes);
      if (v == 0 && *run_.environment != '\0') line.insert(line.begin(), {"env", run_.environment});
      jobs_[v] =
          std::make_unique<ServedJob>(line, run_.pes, directory + "." + variants_[v]->label, Milliseconds(30'000));
      report(v);
    }
  }

  void measure(int index, const ListedCase& what) {
    auto& bins = bins_[index];
    for (int round = 0; round < rounds_; ++round, ++turns_)
      for (int turn = 0; turn < kVariants; ++turn) {
        const int v = (turn + turns_) % kVariants;  // nobody is always the first
        for (int method = 0; method < what.methods(v); ++method)
          sample(static_cast<std::size_t>(v), {index, method, budget_ms_}, bins[static_cast<std::size_t>(v)]);
      }
  }

  Row row(int index, const ListedCase& what) {
    const auto& bins = bins_[index];
    Row row{.name = what.name, .pes = run_.pes, .bytes = what.bytes, .unit = what.unit, .remark = remark_};
    row.high_is_better = what.unit == "GB/s" || what.unit == "Mops/s";
    row.beside_mpi = run_.peers != Peers::shmem;
    const std::string state = common_state(bins);
    for (std::size_t v = 0; v < kVariants; ++v) row.*kFigures[v] = best_method(bins[v], state, row.high_is_better);
    row.state = what.note.empty() ? state : state + ", " + what.note;
    return row;
  }

 private:
  static constexpr int kLaunches = 3;

  void report(std::size_t v) {
    if (jobs_[v]->alive() || complained_[v]) return;
    complained_[v] = true;
    remark_ += fmt::format("{}: {} ({} PEs) {}. ", variants_[v]->label, run_.program, run_.pes, jobs_[v]->why());
    std::cerr << "bench: " << remark_ << "\n";
  }

  struct Turn {
    int case_index;
    int method;
    double budget_ms;
  };

  void sample(std::size_t v, const Turn& turn, Bins& bins) {
    if (!jobs_[v] || !jobs_[v]->alive()) return;
    const auto method = static_cast<std::size_t>(turn.method);
    for (const std::string& text :
         jobs_[v]->measure(turn.case_index, turn.method, turn.budget_ms, Milliseconds(20'000))) {
      const auto line = parse_line(text);
      if (!line) continue;
      auto& methods = bins[line->state];
      methods.resize(std::max(methods.size(), method + 1));
      methods[method].medians.push_back(line->median);
      methods[method].samples += line->samples;
    }
    report(v);
  }

  const Settings& settings_;
  ProgramRun run_;
  std::array<const Variant*, kVariants> variants_;
  std::array<std::unique_ptr<ServedJob>, kVariants> jobs_;
  std::map<int, std::array<Bins, kVariants>> bins_;  // by case
  int launches_ = 1;
  int rounds_ = 1;  // of each launch
  int turns_ = 0;
  double budget_ms_ = 0;
  bool complained_[kVariants] = {};
  std::string remark_;
};

}  // namespace

Rows measure_sampled(const Settings& settings) {
  Rows rows;
  for (const ProgramRun& run : kRuns) {
    const auto cases = list_cases(settings, run.program);
    const auto is_wanted = [&](const ListedCase& what) { return what.belongs_to(run) && wanted(settings, what.name); };
    if (std::none_of(cases.begin(), cases.end(), is_wanted)) continue;
    std::cerr << fmt::format("bench: {} with {} PEs {}\n", run.program, run.pes, run.environment);
    Interleaved interleaved(settings, run);
    for (int launch = 0; launch < interleaved.launches(); ++launch) {
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
