#include "stats/summary.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/clock.hpp"

namespace shmemx::stats {
namespace {

void add(Count& into, const Count& other) noexcept {
  into.operations += other.operations;
  into.bytes += other.bytes;
}

bool is_less(const PeTime& a, const PeTime& b) noexcept { return a.ns != b.ns ? a.ns < b.ns : a.pe < b.pe; }

void keep_least(PeTime& into, const PeTime& other) noexcept {
  if (other.pe >= 0 && (into.pe < 0 || is_less(other, into))) into = other;
}
void keep_most(PeTime& into, const PeTime& other) noexcept {
  if (other.pe >= 0 && (into.pe < 0 || other.ns > into.ns)) into = other;
}

void keep_least_of(PeTime (&into)[kEarlyPes], const PeTime& other) noexcept {
  PeTime next = other;
  for (PeTime& entry : into) {
    if (next.pe < 0) return;
    if (entry.pe < 0 || is_less(next, entry)) std::swap(entry, next);
  }
}

RoutineSummary& entry_of(Summary& summary, const char* name) noexcept {
  for (std::uint32_t i = 0; i < summary.n_routines; ++i) {
    if (std::strncmp(summary.routines[i].name, name, kNameBytes - 1) == 0) return summary.routines[i];
  }
  constexpr std::uint32_t kOthers = kSummaryRoutines - 1;
  const std::uint32_t index = std::min(summary.n_routines, kOthers);
  RoutineSummary& entry = summary.routines[index];
  if (summary.n_routines <= kOthers) {
    ++summary.n_routines;
    std::snprintf(entry.name, sizeof entry.name, "%s", index == kOthers ? "other routines" : name);
  }
  return entry;
}

void add(RoutineSummary& into, const RoutineSummary& other) noexcept {
  into.calls += other.calls;
  into.waits += other.waits;
  into.ns += other.ns;
  keep_least(into.least, other.least);
  keep_most(into.most, other.most);
}

// Equal names may lie at several addresses, so the PE's own time is summed before it is compared with others'.
void summarize_routines(Summary& own, int pe) noexcept {
  for (std::size_t id = 0; id < kRoutines; ++id) {
    const RoutineCounters& counted = counters.routines[id];
    const char* const known = counters.names[id].load(std::memory_order_relaxed);
    if (counted.calls.value() + counted.waits.value() == 0) continue;
    RoutineSummary& entry = entry_of(own, known != nullptr ? known : "other routines");
    entry.calls += counted.calls.value();
    entry.waits += counted.waits.value();
    // A wait within a call is a part of its time.
    entry.ns += counted.calls.value() != 0 ? counted.call_ns.value() : counted.wait_ns.value();
    entry.least = entry.most = {pe, entry.ns};
  }
}

void summarize_peers(Summary& own, int pe) noexcept {
  constexpr auto kMostGroups = static_cast<std::uint32_t>(kGroups);
  own.pes_per_group = (own.n_pes + kMostGroups - 1) / kMostGroups;
  Count(&row)[kGroups] = own.matrix[static_cast<std::uint32_t>(pe) / own.pes_per_group];
  for (std::size_t peer = 0; peer < counters.n_pes; ++peer) {
    const Count count = counters.peers[peer].count();
    if (count.operations != 0) add(row[peer / own.pes_per_group], count);
  }
}

void merge_tasks(TaskSummary& into, const TaskSummary& other) noexcept {
  into.run += other.run;
  into.ns += other.ns;
  keep_least(into.least, other.least);
  keep_most(into.most, other.most);
}

// ---- text ----

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}
std::string left(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

// At most 7 characters: whole up to 99999, then in the units of memory.
std::string short_number(std::uint64_t value) {
  if (value < 100'000) return number(value);
  constexpr const char* kUnits[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  double scaled = static_cast<double>(value) / 1024;
  std::size_t unit = 0;
  while (scaled >= 999.95 && unit + 1 < std::size(kUnits)) {
    scaled /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%s", scaled, kUnits[unit]);
  return text;
}

std::string time_text(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", seconds(ns));
  return text;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%",
                whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string transfers_text(const Summary& summary) {
  std::string rows;
  for (std::size_t family = 0; family < kTransfers; ++family) {
    for (std::size_t path = 0; path < kPaths; ++path) {
      const Count& count = summary.transfers[family][path];
      if (count.operations == 0) continue;
      rows += "  " + left(kFamilyNames[family], 10) + left(kPathNames[path], 10) + right(number(count.operations), 16) +
              right(number(count.bytes), 20) + "\n";
    }
  }
  if (rows.empty()) return "no operations on the memory of PEs\n";
  return "operations  path            operations               bytes\n" + rows;
}

std::string group_name(const Summary& summary, std::size_t group) {
  const std::size_t first = group * summary.pes_per_group;
  const std::size_t last = std::min<std::size_t>(first + summary.pes_per_group, summary.n_pes) - 1;
  return first == last ? number(first) : number(first) + "-" + number(last);
}

std::string matrix_text(const Summary& summary, const char* title, std::uint64_t Count::*what) {
  const std::size_t groups = (summary.n_pes + summary.pes_per_group - 1) / summary.pes_per_group;
  std::size_t width = 8;
  for (std::size_t i = 0; i < groups; ++i) width = std::max(width, group_name(summary, i).size() + 2);
  std::string text = std::string(title) + "\n  " + left("from\\to", width);
  for (std::size_t to = 0; to < groups; ++to) text += right(group_name(summary, to), width);
  for (std::size_t from = 0; from < groups; ++from) {
    text += "\n  " + left(group_name(summary, from), width);
    for (std::size_t to = 0; to < groups; ++to) {
      const std::uint64_t value = summary.matrix[from][to].*what;
      text += right(value == 0 ? "." : short_number(value), width);
    }
  }
  return text + "\n";
}

std::string pe_time(const PeTime& time) {
  return "PE " + number(static_cast<unsigned>(time.pe)) + " " + time_text(time.ns);
}

std::string routines_text(const Summary& summary) {
  if (summary.n_routines == 0) return "no calls that wait\n";
  const RoutineSummary* sorted[kSummaryRoutines];
  for (std::uint32_t i = 0; i < summary.n_routines; ++i) sorted[i] = &summary.routines[i];
  std::sort(sorted, sorted + summary.n_routines, [](const RoutineSummary* a, const RoutineSummary* b) {
    return a->ns != b->ns ? a->ns > b->ns : std::strcmp(a->name, b->name) < 0;
  });
  std::string text = "seconds in calls that wait       calls       waits         all   least                most\n";
  for (std::uint32_t i = 0; i < summary.n_routines; ++i) {
    const RoutineSummary& routine = *sorted[i];
    text += "  " + left(routine.name, 26) + right(routine.calls == 0 ? "-" : number(routine.calls), 10) +
            right(number(routine.waits), 12) + right(time_text(routine.ns), 12) + "   " +
            left(pe_time(routine.least), 20) + " " + pe_time(routine.most) + "\n";
  }
  return text;
}

std::string imbalance_text(const Summary& summary) {
  std::string text =
      "waiting: " + percent(summary.waiting.blocked_ns, summary.waiting.run_ns) + " of the time of all PEs\n";
  if (summary.n_pes < 2) return text;
  const std::uint64_t mean_ns = summary.waiting.blocked_ns / summary.pes;
  text += "imbalance: PE " + number(static_cast<unsigned>(summary.waiting.most.pe)) + " waits most, " +
          time_text(summary.waiting.most.ns) + " s; mean " + time_text(mean_ns) + " s; least, so late:";
  for (const PeTime& time : summary.waiting.least) {
    if (time.pe >= 0 && time.ns <= mean_ns)
      text += (time.pe == summary.waiting.least[0].pe ? " " : ", ") + pe_time(time) + " s";
  }
  return text + "\n";
}

std::string network_text(const NetworkSummary& network) {
  std::string text;
  if (network.operations != 0)
    text +=
        "network: " + number(network.operations) + " small operations in " + number(network.messages) + " messages\n";
  if (network.frames_sent != 0)
    text +=
        "network: " + number(network.frames_sent) + " frames, " + number(network.frames_resent) + " of them again\n";
  return text;
}

std::string tasks_text(const TaskSummary& tasks) {
  if (tasks.run == 0) return "";
  return "tasks: " + number(tasks.run) + " run in " + time_text(tasks.ns) + " s; least " + pe_time(tasks.least) +
         " s, most " + pe_time(tasks.most) + " s\n";
}

}  // namespace

void summarize(Summary& own, int pe, const NetworkSummary& network) noexcept {
  own = {};
  own.n_pes = static_cast<std::uint32_t>(counters.n_pes);
  own.pes = 1;
  own.waiting.run_ns = own.waiting.longest_run_ns = now_ns() - counters.opened_ns;
  own.waiting.blocked_ns = counters.blocked_ns.value();
  own.waiting.most = own.waiting.least[0] = {pe, own.waiting.blocked_ns};
  for (std::size_t family = 0; family < kTransfers; ++family) {
    for (std::size_t path = 0; path < kPaths; ++path)
      own.transfers[family][path] = total_of(static_cast<Family>(family), static_cast<Path>(path));
  }
  summarize_peers(own, pe);
  summarize_routines(own, pe);
  own.network = network;
  own.tasks = {counters.tasks.value(), counters.task_ns.value(), {pe, counters.task_ns.value()}, {}};
  own.tasks.most = own.tasks.least;
}

void merge(Summary& into, const Summary& other) noexcept {
  into.pes += other.pes;
  into.waiting.run_ns += other.waiting.run_ns;
  into.waiting.longest_run_ns = std::max(into.waiting.longest_run_ns, other.waiting.longest_run_ns);
  into.waiting.blocked_ns += other.waiting.blocked_ns;
  keep_most(into.waiting.most, other.waiting.most);
  for (const PeTime& time : other.waiting.least) keep_least_of(into.waiting.least, time);
  for (std::size_t family = 0; family < kTransfers; ++family) {
    for (std::size_t path = 0; path < kPaths; ++path) add(into.transfers[family][path], other.transfers[family][path]);
  }
  for (std::size_t from = 0; from < kGroups; ++from) {
    for (std::size_t to = 0; to < kGroups; ++to) add(into.matrix[from][to], other.matrix[from][to]);
  }
  for (std::uint32_t i = 0; i < other.n_routines; ++i) add(entry_of(into, other.routines[i].name), other.routines[i]);
  into.network.operations += other.network.operations;
  into.network.messages += other.network.messages;
  into.network.frames_sent += other.network.frames_sent;
  into.network.frames_resent += other.network.frames_resent;
  merge_tasks(into.tasks, other.tasks);
}

std::string text_of(const Summary& summary, int n_nodes) {
  std::string text = "what " + number(summary.n_pes) + (summary.n_pes == 1 ? " PE" : " PEs") + " on " +
                     number(static_cast<unsigned>(n_nodes)) + (n_nodes == 1 ? " node" : " nodes") + " did in " +
                     time_text(summary.waiting.longest_run_ns) + " s (SHMEM_STATS)\n" + transfers_text(summary);
  if (summary.n_pes > 1) {
    text += matrix_text(summary, "bytes from PEs that call to PEs whose memory it is", &Count::bytes);
    text += matrix_text(summary, "operations", &Count::operations);
  }
  return text + routines_text(summary) + tasks_text(summary.tasks) + imbalance_text(summary) +
         network_text(summary.network);
}

}  // namespace shmemx::stats
