#include "tasks_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <thread>

#include "../support/stats.hpp"

namespace shmemx::bench {
namespace {

constexpr Milliseconds kLimit{120'000};     // of one job
constexpr Milliseconds kPeerLimit{30'000};  // of an MPI's quick one: some need minutes where PEs share cores

int rounds_of(const Settings& settings) { return settings.full ? 7 : 3; }

bool is_rate(const std::string& name, const std::string& unit) {
  return unit == "M/s" || unit == "GB/s" || name == "tasks_late_reduce";
}

// Between pretended nodes the MPIs use TCP, too.
Variant beside(const TasksJob& job, const Variant& mpi) {
  if (job.place == "node" || !mpi.missing.empty()) return mpi;
  if (job.beside_oshmem) return in_environment(mpi, {"UCX_TLS=tcp,self"});
  return in_environment(mpi, {"OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,self", "UCX_TLS=tcp,self"});
}

// Ranks of MPICH that wait do not yield, so jobs with more ranks than cores get one round only.
bool is_crowded(const TasksJob& job) { return job.pes > static_cast<int>(std::thread::hardware_concurrency()); }

// The libraries beside ours. One that fails is not run again, and stops no other.
class OtherLibraries {
 public:
  OtherLibraries(const Settings& settings, const TasksJob& job) : settings_(settings), job_(job) {}
  void run(TasksFigures& figures, std::string& remark) {
    if (!job_.beside_mpi) return;
    const Variant& first = job_.beside_oshmem ? settings_.openmpi : settings_.openmpi_messages;
    if (has_failed_.count(2) == 0 && !run_into(settings_, job_, beside(job_, first), 2, figures, remark))
      has_failed_.insert(2);
    if (job_.beside_oshmem || has_failed_.count(3) != 0) return;
    if (!run_into(settings_, job_, beside(job_, settings_.mpich), 3, figures, remark) || is_crowded(job_))
      has_failed_.insert(3);
  }

 private:
  const Settings& settings_;
  const TasksJob& job_;
  std::set<std::size_t> has_failed_;  // columns
};

}  // namespace

Variant placed(const Settings& settings, const TasksJob& job, const Arguments& environment) {
  Arguments all = environment;
  if (job.place != "node") {
    all.push_back(fmt::format("SHMEMX_PES_PER_NODE={}", job.per_node));
    all.push_back("SHMEMX_TRANSPORT=" + job.place);
  }
  return all.empty() ? settings.ours : in_environment(settings.ours, all);
}

TasksFigures::Entry& TasksFigures::entry_of(const Key& key) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& one) { return one.first == key; });
  return found != entries_.end() ? found->second : entries_.emplace_back(key, Entry{}).second;
}

void TasksFigures::add(const std::vector<Line>& lines, std::size_t column) {
  for (const Line& line : lines) {
    const bool is_comparator = line.note == kComparatorNote;
    if (is_comparator && column >= kFirstPeer) continue;  // that of ours counts
    Entry& entry = entry_of({line.name, line.state, line.bytes});
    entry.unit = line.unit;
    entry.medians[is_comparator ? 1 : column].push_back(line.median);
  }
}

void TasksFigures::move_to(Rows& rows, const TasksJob& job, const std::string& remark) const {
  for (const auto& [what, entry] : entries_) {
    const auto& [name, state, bytes] = what;
    Row row{.name = job.name.empty() ? name : job.name, .pes = job.pes, .bytes = bytes, .unit = entry.unit};
    row.high_is_better = is_rate(name, entry.unit);
    row.beside_mpi = job.beside_mpi;
    row.state = state;
    if (!job.words.empty()) row.state += (row.state.empty() ? "" : ", ") + job.words;
    row.remark = remark;
    for (std::size_t column = 0; column < kVariants; ++column)
      if (!entry.medians[column].empty()) row.*kFigures[column] = median_of(entry.medians[column]);
    rows.push_back(row);
  }
}

bool run_into(const Settings& settings, const TasksJob& job, const Variant& variant, std::size_t column,
              TasksFigures& figures, std::string& remark) {
  if (!variant.missing.empty()) return true;
  Arguments line = command(settings, variant, job.program, job.pes);
  const bool has_few = column == 3 && is_crowded(job);
  line.insert(line.end(), {job.repeats, has_few ? "1" : settings.full ? "9" : "3"});
  line.insert(line.end(), job.options.begin(), job.options.end());
  if (!job.only.empty()) line.insert(line.end(), {"--case", job.only});
  const bool is_quick_peer = column >= kFirstPeer && !settings.full;
  const Finished run = run_once(line, is_quick_peer ? kPeerLimit : kLimit);
  if (!run.ok) remark += fmt::format("{}: {} of {} PEs {}. ", variant.label, job.program, job.pes, run.why);
  std::vector<Line> lines = parse_lines(run.output);
  if (!job.instead.empty()) std::erase_if(lines, [](const Line& l) { return l.note == kComparatorNote; });
  figures.add(lines, column);
  return run.ok;
}

void measure_job(const Settings& settings, const TasksJob& job, Rows& rows) {
  const std::string name = job.name.empty() ? job.only : job.name;
  if (!wanted(settings, name.empty() ? job.program : name)) return;
  std::cerr << fmt::format("bench: {} of {} PEs, {}\n", name.empty() ? job.program : name, job.pes, job.place);
  TasksFigures figures;
  std::string remark;
  OtherLibraries beside_ours(settings, job);
  bool works = true;
  for (int round = 0; round < rounds_of(settings) && works; ++round) {
    works = run_into(settings, job, placed(settings, job, job.environment), 0, figures, remark);
    if (!job.instead.empty()) works &= run_into(settings, job, placed(settings, job, job.instead), 1, figures, remark);
    beside_ours.run(figures, remark);
  }
  const std::size_t before = rows.size();
  figures.move_to(rows, job, remark);
  if (rows.size() == before) rows.push_back({.name = name, .pes = job.pes, .state = job.words, .remark = remark});
}

void measure_rivals(const Settings& settings, const TasksJob& job, const std::vector<Rival>& rivals, Rows& rows) {
  if (!wanted(settings, job.name)) return;
  std::cerr << fmt::format("bench: {} of {} PEs, {}, {} algorithms or times\n", job.name, job.pes, job.place,
                           rivals.size());
  TasksFigures own;
  std::vector<TasksFigures> others(rivals.size());
  std::string remark;
  OtherLibraries beside_ours(settings, job);
  bool works = true;
  for (int round = 0; round < rounds_of(settings) && works; ++round) {
    works = run_into(settings, job, placed(settings, job, job.environment), 0, own, remark);
    for (std::size_t i = 0; i < rivals.size(); ++i)
      works &= run_into(settings, job, placed(settings, job, rivals[i].environment), 0, others[i], remark);
    beside_ours.run(own, remark);
  }
  Rows chosen, by;
  own.move_to(chosen, job, remark);
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    TasksJob other = job;
    other.name = job.name + "_by";
    other.beside_mpi = false;
    other.words = rivals[i].name + (job.words.empty() ? "" : ", ") + job.words;
    others[i].move_to(by, other, remark);
  }
  for (Row& row : chosen)
    for (Row& other : by) {
      if (other.bytes != row.bytes || !other.ours) continue;
      row.limit = row.limit ? std::min(*row.limit, *other.ours) : *other.ours;
      other.limit = row.ours;
    }
  if (chosen.empty()) chosen.push_back({.name = job.name, .pes = job.pes, .state = job.words, .remark = remark});
  rows.insert(rows.end(), chosen.begin(), chosen.end());
  rows.insert(rows.end(), by.begin(), by.end());
}

}  // namespace shmemx::bench
