// Measures between nodes: PEs on virtual hosts, or on pretended nodes of this machine, over each of our networks.
// Beside them: a bare TCP connection of the same processes, UCX and libfabric alone, Open MPI's OSHMEM, Open MPI,
// MPICH.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include "../support/stats.hpp"
#include "net_jobs.hpp"

namespace shmemx::bench {
namespace {

constexpr const char* kTransports[] = {"tcp", "ethernet", "ucx", "ofi"};
constexpr std::size_t kShortList = 13;  // the first cases of one_sided, which have bars

}  // namespace

void add_one_sided(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  auto cases = list_cases(settings.ours.programs + "/net_one_sided");
  const bool is_tcp = transport == kRawTransport;
  const bool beside_raw = is_tcp || transport == "ethernet";
  if (!beside_raw && !settings.full && cases.size() > kShortList) cases.resize(kShortList);
  const auto names = wanted_names(settings, cases);
  if (names.empty()) return;
  announce("one-sided operations", kPair, transport);
  Turns turns = net_turns(settings, "net_one_sided", kPair);
  turns.variants[0] = net.ours(kPair, transport);
  if (!beside_raw) turns.variants[1] = net.plain(transport);
  if (!is_tcp && beside_raw) {  // frames stand beside our own tcp, too
    turns.variants[1] = net.ours(kPair, kRawTransport);
    turns.variants[1]->label = kRawTransport;
  }
  if (beside_raw) turns.variants[2] = net.oshmem(kPair);
  for (Row& row : take_turns(settings, turns, cases, names)) {
    if (is_tcp) row.limit = row.raw;
    rows.push_back(finished(net, std::move(row), kPair, transport));
  }
}

namespace {

// The first operations of 8 bytes beside one-sided MPI over TCP, in windows that are locked all the time.
void add_beside_mpi_rma(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  constexpr std::size_t kOperations = 4;
  auto cases = list_cases(settings.ours.programs + "/net_one_sided");
  if ((transport != kRawTransport && transport != "ethernet") || cases.size() < kOperations) return;
  cases.resize(kOperations);
  const auto names = wanted_names(settings, cases);
  if (names.empty()) return;
  announce("one-sided MPI", kPair, transport);
  Turns turns = net_turns(settings, "net_one_sided", kPair);
  turns.beside_mpi = true;
  turns.variants[0] = net.ours(kPair, transport);
  turns.variants[2] = net.openmpi(kPair);
  turns.variants[3] = net.mpich(kPair);
  for (ListedCase& what : cases) what.raw_methods = 1;
  for (Row& row : take_turns(settings, turns, cases, names)) {
    row.raw.reset();
    row.state += ", beside MPI's RMA";
    rows.push_back(finished(net, std::move(row), kPair, transport));
  }
}

// Two-sided messages; the MPIs over TCP beside each network.
void add_two_sided(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  const auto cases = list_cases(settings.ours.programs + "/net_sendrecv");
  const auto names = wanted_names(settings, cases);
  if (names.empty()) return;
  announce("two-sided messages", kPair, transport);
  Turns turns = net_turns(settings, "net_sendrecv", kPair);
  turns.variants[0] = net.ours(kPair, transport);
  turns.beside_mpi = true;
  turns.variants[2] = net.openmpi(kPair);
  turns.variants[3] = net.mpich(kPair);
  for (Row& row : take_turns(settings, turns, cases, names)) {
    row.limit = row.raw;
    rows.push_back(finished(net, std::move(row), kPair, transport));
  }
}

// What parts of our design bring: message rates and times without one of them each, beside ours as it is, in the place
// of the limit.
void add_ablations(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  if (!wanted(settings, "net_ablation")) return;
  struct Ablation {
    const char* transport;  // empty: each
    const char* name;
    Arguments environment;
  };
  const Ablation kinds[] = {
      {"", "no send bypass", {"SHMEMX_NET_BYPASS=0"}},
      {"tcp", "no one-read receive", {"SHMEMX_TCP_ONE_READ=0"}},
      {"ethernet", "blocks of 8 frames", {"SHMEMX_ETH_BLOCK_PACKETS=8"}},
      {"ethernet", "one block outstanding", {"SHMEMX_ETH_BLOCKS=1"}},
      {"ethernet", "frames of 640 bytes", {"SHMEMX_ETH_MTU=640"}},
  };
  const auto cases = list_cases(settings.ours.programs + "/net_sendrecv");
  for (const Ablation& kind : kinds) {
    if (kind.transport[0] != '\0' && transport != kind.transport) continue;
    announce(kind.name, kPair, transport);
    Turns turns = net_turns(settings, "net_sendrecv", kPair);
    turns.variants[0] = net.ours(kPair, transport, kind.environment);
    turns.variants[1] = net.ours(kPair, transport);
    turns.variants[1]->label = "complete";
    if (transport == "ethernet") take_apart(turns);  // each socket of an interface gets the frames of all jobs
    for (Row& row : take_turns(settings, turns, cases, {"net_sendrecv", "net_sendrecv_one_way"})) {
      row.raw.reset();
      row.name = "net_ablation";
      row.state += std::string(", ") + kind.name;
      rows.push_back(finished(net, std::move(row), kPair, transport));
    }
  }
}

// The limit is the same run without the helper thread.
void add_agent_cost(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  if (!wanted(settings, "net_agent_cost")) return;
  announce("cost of the agent", kPair, transport);
  Turns turns = net_turns(settings, "net_one_sided", kPair);
  turns.variants[0] = net.ours(kPair, transport);
  turns.variants[1] = net.ours(kPair, transport, {"SHMEMX_PROGRESS=off"});
  turns.variants[1]->label = "no agent";
  auto cases = list_cases(settings.ours.programs + "/net_one_sided");
  for (ListedCase& what : cases) what.raw_methods = 1;
  for (Row& row : take_turns(settings, turns, cases, {"net_pingpong"})) {
    row.name = "net_agent_cost";
    rows.push_back(finished(net, std::move(row), kPair, transport));
  }
}

void add_collectives(const Settings& settings, const Net& net, const Layout& layout, const std::string& transport,
                     const std::vector<std::string>& names, Rows& rows) {
  const auto cases = list_cases(settings.ours.programs + "/net_collectives");
  std::vector<std::string> chosen;
  for (const std::string& name : names)
    if (wanted(settings, name)) chosen.push_back(name);
  if (chosen.empty()) return;
  announce("collectives", layout, transport);
  for (const bool beside_mpi : {true, false}) {
    Turns turns = net_turns(settings, "net_collectives", layout);
    turns.beside_mpi = beside_mpi;
    if (crowded(layout)) take_apart(turns);
    turns.variants[0] = net.ours(layout, transport);
    turns.variants[2] = beside_mpi ? net.openmpi(layout) : net.oshmem(layout);
    if (beside_mpi) turns.variants[3] = net.mpich(layout);
    if (!beside_mpi && (transport != kRawTransport || !turns.variants[2]->missing.empty())) continue;
    for (Row& row : take_turns(settings, turns, cases, chosen)) {
      row.limit = row.raw;
      row.state += fmt::format(", {}x{}{}", layout.hosts, layout.pes_per_host, beside_mpi ? "" : ", beside OSHMEM");
      rows.push_back(finished(net, std::move(row), layout, transport));
    }
  }
}

// Random updates; Open MPI's OSHMEM beside the first network.
void add_gups(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  if (!wanted(settings, "net_gups")) return;
  announce("random updates", kPair, transport);
  Row row{.name = "net_gups", .bytes = 8, .unit = "Mops/s", .high_is_better = true, .state = "all PEs"};
  std::vector<double> ours, peer;
  const auto measure = [&](const Variant& variant, std::vector<double>& figures) {
    const auto lines = answers(settings, variant, "net_gups", {"--budget", "1000"}, row.remark);
    for (const Line& line : lines) figures.push_back(line.median);
  };
  for (int run = 0; run < (settings.full ? 9 : 3) && row.remark.empty(); ++run) {
    measure(net.ours(kPair, transport), ours);
    const Variant oshmem = net.oshmem(kPair);
    if (transport == kRawTransport && oshmem.missing.empty()) measure(oshmem, peer);
  }
  if (!ours.empty()) row.ours = median_of(ours);
  if (!peer.empty()) row.openmpi = median_of(peer);
  rows.push_back(finished(net, row, kPair, transport));
}

void add_busy_target(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  if (!wanted(settings, "net_busy_target")) return;
  announce("a target that computes", kPair, transport);
  std::string remark;
  const auto lines = answers(settings, net.ours(kPair, transport), "queue_busy_target",
                             {"--budget", settings.full ? "10000" : "2000"}, remark);
  for (const Line& line : lines) {
    Row row{.name = "net_busy_target", .bytes = 8, .unit = "us", .state = line.state + ", " + line.note};
    row.ours = line.median;
    rows.push_back(finished(net, row, kPair, transport));
  }
  if (lines.empty())
    rows.push_back(finished(net,
                            {.name = "net_busy_target", .bytes = 8, .unit = "us", .state = "p99", .remark = remark},
                            kPair, transport));
}

void add_agent_idle(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  if (!wanted(settings, "net_agent_idle_cpu")) return;
  announce("idle agent", kPair, transport);
  std::string remark;
  const auto lines = answers(settings, net.ours(kPair, transport), "net_agent_idle",
                             {"--budget", settings.full ? "10000" : "3000"}, remark);
  for (const Line& line : lines) {
    Row row{.name = line.name, .unit = "%", .state = line.state};
    row.ours = line.median;
    rows.push_back(finished(net, row, kPair, transport));
  }
  if (lines.empty())
    rows.push_back(finished(net, {.name = "net_agent_idle_cpu", .unit = "%", .remark = remark}, kPair, transport));
}

// A network that needs no CPU of the target, or is used as if it did not.
struct RmaNetwork {
  const char* transport;
  const char* name;
  Arguments ours;
  Arguments plain;
};

// Two pretended nodes of this machine.
Variant ours_over(const Settings& settings, const RmaNetwork& network) {
  Arguments environment = network.ours;
  environment.insert(environment.end(),
                     {std::string("SHMEMX_TRANSPORT=") + network.transport, "SHMEMX_PES_PER_NODE=1"});
  return in_environment(settings.ours, environment);
}
Variant alone(const Settings& settings, const RmaNetwork& network) {
  Variant plain{std::string("plain ") + network.transport, {}, settings.cluster.plain_programs, ""};
  plain.program = network.transport;
  if (!std::filesystem::exists(plain.programs + "/" + network.transport)) plain.missing = "not built";
  plain.launcher = {"/usr/bin/mpiexec.hydra", "-bind-to", "none", "-n", "{n}"};
  Arguments environment = network.plain;
  environment.emplace_back("BENCH_RMA_ONLY=1");
  return in_environment(plain, environment);
}

// The cases that are measured keep their names: a job knows them by their places in the list.
std::vector<ListedCase> rma_cases(const Settings& settings) {
  constexpr std::pair<const char*, std::size_t> kCases[] = {
      {"net_put_quiet", 8}, {"net_get", 8},     {"net_put_nbi_rate", 8}, {"net_get", 4096},    {"net_put", 4096},
      {"net_get", 65536},   {"net_put", 65536}, {"net_get", 1048576},    {"net_put", 1048576},
  };
  auto cases = list_cases(settings.ours.programs + "/net_one_sided");
  for (ListedCase& what : cases) {
    const bool is_chosen = std::any_of(std::begin(kCases), std::end(kCases), [&](const auto& one) {
      return what.name == one.first && what.bytes == one.second;
    });
    if (!is_chosen) what.name.clear();
    what.raw_methods = 1;
  }
  return cases;
}

// Puts and gets past the target's CPU: over libfabric's shm provider, which has the kernel copy, and over UCX without
// tcp, beside the same network alone, with the same level of completion.
std::array<RmaNetwork, 2> rma_networks() {
  return {{
      {"ofi",
       "shm provider",
       {"FI_PROVIDER=shm"},
       {"FI_PROVIDER=shm", "BENCH_OFI_PROVIDER=shm", "BENCH_OFI_COMPLETION=transmit"}},
      {"ucx", "posix, cma", {"UCX_TLS=posix,cma,self", "SHMEMX_NET_RMA=on"}, {"UCX_TLS=posix,cma,self"}},
  }};
}
// The same jobs beside the OpenSHMEM that the user names, in the place of the limit. It may take another way between
// PEs of one machine, such as memory that it has mapped.
void add_rma_beside_peer(const Settings& settings, const RmaNetwork& network, const std::vector<ListedCase>& cases,
                         const std::vector<std::string>& names, Rows& rows) {
  if (!settings.rma_peer.missing.empty()) return;
  announce("RMA beside " + settings.rma_peer.label + ", " + network.name, kPair, network.transport);
  Turns turns = net_turns(settings, "net_one_sided", kPair);
  turns.variants[0] = ours_over(settings, network);
  turns.variants[1] = in_environment(settings.rma_peer, network.plain);
  for (Row& row : take_turns(settings, turns, cases, names)) {
    row.name = "net_rma_" + row.name.substr(std::strlen("net_"));
    row.state += std::string(", ") + network.name + ", beside " + settings.rma_peer.label;
    row.raw.reset();
    row.transport = network.transport;
    row.pes = kPair.pes();
    rows.push_back(row);
  }
}

void add_rma(const Settings& settings, Rows& rows) {
  const auto networks = rma_networks();
  for (Row row : measure_net_instructions(settings, ours_over(settings, networks[0]))) {
    row.transport = networks[0].transport;
    row.state += std::string(", ") + networks[0].name;
    rows.push_back(row);
  }
  if (!wanted(settings, "net_rma")) return;
  const auto cases = rma_cases(settings);
  std::vector<std::string> names;
  for (const ListedCase& what : cases)
    if (!what.name.empty()) names.push_back(what.name);
  for (const RmaNetwork& network : networks) {
    announce(std::string("RMA, ") + network.name, kPair, network.transport);
    Turns turns = net_turns(settings, "net_one_sided", kPair);
    turns.variants[0] = ours_over(settings, network);
    turns.variants[1] = alone(settings, network);
    for (Row& row : take_turns(settings, turns, cases, names)) {
      row.name = "net_rma_" + row.name.substr(std::strlen("net_"));
      row.state += std::string(", ") + network.name;
      row.raw.reset();
      row.transport = network.transport;
      row.pes = kPair.pes();
      rows.push_back(row);
    }
    add_rma_beside_peer(settings, network, cases, names, rows);
  }
}

// Two threads, each with a private context, beside twice what one of them reaches.
void add_rma_threads(const Settings& settings, Rows& rows) {
  if (!wanted(settings, "net_rma_threads") && !wanted(settings, "net_rma")) return;
  for (const RmaNetwork& network : rma_networks()) {
    announce(std::string("RMA of two threads, ") + network.name, kPair, network.transport);
    Row row{.name = "net_rma_threads",
            .pes = kPair.pes(),
            .bytes = 8,
            .unit = "Mops/s",
            .high_is_better = true,
            .transport = network.transport};
    row.state = std::string("k=2, ") + network.name;
    const Arguments options{"--budget", settings.full ? "5000" : "1500"};
    for (const Line& line : answers(settings, ours_over(settings, network), "threads_rate", options, row.remark)) {
      if (line.state == "k=1") row.limit = 2 * line.median;
      if (line.state == "k=2") row.ours = line.median;
    }
    rows.push_back(row);
  }
}

Arguments strict_provider(const Settings& settings) {
  const std::string folder = settings.ours.programs + "/../../tests/support/strict_provider/bin";
  return {"FI_PROVIDER=shmemxtest", "FI_PROVIDER_PATH=" + folder, "SHMEMX_TEST_PROVIDER_SEED=0"};
}

// The same of a target that sleeps in a wait, polls, or computes: the mean of the latter beside that of the first.
void add_rma_target(const Settings& settings, Rows& rows) {
  if (!wanted(settings, "net_rma_busy")) return;
  const RmaNetwork networks[] = {
      {"ofi", "strict provider", strict_provider(settings), {}},
      {"ofi", "shm provider", {"FI_PROVIDER=shm"}, {}},
  };
  for (const RmaNetwork& network : networks) {
    announce(std::string("RMA and its target, ") + network.name, kPair, network.transport);
    std::map<std::pair<std::string, std::string>, std::vector<double>> figures;  // by name and state
    std::string remark;
    for (int run = 0; run < (settings.full ? 5 : 3); ++run) {
      for (const Line& line : answers(settings, ours_over(settings, network), "net_rma_target",
                                      {"--budget", settings.full ? "2000" : "500"}, remark))
        figures[{line.name, line.state}].push_back(line.median);
    }
    for (auto& [what, means] : figures) {
      const auto idle = figures.find({what.first, "target waits"});
      Row row{.name = what.first, .pes = kPair.pes(), .bytes = 8, .unit = "us", .transport = network.transport};
      row.state = what.second + ", " + network.name;
      row.ours = median_of(means);
      if (what.second == "target computes" && idle != figures.end()) row.limit = median_of(idle->second);
      rows.push_back(row);
    }
    if (figures.empty())
      rows.push_back({.name = "net_rma_get_busy",
                      .pes = kPair.pes(),
                      .bytes = 8,
                      .unit = "us",
                      .transport = network.transport,
                      .state = network.name,
                      .remark = remark});
  }
}

// A put that wakes nobody, to a PE that sleeps in a wait; the strict provider is without a descriptor to sleep on.
void add_rma_wake(const Settings& settings, Rows& rows) {
  if (!wanted(settings, "net_rma_wake") && !wanted(settings, "net_rma")) return;
  const RmaNetwork network{"ofi", "strict provider", strict_provider(settings), {}};
  announce("waits for RMA, strict provider", kPair, network.transport);
  Variant ours = in_environment(ours_over(settings, network), {"SHMEMX_TEST_PROVIDER=efa"});
  std::string remark;
  for (const Line& line : answers(settings, ours, "net_rma_wake", {"--budget", "10000"}, remark)) {
    Row row{.name = line.name, .pes = kPair.pes(), .bytes = 8, .unit = line.name == "net_rma_wake" ? "us" : "%"};
    row.transport = network.transport;
    row.state = line.state + ", " + network.name;
    row.ours = line.median;
    rows.push_back(row);
  }
}

void add_start(const Settings& settings, const Net& net, Rows& rows) {
  if (!wanted(settings, "net_start") || !net.virtual_hosts()) return;
  constexpr Layout kMany{4, 8};
  announce("start", kMany, kRawTransport);
  Variant empty = net.mpich(kMany);
  empty.program = "net_empty_mpi";
  const Variant variants[] = {net.ours(kMany, kRawTransport), empty};
  std::vector<double> wall_ms[2];
  Row row{.name = "net_start", .unit = "ms", .state = "launch to end, Hydra; limit: MPICH"};
  for (int repeat = 0; repeat < (settings.full ? 9 : 5); ++repeat)
    for (std::size_t v = 0; v < 2; ++v) {
      if (!variants[v].missing.empty()) continue;
      const Finished run = run_once(command(settings, variants[v], "hello", kMany.pes()), Milliseconds(60'000));
      if (run.ok) wall_ms[v].push_back(run.wall_ms);
      if (!run.ok && repeat == 0) row.remark += fmt::format("{}: start {}. ", variants[v].label, run.why);
    }
  if (!wall_ms[0].empty()) row.ours = median_of(wall_ms[0]);
  if (!wall_ms[1].empty()) row.limit = median_of(wall_ms[1]);
  rows.push_back(finished(net, row, kMany, kRawTransport));
}

}  // namespace

Rows measure_net(const Settings& settings, const std::function<void(const Rows&)>& keep) {
  const Net net(settings);
  if (!net.virtual_hosts()) std::cerr << "bench: no virtual hosts; pretended nodes of this machine, without peers\n";
  rise_above_jobs();
  Rows rows;
  for (const std::string transport : kTransports) {
    for (const auto add : {add_one_sided, add_beside_mpi_rma, add_two_sided, add_ablations, add_gups, add_agent_cost,
                           add_busy_target, add_agent_idle}) {
      add(settings, net, transport, rows);
      keep(rows);
    }
  }
  const std::vector<std::string> names{"net_barrier", "net_reduce", "net_alltoall", "net_broadcast"};
  for (const Layout& layout : {kPair, Layout{2, 2}, Layout{4, 1}}) {
    add_collectives(settings, net, layout, kRawTransport, names, rows);
    keep(rows);
  }
  for (const Layout& layout : {kPair, Layout{4, 1}}) {
    add_collectives(settings, net, layout, "ethernet", {"net_barrier", "net_reduce"}, rows);
    keep(rows);
  }
  add_rma(settings, rows);
  add_rma_threads(settings, rows);
  add_rma_target(settings, rows);
  add_rma_wake(settings, rows);
  keep(rows);
  add_start(settings, net, rows);
  return rows;
}

}  // namespace shmemx::bench
