// Rows of the paper on message-driven programs that are about messages and about waiting: receives posted before and
// after arrival, behind others, both directions at once, an all-to-all broadcast, and spinning.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "dumps.hpp"
#include "tasks_jobs.hpp"

namespace shmemx::bench {
namespace {

TasksJob messages(const std::string& place, const std::string& row) {
  return {.program = "tasks_messages", .pes = 2, .place = place, .only = row, .words = place, .beside_mpi = true};
}

void measure_messages(const Settings& settings, Rows& rows) {
  for (const std::string place : {"node", "tcp"}) {
    for (const char* row : {"tasks_unexpected", "tasks_posted", "tasks_bandwidth"})
      measure_job(settings, messages(place, row), rows);
    measure_job(
        settings,
        {.program = "tasks_scheduler", .pes = 2, .place = place, .only = "tasks_during_handler", .words = place}, rows);
    // The bypass of the queue of posted receives: blocking receives with and without it.
    TasksJob bypass = messages(place, "tasks_blocking");
    bypass.name = "tasks_bypass";
    bypass.beside_mpi = false;
    bypass.instead = {"SHMEMX_RECEIVE_BYPASS=0"};
    measure_job(settings, bypass, rows);
  }
  // More pairs of nodes.
  for (const int nodes : {4, 8}) {
    TasksJob pairs = messages("tcp", "tasks_bandwidth");
    pairs.pes = nodes;
    measure_job(settings, pairs, rows);
  }
}

// The misses of the first-level data cache in a line of costs, whose events the dump has named before.
class Misses {
 public:
  void take(const std::string& line) {
    if (line.starts_with("events: ")) names_ = line.substr(8);
    if (!line.starts_with("totals: ")) return;
    std::istringstream names(names_), costs(line.substr(8));
    double cost = 0;
    for (std::string name; names >> name && costs >> cost;)
      if (name == "D1mr" || name == "D1mw") sum_ += cost;
  }
  double sum() const { return sum_; }

 private:
  std::string names_;
  double sum_ = 0;
};

// Misses of a match by "receives_<n>".
std::map<std::string, double> count_misses(const Settings& settings, const Variant& variant, std::string& remark) {
  if (!variant.missing.empty()) return {};
  const std::string directory = settings.scratch + "/misses." + variant.label;
  std::filesystem::create_directories(directory);
  const Arguments wrapper{"valgrind", "-q", "--tool=callgrind", "--cache-sim=yes",
                          "--callgrind-out-file=" + directory + "/out.%p"};
  const Finished run = run_once(command(settings, variant, "tasks_match_misses", 2, wrapper), Milliseconds(120'000));
  if (!run.ok) remark += fmt::format("{}: misses of a match: callgrind {}. ", variant.label, run.why);
  LoopTotals totals;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::ifstream dump(file.path());
    CountedLoop loop;
    Misses misses;
    for (std::string line; std::getline(dump, line);) {
      loop.take(line);
      misses.take(line);
    }
    if (!loop.name.empty()) totals[loop.name][loop.iterations] = misses.sum();
  }
  return per_iteration(totals);
}

void measure_misses(const Settings& settings, Rows& rows) {
  if (!wanted(settings, "tasks_match_misses")) return;
  std::cerr << "bench: cache misses of a match, under callgrind\n";
  std::string remark;
  const std::map<std::string, double> counts[] = {count_misses(settings, settings.ours, remark),
                                                  {},
                                                  count_misses(settings, settings.openmpi_messages, remark),
                                                  count_misses(settings, settings.mpich, remark)};
  for (const int receives : {1, 5, 9, 13, 17, 33}) {
    Row row{.name = "tasks_match_misses", .pes = 2, .bytes = 8, .unit = "misses", .remark = remark};
    row.state = fmt::format("{} receives", receives);
    row.beside_mpi = true;
    for (std::size_t column = 0; column < kVariants; ++column) {
      const auto found = counts[column].find(fmt::format("receives_{}", receives));
      if (found != counts[column].end()) row.*kFigures[column] = found->second;
    }
    if (const auto one = counts[0].find("receives_1"); one != counts[0].end()) row.limit = one->second;
    rows.push_back(row);
  }
}

void measure_collect(const Settings& settings, Rows& rows) {
  std::vector<Rival> rivals{{"leaders", {"SHMEMX_COLLECT_LEADERS=64m"}}, {"pairs", {"SHMEMX_COLLECT_LEADERS=0"}}};
  for (const int group : {2, 4})
    rivals.push_back({fmt::format("prefix of {}", group), {fmt::format("SHMEMX_COLLECT_GROUP={}", group)}});
  for (const int nodes : {4, 8, 16}) {
    if (nodes > 8 && !settings.full) break;
    measure_rivals(settings,
                   {.program = "tasks_collect",
                    .pes = nodes,
                    .place = "tcp",
                    .name = "tasks_fcollect",
                    .words = fmt::format("{} nodes", nodes),
                    .beside_mpi = true},
                   rivals, rows);
  }
}

// A program that computes, beside all jobs.
Arguments busy_program() { return {"sh", "-c", "while :; do :; done"}; }

void measure_ring(const Settings& settings, Rows& rows) {
  if (!wanted(settings, "tasks_ring")) return;
  const ErrorOutput errors;
  const Child busy(busy_program(), -1, errors.fd());
  std::vector<Rival> rivals;
  for (const int us : {0, 2, 20, 100, 200, 500})
    rivals.push_back(
        {fmt::format("spinning {} us", us), {fmt::format("SHMEMX_SPIN_NS={}", 1000 * us), "SHMEMX_YIELD_US=0"}});
  for (const std::string place : {"node", "tcp"})
    measure_rivals(settings,
                   {.program = "tasks_scheduler",
                    .pes = 2,
                    .place = place,
                    .only = "tasks_ring",
                    .name = "tasks_ring",
                    .words = place},
                   rivals, rows);
}

}  // namespace

void measure_tables(const Settings& settings, Rows& rows) {
  measure_messages(settings, rows);
  measure_misses(settings, rows);
  measure_collect(settings, rows);
  measure_ring(settings, rows);
}

}  // namespace shmemx::bench
