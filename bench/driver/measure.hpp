// The measurements; each returns rows.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "process.hpp"
#include "rows.hpp"

namespace shmemx::bench {

// One of the compared variants: a launcher and the folder with its programs.
struct Variant {
  std::string label;
  Arguments launcher;        // "{n}" stands for the number of PEs; empty for plain processes
  std::string programs;      // folder
  std::string missing;       // why the variant is missing; empty if it is present
  Arguments wrapper = {};    // starts each process on its host
  std::string program = {};  // set if its program is named differently from ours
};

// Where the rows between nodes are measured.
struct Cluster {
  std::vector<std::string> hosts;  // virtual hosts; empty: pretended nodes of this machine
  std::string enter;               // has the command line of ssh
  std::string plain_programs;      // folder of the programs that use a network library alone
  std::string network = {};        // what is special about their network, such as "mtu 9000"
};

struct Settings {
  Variant ours, limit;
  Variant openmpi;                  // its OSHMEM
  Variant openmpi_messages, mpich;  // the MPIs
  Variant rma_peer;                 // the OpenSHMEM that PEER_OSHCC names
  bool full = false;
  double budget_ms = 30;  // of one case of one variant in one round
  int rounds = 9;
  double far_ns = 90;
  std::string cpus;
  std::vector<std::string> only;  // names of results; all where empty
  std::string scratch;
  Cluster cluster;
};

// The peers beside ours: an OpenSHMEM, the MPIs, or only the limit.
enum class Peers { shmem, messages, none };
// In the order of the columns; null if there is none of that kind.
constexpr int kVariants = 4;
constexpr std::size_t kFirstPeer = 2;
std::array<const Variant*, kVariants> variants_of(const Settings& settings, Peers peers);

bool wanted(const Settings& settings, const std::string& name);
// Returns the variant with NAME=value in its environment. Requires a launcher.
Variant in_environment(Variant variant, const Arguments& settings);
Arguments command(const Settings& settings, const Variant& variant, const std::string& program, int pes,
                  const Arguments& wrapper = {});

// Cases that are sampled in turns.
Rows measure_sampled(const Settings& settings);
// Programs that print their results in one run: idle_cpu, threads_rate, instructions.
Rows measure_idle_cpu(const Settings& settings);
Rows measure_threads_rate(const Settings& settings);
Rows measure_instructions(const Settings& settings);
// The rows start and rss.
Rows measure_start(const Settings& settings, const std::vector<int>& counts = {2, 64, 256});
// Rows of many PEs.
Rows measure_scale(const Settings& settings);
// Rows of remote tasks and of collectives in the background.
Rows measure_tasks(const Settings& settings);
// Rows of messages: sendrecv_instructions and those of the queue, alltoall_messages, queue_busy_target.
Rows measure_queue_instructions(const Settings& settings);
Rows measure_message_instructions(const Settings& settings);
Rows measure_alltoall_messages(const Settings& settings);
Rows measure_queue_busy_target(const Settings& settings);
// Rows between nodes. Calls `keep` with the rows so far after each group.
Rows measure_net(const Settings& settings, const std::function<void(const Rows&)>& keep);
// Counted instructions of RMA between two pretended nodes, of one network.
Rows measure_net_instructions(const Settings& settings, const Variant& variant);
// One part of the rows of the Open-MX paper: figures, pull, loss or fairness.
Rows measure_ethernet(const Settings& settings, const std::string& part);

// Runs `program` under callgrind and returns the instructions of one iteration of each dumped loop by name; empty on
// failure.
std::map<std::string, double> count_instructions(const Settings& settings, const Variant& variant,
                                                 const std::string& program);

// The fields of a CSV line of support/report.hpp.
struct Line {
  std::string name, unit, state, note;
  int pes = 0;
  std::size_t bytes = 0, samples = 0;
  double median = 0;
};
std::optional<Line> parse_line(const std::string& text);
std::vector<Line> parse_lines(const std::string& output);

}  // namespace shmemx::bench
