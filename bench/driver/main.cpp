// bench_driver: measures our library, the physical limit and its peers (Open MPI's OSHMEM; for messages Open MPI and
// MPICH) in one run, in turns, and writes results.json, a table and plots. `bench/run.sh` builds everything and calls
// it.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "measure.hpp"
#include "output.hpp"

namespace {
using namespace shmemx::bench;

// Splits a launcher's command at its blanks. Double quotes keep those of a path.
Arguments split(const std::string& text) {
  std::istringstream words(text);
  Arguments arguments;
  for (std::string word; words >> std::quoted(word);) arguments.push_back(word);
  return arguments;
}

std::string usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::string list;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  return list;
}

struct CommandLine {
  std::string mode = "quick";
  std::string ours_launcher = "oshrun -n {n}", ours_programs = "ours";
  std::string limit_programs = "raw";
  std::string peer_launcher = "/usr/bin/oshrun --allow-run-as-root --oversubscribe --mca osc ^rdma -n {n}";
  std::string peer_programs;
  std::string openmpi_launcher = "/usr/bin/mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -n {n}";
  std::string mpich_launcher = "/usr/bin/mpiexec.hydra -bind-to none -n {n}";
  std::string openmpi_programs, mpich_programs;
  std::string rma_peer, rma_peer_launcher, rma_peer_programs;
  std::string output = ".";
  std::vector<std::string> only;
  bool net = false, scale = false, tasks = false;
  std::string ethernet, network;
  std::vector<std::string> hosts;
  std::string enter, plain_programs = "plain";
  int rounds = 0;
  double budget_ms = 0;
  double far_ns = 90;
};

Variant peer(const std::string& label, const std::string& launcher, const std::string& programs) {
  return {label, split(launcher), programs, programs.empty() ? "not installed" : ""};
}

Settings settings_of(const CommandLine& line, const std::string& scratch) {
  Settings settings;
  settings.ours = {"ours", split(line.ours_launcher), line.ours_programs, ""};
  settings.limit = {"limit", {}, line.limit_programs, ""};
  settings.openmpi = peer("openmpi", line.peer_launcher, line.peer_programs);
  settings.openmpi_messages = peer("openmpi", line.openmpi_launcher, line.openmpi_programs);
  settings.mpich = peer("mpich", line.mpich_launcher, line.mpich_programs);
  settings.rma_peer = peer(line.rma_peer, line.rma_peer_launcher, line.rma_peer_programs);
  settings.full = line.mode == "full";
  settings.rounds = line.rounds > 0 ? line.rounds : settings.full ? 25 : 7;
  settings.budget_ms = line.budget_ms > 0 ? line.budget_ms : settings.full ? 60 : 25;
  settings.far_ns = line.far_ns;
  settings.cpus = usable_cpus();
  settings.only = line.only;
  settings.scratch = scratch;
  settings.cluster = {line.hosts, line.enter, line.plain_programs, line.network};
  return settings;
}

Rows measure_all(const Settings& settings) {
  Rows rows;
  for (const auto measure :
       {measure_sampled, measure_instructions, measure_threads_rate, measure_queue_instructions,
        measure_message_instructions, measure_alltoall_messages, measure_queue_busy_target, measure_idle_cpu})
    for (Row& row : measure(settings)) rows.push_back(std::move(row));
  for (Row& row : measure_start(settings)) rows.push_back(std::move(row));
  return rows;
}

// The files of the results have this name.
std::string stem(const CommandLine& line) {
  if (!line.ethernet.empty()) return "results_ethernet";
  if (line.tasks) return "results_tasks";
  return line.net ? "results_net" : line.scale ? "results_scale" : "results";
}
std::string json_file(const CommandLine& line) { return (line.net ? "results" : stem(line)) + ".json"; }

const char* place_of(const CommandLine& line) {
  if (!line.ethernet.empty()) return "of raw Ethernet";
  if (line.tasks) return "of tasks";
  return line.net ? "between nodes" : line.scale ? "of many PEs" : "of one node";
}

// Writes the results and returns the table.
std::string write(const CommandLine& line, const Rows& rows) {
  const std::string text = table(rows);
  if (rows.empty()) return text;
  const bool is_part = !line.ethernet.empty();
  const std::string base = line.output + "/";
  write_json(rows, base + json_file(line), is_part ? Keep::all : line.net ? Keep::node_rows : Keep::none);
  std::ofstream(base + stem(line) + ".txt", is_part ? std::ios::app : std::ios::out) << text;
  if (is_part) append_csv(rows, base + stem(line) + ".csv");
  return text;
}

Rows measure(const CommandLine& line, const Settings& settings) {
  if (!line.ethernet.empty()) return measure_ethernet(settings, line.ethernet);
  if (line.scale) return measure_scale(settings);
  if (line.tasks) return measure_tasks(settings);
  if (line.net) return measure_net(settings, [&](const Rows& so_far) { write(line, so_far); });
  return measure_all(settings);
}

int run(const CommandLine& line) {
  const std::filesystem::path output = std::filesystem::absolute(line.output);
  const ScratchDirectory scratch((output / "scratch").string());
  const Settings settings = settings_of(line, scratch.path());
  for (const Variant* variant : {&settings.openmpi, &settings.openmpi_messages, &settings.mpich})
    if (!variant->missing.empty())
      std::cerr << "bench: a peer (" << variant->label << ") is not installed; its figures are null\n";
  const Rows rows = measure(line, settings);
  if (rows.empty()) {
    std::cerr << "bench: none of the names belongs to the rows " << place_of(line) << "\n";
    return line.only.empty() ? 1 : 0;
  }
  const std::string text = write(line, rows);
  if (!line.ethernet.empty()) {
    write_ethernet_plots(rows, line.output, line.network);
  } else {
    (line.net     ? write_net_plots
     : line.scale ? write_scale_plots
     : line.tasks ? write_tasks_plots
                  : write_plots)(rows, line.output);
  }
  std::cout << text << "Written: " << json_file(line) << ", " << stem(line) << ".txt and plots (*.svg) in "
            << line.output << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  CLI::App app{"Measures the library, the physical limit, Open MPI and MPICH in turns."};
  app.add_option("mode", line.mode, "quick or full")->check(CLI::IsMember({"quick", "full"}));
  app.add_option("--ours-launcher", line.ours_launcher, "starts {n} PEs of our library");
  app.add_option("--ours-programs", line.ours_programs, "folder of the programs linked with our library");
  app.add_option("--limit-programs", line.limit_programs, "folder of the plain programs");
  app.add_option("--peer-launcher", line.peer_launcher, "starts {n} PEs of Open MPI's OSHMEM");
  app.add_option("--peer-programs", line.peer_programs, "folder of its programs; absent: not measured");
  app.add_option("--rma-peer", line.rma_peer, "name of another OpenSHMEM, beside the rows net_rma");
  app.add_option("--rma-peer-launcher", line.rma_peer_launcher, "starts {n} PEs of it");
  app.add_option("--rma-peer-programs", line.rma_peer_programs, "folder of its programs; absent: not measured");
  app.add_option("--openmpi-launcher", line.openmpi_launcher, "starts {n} ranks of Open MPI");
  app.add_option("--openmpi-programs", line.openmpi_programs, "folder of its MPI programs; absent: not measured");
  app.add_option("--mpich-launcher", line.mpich_launcher, "starts {n} ranks of MPICH");
  app.add_option("--mpich-programs", line.mpich_programs, "folder of its programs; absent: not measured");
  app.add_flag("--net", line.net, "measures between nodes instead; results.json keeps its other rows");
  app.add_flag("--scale", line.scale, "measures many PEs instead")->excludes("--net");
  app.add_flag("--tasks", line.tasks, "measures remote tasks instead")->excludes("--net")->excludes("--scale");
  app.add_option("--ethernet", line.ethernet, "measures a part of the Open-MX paper's figures; adds to its files")
      ->check(CLI::IsMember({"figures", "pull", "loss", "fairness"}))
      ->excludes("--net")
      ->excludes("--scale");
  app.add_option("--network", line.network, "what is special about the network of the hosts");
  app.add_option("--hosts", line.hosts, "hosts that --enter reaches; absent: pretended nodes")->delimiter(',');
  app.add_option("--enter", line.enter, "runs a command on a host, called like ssh");
  app.add_option("--plain-programs", line.plain_programs, "folder of the programs of UCX and libfabric alone");
  app.add_option("--output", line.output, "folder for the results");
  app.add_option("--only", line.only, "names of the results wanted")->delimiter(',');
  app.add_option("--rounds", line.rounds, "turns of each variant");
  app.add_option("--budget", line.budget_ms, "milliseconds of one turn");
  app.add_option("--far", line.far_ns, "a cache line takes longer one way: the state is far");
  CLI11_PARSE(app, argc, argv);
  continue_in_own_session();
  try {
    return run(line);
  } catch (const std::exception& error) {
    std::cerr << "bench_driver: " << error.what() << "\n";
    return 1;
  }
}
