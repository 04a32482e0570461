#include "output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "measure.hpp"
#include "plot.hpp"

namespace shmemx::bench {
namespace {

nlohmann::ordered_json figure(const std::optional<double>& value) {
  if (!value) return nullptr;
  return std::stod(fmt::format("{:.4g}", *value));
}

nlohmann::ordered_json peers(const Row& row) {
  nlohmann::ordered_json of{{"openmpi", figure(row.openmpi)}};
  if (row.beside_mpi) of["mpich"] = figure(row.mpich);
  return of;
}

std::string text(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

std::string ratio(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && *b != 0 ? fmt::format("{:.2f}", *a / *b) : "-";
}

std::string word(const Verdict& verdict, const Row& row) {
  if (verdict.bar.empty()) return "";
  if (!verdict.met) return verdict.bar + (row.ours ? ": no comparator" : ": not measured");
  return verdict.bar + (*verdict.met ? ": met" : ": MISSED");
}

nlohmann::ordered_json judged(const Verdict& verdict, const char* beside) {
  return {{"beside", beside},
          {"bar", verdict.bar},
          {"met", verdict.met ? nlohmann::ordered_json(*verdict.met) : nlohmann::ordered_json()},
          {"times", figure(verdict.times)}};
}

// The bars of a row, for bench/behind.py.
nlohmann::ordered_json bars(const Row& row, const Rows& rows) {
  auto list = nlohmann::ordered_json::array();
  const Verdict limit = against_limit(row, rows), peer = against_peer(row);
  if (!limit.bar.empty()) list.push_back(judged(limit, "limit"));
  if (!peer.bar.empty()) list.push_back(judged(peer, "peers"));
  return list;
}

nlohmann::ordered_json entry(const Row& row, const Rows& rows) {
  nlohmann::ordered_json one{{"name", row.name},
                             {"pes", row.pes},
                             {"bytes", row.bytes},
                             {"unit", row.unit},
                             {"better", row.high_is_better ? "high" : "low"},
                             {"ours", figure(row.ours)},
                             {"limit", figure(row.limit)},
                             {"peers", peers(row)},
                             {"state", row.state},
                             {"bars", bars(row, rows)}};
  if (!row.remark.empty()) one["remark"] = row.remark;
  if (const char* run = std::getenv("BENCH_RUN"); run != nullptr) one["run"] = run;
  if (row.transport.empty()) return one;
  const Verdict verdict = against_limit(row, rows);
  one["transport"] = row.transport;
  one["hosts"] = row.hosts;
  one["raw"] = figure(row.raw);
  one["ratio"] = row.ours && row.limit ? figure(*row.ours / *row.limit) : nullptr;
  one["bar"] = verdict.bar.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(verdict.bar);
  one["met"] = verdict.met ? nlohmann::ordered_json(*verdict.met) : nlohmann::ordered_json();
  return one;
}

// Returns the rows that stay of those that an earlier run has left.
nlohmann::ordered_json kept_rows(const std::string& path, Keep keep) {
  auto kept = nlohmann::ordered_json::array();
  std::ifstream file(path);
  const auto before = nlohmann::ordered_json::parse(file, nullptr, false);
  if (!before.is_array()) return kept;
  for (const auto& row : before)
    if (keep == Keep::all || !row.contains("transport")) kept.push_back(row);
  return kept;
}

std::string name_text(const Row& row) { return row.transport.empty() ? row.name : row.name + " " + row.transport; }

std::string words_of(const Row& row) {
  const auto comma = row.state.find(", ");
  return row.name + (comma == std::string::npos ? std::string() : ", " + row.state.substr(comma + 2));
}

}  // namespace

void write_json(const Rows& rows, const std::string& path, Keep keep) {
  auto list = nlohmann::ordered_json::array();
  if (keep != Keep::none) list = kept_rows(path, keep);
  for (const Row& row : rows) list.push_back(entry(row, rows));
  std::ofstream(path) << list.dump(2) << "\n";
}

void append_csv(const Rows& rows, const std::string& path) {
  std::ofstream file(path, std::ios::app);
  if (file.tellp() == 0) file << "name,transport,hosts,pes,bytes,unit,ours,limit,openmpi,mpich,raw,state\n";
  for (const Row& row : rows) {
    std::string state = row.state;
    std::replace(state.begin(), state.end(), ',', ';');
    file << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", row.name, row.transport, row.hosts, row.pes, row.bytes,
                        row.unit, text(row.ours), text(row.limit), text(row.openmpi), text(row.mpich), text(row.raw),
                        state);
  }
}

std::string table(const Rows& rows) {
  constexpr const char* kFormat = "{:<22} {:>4} {:>8} {:<12} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}  {:<28} {:<22} {}\n";
  std::string out = fmt::format(kFormat, "name", "PEs", "size", "unit", "ours", "limit", "openmpi", "mpich", "/limit",
                                "/peer", "bar", "beside the peers", "state");
  out += std::string(174, '-') + "\n";
  int missed = 0, unknown = 0;
  for (const Row& row : rows) {
    const Verdict limit = against_limit(row, rows);
    const Verdict peer = against_peer(row);
    for (const Verdict& verdict : {limit, peer}) {
      missed += verdict.met && !*verdict.met ? 1 : 0;
      unknown += !verdict.bar.empty() && !verdict.met ? 1 : 0;
    }
    out += fmt::format(kFormat, name_text(row), row.pes, row.bytes != 0 ? size_text(row.bytes) : "", row.unit,
                       text(row.ours), text(row.limit), text(row.openmpi), row.beside_mpi ? text(row.mpich) : "",
                       ratio(row.ours, row.limit), ratio(row.ours, row.best_peer()), word(limit, row), word(peer, row),
                       row.state);
  }
  out += fmt::format("{} rows; bars missed: {}; without a figure to judge: {}\n", rows.size(), missed, unknown);
  std::string remarks;
  for (const Row& row : rows)
    if (!row.remark.empty() && remarks.find(row.remark) == std::string::npos) remarks += "  " + row.remark + "\n";
  return remarks.empty() ? out : out + "Missing:\n" + remarks;
}

namespace {

std::string by_pes(const Row& row) { return std::to_string(row.pes); }
double ns_of(const Row& row) { return row.unit == "us" ? 1000 : 1; }
std::function<bool(const Row&)> named(std::string name) {
  return [name = std::move(name)](const Row& row) { return row.name == name; };
}
// Selects rows whose state ends with `words`; rows without words if `words` is empty.
std::function<bool(const Row&)> named(std::string name, std::string words) {
  return [=](const Row& row) {
    return row.name == name &&
           (words.empty() ? row.state.find(", ") == std::string::npos : row.state.find(words) != std::string::npos);
  };
}
std::string last_words(const Row& row) { return row.state.substr(row.state.find(", ") + 2); }
// Of "two-sided 16x16 by 1": "16x16, rows: 1".
std::string tile(const Row& row) {
  const auto at = row.state.find_last_of(' ', row.state.find(" by ") - 1) + 1;
  return row.state.substr(at, row.state.find(" by ") - at) + ", rows: " + row.state.substr(row.state.rfind(' ') + 1);
}
double million_messages(const Row& row) { return 1000.0 / static_cast<double>(row.bytes); }

void write_message_plots(const Rows& rows, const std::string& directory) {
  write_plot(
      rows, directory,
      {"sendrecv", "message, one way", "size", "ns", kLogarithmic, kLines, named("sendrecv", ""), by_size, ns_of});
  write_plot(rows, directory,
             {"sendrecv_rate", "messages, 16 under way", "size", "GB/s", kLogarithmic, kLines,
              named("sendrecv_rate", ""), by_size, unscaled});
  write_plot(rows, directory,
             {"message_rate", "messages, 16 under way", "size", "million messages a second", kDecades, kLines,
              named("sendrecv_rate", ""), by_size, million_messages});
  for (const char* queue : {"match_posted", "match_unexpected"})
    write_plot(rows, directory,
               {queue, "message of 8 bytes behind others, one way", "", "ns", kLogarithmic, kLines, named(queue),
                last_words, ns_of});
  for (const char* kind : {"two-sided", "one-sided direct", "one-sided queue"}) {
    std::string name = std::string("halo_") + kind;
    std::replace(name.begin(), name.end(), ' ', '_');
    const std::string title = std::string("halo exchange of four PEs, ") + kind;
    write_plot(
        rows, directory,
        {name.c_str(), title.c_str(), "tile of a PE", "ns", kLogarithmic, kLines, named("halo", kind), tile, ns_of});
  }
  write_plot(rows, directory,
             {"barrier_direct", "barrier, memory against messages", "PEs", "ns", kLogarithmic, kLines,
              named("message_barrier", "direct"), by_pes, ns_of});
  write_plot(rows, directory,
             {"barrier_queue", "barrier by messages", "PEs", "ns", kLogarithmic, kLines,
              named("message_barrier", "queue path"), by_pes, ns_of});
}

}  // namespace

void write_net_plots(const Rows& rows, const std::string& directory) {
  // Sizes that were measured beside OSHMEM and again beside one-sided MPI appear once, beside OSHMEM.
  const auto of_unit = [](std::string name, std::string unit, std::string transport) {
    const bool is_message = name.starts_with("net_sendrecv");
    return [=](const Row& row) {
      return row.name == name && row.unit == unit && row.transport == transport && (is_message || !row.beside_mpi);
    };
  };
  for (const char* transport : {"tcp", "ethernet", "ucx", "ofi"}) {
    const auto named_after = [&](const char* what) { return fmt::format("net_{}_{}", what, transport); };
    const auto title = [&](const char* what) { return fmt::format("{}, two hosts, {}", what, transport); };
    struct Curve {
      const char* file;
      const char* name;
      const char* title;
      const char* unit;
    };
    constexpr Curve kCurves[] = {{"sendrecv", "net_sendrecv", "message, one way", "ns"},
                                 {"sendrecv_one_way", "net_sendrecv_one_way", "messages from one PE", "GB/s"},
                                 {"sendrecv_both", "net_sendrecv_both", "messages both ways", "GB/s"},
                                 {"put_signal", "net_put_signal", "put with signal, one way", "ns"},
                                 {"get_latency", "net_get", "get", "ns"},
                                 {"put", "net_put", "put", "GB/s"},
                                 {"get", "net_get", "get", "GB/s"}};
    for (const Curve& curve : kCurves) {
      const std::string file = named_after(curve.file), text = title(curve.title);
      Rows sorted;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(sorted), of_unit(curve.name, curve.unit, transport));
      std::sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) { return a.bytes < b.bytes; });
      write_plot(sorted, directory,
                 {file.c_str(), text.c_str(), "size", curve.unit, curve.unit[0] == 'n' ? kLogarithmic : "", kLines,
                  [](const Row&) { return true; }, by_size, unscaled});
    }
  }
}

void write_scale_plots(const Rows& rows, const std::string& directory) {
  for (const char* what : {"first reduce", "barrier", "reduce", "broadcast", "fcollect"}) {
    std::string file = std::string("coll_node_") + what;
    std::replace(file.begin(), file.end(), ' ', '_');
    const auto takes = [&](const Row& row) { return row.name == "coll_node" && row.state == what; };
    write_plot(rows, directory,
               {file.c_str(), what, "PEs", "ms", kLogarithmic, kLines, takes, by_pes, [](const Row&) { return 1.0; }});
  }
}

namespace {

// A plot of rows with one name and state, by size.
struct TasksPlot {
  const char* file;
  const char* title;
  const char* unit;
  const char* name;
  const char* state;
  const char* against;
};

void plot_tasks(const Rows& rows, const std::string& directory, const TasksPlot& what) {
  const auto takes = [&](const Row& row) { return row.name == what.name && row.state == what.state; };
  write_plot(rows, directory,
             {what.file,
              what.title,
              "size",
              what.unit,
              kLogarithmic,
              kLines,
              takes,
              by_size,
              unscaled,
              {"shmemx", what.against, "Open MPI", "MPICH"}});
}

// The same by what stands at the begin of the state, up to `end`.
void plot_by_state(const Rows& rows, const std::string& directory, const TasksPlot& what, const char* end) {
  const auto takes = [&](const Row& row) { return row.name == what.name && row.state.ends_with(what.state); };
  const auto x = [end](const Row& row) { return row.state.substr(0, row.state.find(end)); };
  write_plot(rows, directory,
             {what.file,
              what.title,
              "",
              what.unit,
              "",
              kLines,
              takes,
              x,
              unscaled,
              {"shmemx", what.against, "Open MPI", "MPICH"}});
}

// Those of the tables of messages.
void write_table_plots(const Rows& rows, const std::string& directory) {
  const auto plot = [&](const auto&... what) { plot_tasks(rows, directory, {what...}); };
  for (const char* receives : {"1", "33"}) {
    const std::string file = fmt::format("tasks_posted_{}", receives);
    const std::string title = fmt::format("message with {} receives posted, one node, one way", receives);
    plot(file.c_str(), title.c_str(), "us", "tasks_posted", fmt::format("{} receives, node", receives).c_str(),
         "1 receive");
  }
  for (const char* place : {"node", "tcp"}) {
    const auto named_after = [&](const char* what) { return fmt::format("tasks_{}_{}", what, place); };
    plot(named_after("unexpected").c_str(), "message whose receive is posted late, one way", "us", "tasks_unexpected",
         fmt::format("posted after arrival, {}", place).c_str(), "posted before");
    plot(named_after("both_ways").c_str(), "messages both ways together", "GB/s", "tasks_both_ways",
         fmt::format("both ways together, {}", place).c_str(), "one way");
    plot_by_state(rows, directory,
                  {named_after("ring").c_str(), "a hop of a task round two PEs, beside a busy program", "us",
                   "tasks_ring_by", place, "by default"},
                  ",");
    plot_by_state(rows, directory,
                  {named_after("stencil").c_str(), "a step of a stencil, faces held back", "ms", "tasks_stencil",
                   fmt::format("with delay, {}", place).c_str(), "1 object"},
                  " with");
  }
  for (const int nodes : {4, 8})
    plot(fmt::format("tasks_fcollect_{}", nodes).c_str(), fmt::format("fcollect, {} nodes", nodes).c_str(), "us",
         "tasks_fcollect", fmt::format("{} nodes", nodes).c_str(), "best algorithm");
}

}  // namespace

void write_tasks_plots(const Rows& rows, const std::string& directory) {
  const auto plot = [&](const auto&... what) { plot_tasks(rows, directory, {what...}); };
  write_table_plots(rows, directory);
  plot("tasks_cpu_node", "CPU time of a task, one node", "us", "tasks_cpu", "one way, node", "of 16 B");
  plot("tasks_cpu_tcp", "CPU time of a task, two nodes, tcp", "us", "tasks_cpu", "one way, tcp", "of 16 B");
  plot("tasks_cpu_alone", "CPU time of a task, two nodes, tcp, no gathering", "us", "tasks_cpu",
       "one way, tcp, ungathered", "of 16 B");
  for (const int nodes : {4, 16}) {
    const std::string file = fmt::format("tasks_alltoall_{}", nodes);
    const std::string title = fmt::format("all-to-all in the background, {} nodes, mesh and direct", nodes);
    plot(file.c_str(), title.c_str(), "us", "tasks_mesh", fmt::format("{} nodes", nodes).c_str(), "direct");
  }
  const auto is_multicast = [](const Row& row) { return row.name == "tasks_multicast"; };
  write_plot(rows, directory,
             {"tasks_multicast",
              "1 KiB to all nodes until all have answered, tcp",
              "PEs",
              "us",
              kLogarithmic,
              kLines,
              is_multicast,
              by_pes,
              unscaled,
              {"shmemx", "n/2 sends", "Open MPI", "MPICH"}});
}

void write_plots(const Rows& rows, const std::string& directory) {
  const auto small = [](const Row& row) {
    return row.unit == "ns" && row.pes == 2 && !row.beside_mpi && row.transport.empty();
  };
  const auto us_of = [](const Row&) { return 1e-3; };
  write_plot(rows, directory,
             {"put", "put to the other PE", "size", "GB/s", "", kLines, named("put"), by_size, unscaled});
  write_plot(rows, directory,
             {"get", "get from the other PE", "size", "GB/s", "", kLines, named("get"), by_size, unscaled});
  write_plot(rows, directory,
             {"latency", "one operation, two PEs", "", "ns", kBarSettings, kBars, small, words_of, unscaled});
  write_plot(rows, directory,
             {"barrier", "barrier of all PEs", "PEs", "us", "set logscale y", kLines, named("barrier"), by_pes, us_of});
  write_plot(
      rows, directory,
      {"start", "start and end of a job", "PEs", "ms", "set logscale y", kLines, named("start"), by_pes, unscaled});
  write_message_plots(rows, directory);
}

}  // namespace shmemx::bench
