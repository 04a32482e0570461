// The rows of remote tasks and of collectives in the background, on one node and on pretended nodes. Jobs that are
// compared take turns.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "../support/stats.hpp"
#include "measure.hpp"

namespace shmemx::bench {
namespace {

constexpr Milliseconds kLimit{120'000};  // of one job
constexpr const char* kComparator = "comparator";

// A program with a number of PEs, and the rows that its lines become.
struct Job {
  std::string program;
  int pes;
  std::string place;           // "node", or a transport between pretended nodes of one PE
  std::string only = {};       // the row that it measures; empty: all
  std::string name = {};       // of the row if that differs
  std::string words = {};      // at the end of its state
  Arguments environment = {};  // of ours
  Arguments instead = {};      // of a second job of ours, which is the limit; empty: the program prints it
  bool beside_mpi = false;
  Arguments options = {};  // of the program
};

Variant placed(const Settings& settings, const Job& job, const Arguments& environment) {
  Arguments all = environment;
  if (job.place != "node") {
    all.push_back("SHMEMX_PES_PER_NODE=1");
    all.push_back("SHMEMX_TRANSPORT=" + job.place);
  }
  return all.empty() ? settings.ours : in_environment(settings.ours, all);
}

// The medians of the rounds, by the state and size of a line, in the order of the columns.
class Figures {
 public:
  void add(const std::vector<Line>& lines, std::size_t column) {
    for (const Line& line : lines) {
      Entry& entry = entries_[{line.name, line.state, line.bytes}];
      entry.unit = line.unit;
      entry.medians[line.note == kComparator ? 1 : column].push_back(line.median);
    }
  }
  void move_to(Rows& rows, const Job& job, const std::string& remark) const {
    for (const auto& [what, entry] : entries_) {
      const auto& [name, state, bytes] = what;
      Row row{.name = job.name.empty() ? name : job.name, .pes = job.pes, .bytes = bytes, .unit = entry.unit};
      row.high_is_better = entry.unit == "M/s" || name == "tasks_late_reduce";
      row.beside_mpi = job.beside_mpi;
      row.state = state;
      if (!job.words.empty()) row.state += (row.state.empty() ? "" : ", ") + job.words;
      row.remark = remark;
      for (std::size_t column = 0; column < kVariants; ++column)
        if (!entry.medians[column].empty()) row.*kFigures[column] = median_of(entry.medians[column]);
      rows.push_back(row);
    }
  }

 private:
  struct Entry {
    std::string unit;
    std::array<std::vector<double>, kVariants> medians;
  };
  std::map<std::tuple<std::string, std::string, std::size_t>, Entry> entries_;
};

void measure_job(const Settings& settings, const Job& job, Rows& rows) {
  const std::string name = job.name.empty() ? job.only : job.name;
  if (!wanted(settings, name.empty() ? job.program : name)) return;
  std::cerr << fmt::format("bench: {} of {} PEs, {}\n", name.empty() ? job.program : name, job.pes, job.place);
  Figures figures;
  std::string remark;
  const auto run = [&](const Variant& variant, std::size_t column) {
    if (!variant.missing.empty()) return;
    Arguments line = command(settings, variant, job.program, job.pes);
    line.insert(line.end(), {"--rounds", settings.full ? "9" : "3"});
    line.insert(line.end(), job.options.begin(), job.options.end());
    if (!job.only.empty()) line.insert(line.end(), {"--case", job.only});
    const Finished run = run_once(line, kLimit);
    if (!run.ok) remark += fmt::format("{}: {} of {} PEs {}. ", variant.label, job.program, job.pes, run.why);
    std::vector<Line> lines = parse_lines(run.output);
    if (!job.instead.empty()) std::erase_if(lines, [](const Line& l) { return l.note == kComparator; });
    figures.add(lines, column);
  };
  for (int round = 0; round < (settings.full ? 7 : 3) && remark.empty(); ++round) {
    run(placed(settings, job, job.environment), 0);
    if (!job.instead.empty()) run(placed(settings, job, job.instead), 1);
    if (!job.beside_mpi) continue;
    run(settings.openmpi_messages, 2);
    run(settings.mpich, 3);
  }
  const std::size_t before = rows.size();
  figures.move_to(rows, job, remark);
  if (rows.size() == before) rows.push_back({.name = name, .pes = job.pes, .state = job.words, .remark = remark});
}

// Over tcp the table fits into a cache: there the network is measured.
std::vector<Job> jobs_of_aggregation() {
  std::vector<Job> jobs;
  for (const std::string place : {"tcp", "node"}) {
    Job job{.program = "tasks_aggregation", .pes = 2, .place = place, .words = place};
    if (place == "tcp") job.options = {"--table-kib", "64"};
    for (const char* row : {"tasks_histogram", "tasks_gather_index"}) {
      job.only = row;
      jobs.push_back(job);
    }
    job.only = "tasks_histogram";
    job.name = "tasks_gathering";
    job.instead = {"SHMEMX_TASKS_GATHER=0"};
    jobs.push_back(job);
  }
  return jobs;
}

std::vector<Job> jobs_of_costs() {
  return {{.program = "tasks_cost", .pes = 2, .place = "node", .name = "tasks_cpu", .words = "node"},
          {.program = "tasks_cost", .pes = 2, .place = "tcp", .name = "tasks_cpu", .words = "tcp"},
          {.program = "tasks_cost",
           .pes = 2,
           .place = "tcp",
           .name = "tasks_cpu",
           .words = "tcp, ungathered",
           .environment = {"SHMEMX_TASKS_GATHER=0"}}};
}

// The mesh beside direct exchange, and what is chosen beside the better of both.
void measure_alltoall(const Settings& settings, Rows& rows) {
  for (const int nodes : {4, 8, 16, 32, 64}) {
    if (nodes > 16 && !settings.full) break;
    Job job{.program = "tasks_background", .pes = nodes, .place = "tcp", .only = "tasks_alltoall"};
    job.words = fmt::format("{} nodes", nodes);
    job.name = "tasks_mesh";
    job.environment = {"SHMEMX_ALLTOALL_MESH=512"};
    job.instead = {"SHMEMX_ALLTOALL_MESH=0"};
    Rows mesh;
    measure_job(settings, job, mesh);
    Rows chosen;
    job.name = "tasks_alltoall";
    job.environment = {};
    job.instead = {};
    job.beside_mpi = nodes <= 16;
    measure_job(settings, job, chosen);
    for (Row& row : chosen)
      for (const Row& other : mesh)
        if (other.bytes == row.bytes && other.ours && other.limit) row.limit = std::min(*other.ours, *other.limit);
    rows.insert(rows.end(), mesh.begin(), mesh.end());
    rows.insert(rows.end(), chosen.begin(), chosen.end());
  }
}

}  // namespace

Rows measure_tasks(const Settings& settings) {
  Rows rows;
  for (const Job& job : jobs_of_aggregation()) measure_job(settings, job, rows);
  for (const Job& job : jobs_of_costs()) measure_job(settings, job, rows);
  for (const std::string place : {"tcp", "node"})
    measure_job(settings,
                {.program = "tasks_stencil", .pes = 2, .place = place, .name = "tasks_stencil", .words = place}, rows);
  measure_alltoall(settings, rows);
  for (const int nodes : {2, 4, 8, 16})
    measure_job(settings,
                {.program = "tasks_patterns", .pes = nodes, .place = "tcp", .only = "tasks_multicast", .words = "tcp"},
                rows);
  for (const std::string place : {"tcp", "node"})
    measure_job(settings,
                {.program = "tasks_patterns", .pes = 4, .place = place, .only = "tasks_silent_pe", .words = place},
                rows);
  measure_job(settings,
              {.program = "tasks_background",
               .pes = 3,
               .place = "tcp",
               .only = "tasks_late_reduce",
               .words = "tcp",
               .beside_mpi = true},
              rows);
  return rows;
}

}  // namespace shmemx::bench
