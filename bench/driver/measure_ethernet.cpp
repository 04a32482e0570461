// The figures of the Open-MX paper: the network ethernet beside our tcp, in turns. Virtual hosts of one kind are one
// part of it: run.sh starts the driver on each kind, and the rows of all parts end up in one table.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "../support/clock.hpp"
#include "../support/stats.hpp"
#include "net_jobs.hpp"

namespace shmemx::bench {
namespace {

constexpr const char* kEthernet = "ethernet";

// What all measurements need, and the rows so far.
struct Suite {
  const Settings& settings;
  Net net;
  Rows rows;

  void add(Row row, const Layout& layout) { rows.push_back(finished(net, std::move(row), layout, kEthernet)); }
};

std::string layout_text(const Layout& layout) { return fmt::format("{}x{}", layout.hosts, layout.pes_per_host); }

// Ethernet, and our tcp in the place of the limit.
Turns beside_tcp(const Suite& suite, const Layout& layout, const Arguments& environment, Tuning tuning) {
  Turns turns = net_turns(suite.settings, "eth_messages", layout);
  turns.variants[0] = suite.net.ours(layout, kEthernet, environment, tuning);
  turns.variants[1] = suite.net.ours(layout, kRawTransport, environment, tuning);
  turns.variants[1]->label = kRawTransport;
  if (crowded(layout)) take_apart(turns);
  return turns;
}

void add_cases(Suite& suite, const Turns& turns, const Layout& layout, const std::vector<std::string>& asked,
               const std::string& state) {
  const auto cases = list_cases(suite.settings.ours.programs + "/eth_messages");
  std::vector<std::string> names;
  for (const std::string& name : asked)
    if (wanted(suite.settings, name)) names.push_back(name);
  if (names.empty()) return;
  announce(names.size() == 1 ? names.front() : "patterns of messages and collectives", layout, state);
  for (Row& row : take_turns(suite.settings, turns, cases, names)) {
    row.state += ", " + state;
    suite.add(std::move(row), layout);
  }
}

// Ping-pong where PEs have priority over other programs, on hosts as they are, and where waiting PEs sleep soon. A PE
// with real-time priority must not spin without end: the kernel's threads deliver frames, too.
void add_ping_pong(Suite& suite) {
  struct Hosts {
    const char* name;
    Tuning tuning;
    Arguments environment;
  };
  const Hosts kinds[] = {{"tuned", Tuning::tuned, {}},
                         {"default", Tuning::ordinary, {}},
                         {"blocking", Tuning::ordinary, {"SHMEM_WAIT=block"}}};
  for (const Hosts& hosts : kinds)
    add_cases(suite, beside_tcp(suite, kPair, hosts.environment, hosts.tuning), kPair, {"eth_pingpong"}, hosts.name);
}

void add_patterns(Suite& suite) {
  const std::vector<std::string> names{"eth_sendrecv",  "eth_exchange", "eth_barrier", "eth_reduce",
                                       "eth_broadcast", "eth_alltoall", "eth_fcollect"};
  for (const Layout& layout : {kPair, Layout{2, 2}})
    add_cases(suite, beside_tcp(suite, layout, {}, Tuning::tuned), layout, names, layout_text(layout));
}

// One row for each line that the program prints, by name, size and state.
class LineRows {
 public:
  // `column`: 0 for ours, 1 for the limit.
  void add(const std::vector<Line>& lines, std::size_t column) {
    for (const Line& line : lines)
      figures_[{line.name, line.state, line.bytes, line.unit}][column].push_back(line.median);
  }
  void move_to(Suite& suite, const std::string& state, const std::string& remark) const {
    for (const auto& [what, both] : figures_) {
      const auto& [name, of_program, bytes, unit] = what;
      Row row{.name = name, .bytes = bytes, .unit = unit, .remark = remark};
      row.high_is_better = unit == "GB/s" || unit == "MB/s";
      row.state = of_program;
      if (!state.empty()) row.state += (row.state.empty() ? "" : ", ") + state;
      if (!both[0].empty()) row.ours = median_of(both[0]);
      if (!both[1].empty()) row.limit = median_of(both[1]);
      suite.add(row, kPair);
    }
  }

 private:
  std::map<std::tuple<std::string, std::string, std::size_t, std::string>, std::array<std::vector<double>, 2>> figures_;
};

// Runs a program over both networks in turns.
void add_lines(Suite& suite, const std::string& program, const Arguments& options, const Arguments& environment,
               const std::string& state) {
  LineRows found;
  std::string remark;
  for (int round = 0; round < (suite.settings.full ? 5 : 3) && remark.empty(); ++round) {
    const auto run = [&](const char* transport, std::size_t column) {
      const Variant variant = suite.net.ours(kPair, transport, environment, Tuning::ordinary);
      found.add(answers(suite.settings, variant, program, options, remark), column);
    };
    run(kEthernet, 0);
    run(kRawTransport, 1);
  }
  found.move_to(suite, state, remark);
  if (!remark.empty()) suite.add({.name = program, .state = state, .remark = remark}, kPair);
}

void add_receive_cpu(Suite& suite) {
  if (!wanted(suite.settings, "eth_receive")) return;
  for (const char* progress : {"off", "on"}) {
    announce(fmt::format("CPU time of a receiver, progress {}", progress), kPair, "ethernet and tcp");
    add_lines(suite, "eth_receive_cpu", {"--budget", suite.settings.full ? "1000" : "200"},
              {fmt::format("SHMEMX_PROGRESS={}", progress)}, fmt::format("progress {}", progress));
  }
}

// The whole CPU time of a PE that waits in the library for something that does not come.
void add_idle(Suite& suite) {
  if (!wanted(suite.settings, "idle_cpu")) return;
  announce("idle PEs", kPair, "ethernet and tcp");
  add_lines(suite, "idle_cpu", {"--budget", suite.settings.full ? "10000" : "3000"}, {}, "");
}

// Integer sort, conjugate gradients, Fourier transform: milliseconds of one run.
void add_kernels(Suite& suite) {
  for (const char* kernel : {"kernel_is", "kernel_cg", "kernel_ft"}) {
    if (!wanted(suite.settings, kernel)) continue;
    announce(kernel, kPair, "ethernet and tcp");
    add_lines(suite, kernel, {"--repeat", suite.settings.full ? "20" : "10"}, {}, "");
  }
}

void measure_figures(Suite& suite) {
  add_ping_pong(suite);
  add_patterns(suite);
  add_one_sided(suite.settings, suite.net, kEthernet, suite.rows);
  add_receive_cpu(suite);
  add_kernels(suite);
  add_idle(suite);
}

// Long puts by the number of frames in a block and of blocks outstanding. tcp has neither; it is measured once.
void measure_pull(Suite& suite) {
  if (!wanted(suite.settings, "eth_pull")) return;
  const Arguments options{"--case", "eth_pull", "--budget", suite.settings.full ? "1000" : "300"};
  announce("blocks of frames", kPair, kEthernet);
  add_lines(suite, "eth_messages", options, {}, "default blocks");
  const std::optional<double> tcp = suite.rows.empty() ? std::nullopt : suite.rows.back().limit;
  std::map<std::pair<int, int>, std::vector<double>> figures;
  std::string remark;
  for (int round = 0; round < (suite.settings.full ? 5 : 2) && remark.empty(); ++round)
    for (const int frames : {4, 8, 16, 32, 64})
      for (const int blocks : {1, 2, 4, 8, 16}) {
        const Variant variant = suite.net.ours(
            kPair, kEthernet,
            {fmt::format("SHMEMX_ETH_BLOCK_PACKETS={}", frames), fmt::format("SHMEMX_ETH_BLOCKS={}", blocks)});
        for (const Line& line : answers(suite.settings, variant, "eth_messages", options, remark))
          figures[{frames, blocks}].push_back(line.median);
      }
  for (const auto& [what, medians] : figures) {
    Row row{.name = "eth_pull", .bytes = std::size_t{4} << 20, .unit = "GB/s", .high_is_better = true};
    row.state = fmt::format("frames {}, blocks {}", what.first, what.second);
    row.ours = median_of(medians);
    row.limit = tcp;
    row.remark = remark;
    suite.add(row, kPair);
  }
}

void measure_loss(Suite& suite) {
  if (!wanted(suite.settings, "eth_goodput")) return;
  announce("goodput", kPair, "ethernet and tcp");
  add_lines(suite, "eth_goodput", {"--budget", suite.settings.full ? "10000" : "3000"}, {}, "");
}

// Goodput of two jobs that share a link, in MB/s.
struct Shares {
  std::optional<double> first, second;
};

Shares compete(const Suite& suite, const char* first, const char* second, std::string& remark) {
  constexpr std::int64_t kStartNs = 4'000'000'000;  // both jobs are ready by then
  const std::string start = fmt::format("BENCH_START_NS={}", now_ns() + kStartNs);
  const Arguments options{"--budget", suite.settings.full ? "10000" : "4000"};
  Shares shares;
  std::string remarks[2];
  const auto run = [&](const char* transport, std::optional<double>& share, std::string& why) {
    const auto lines = answers(suite.settings, suite.net.ours(kPair, transport, {start}, Tuning::ordinary),
                               "eth_goodput", options, why);
    if (!lines.empty()) share = lines.front().median;
  };
  std::thread other(run, second, std::ref(shares.second), std::ref(remarks[1]));
  run(first, shares.first, remarks[0]);
  other.join();
  remark += remarks[0] + remarks[1];
  return shares;
}

// Jain's index of two shares: 1 where they are equal, a half where one has all.
double fairness(double a, double b) { return (a + b) * (a + b) / (2 * (a * a + b * b)); }

void measure_fairness(Suite& suite) {
  if (!wanted(suite.settings, "eth_fairness")) return;
  constexpr std::pair<const char*, const char*> kPairs[] = {
      {kEthernet, kEthernet}, {kEthernet, kRawTransport}, {kRawTransport, kRawTransport}};
  for (const auto& [first, second] : kPairs) {
    announce("two jobs that share a link", kPair, fmt::format("{} beside {}", first, second));
    std::vector<double> shares[2], indices;
    Row row{.name = "eth_share", .bytes = std::size_t{1} << 20, .unit = "MB/s", .high_is_better = true};
    for (int round = 0; round < (suite.settings.full ? 5 : 3) && row.remark.empty(); ++round) {
      const Shares got = compete(suite, first, second, row.remark);
      if (!got.first || !got.second) continue;
      shares[0].push_back(*got.first);
      shares[1].push_back(*got.second);
      indices.push_back(fairness(*got.first, *got.second));
    }
    row.state = fmt::format("{} beside {}", first, second);
    Row index{.name = "eth_fairness", .bytes = row.bytes, .unit = "Jain", .high_is_better = true, .state = row.state};
    if (!indices.empty()) {
      row.ours = median_of(shares[0]);
      row.limit = median_of(shares[1]);
      index.ours = median_of(indices);
    }
    suite.add(row, kPair);
    suite.add(index, kPair);
  }
}

struct Part {
  const char* name;
  void (*measure)(Suite&);
};
constexpr Part kParts[] = {
    {"figures", measure_figures}, {"pull", measure_pull}, {"loss", measure_loss}, {"fairness", measure_fairness}};

}  // namespace

Rows measure_ethernet(const Settings& settings, const std::string& part) {
  Suite suite{settings, Net(settings), {}};
  rise_above_jobs();
  for (const Part& one : kParts)
    if (part == one.name) one.measure(suite);
  return suite.rows;
}

}  // namespace shmemx::bench
