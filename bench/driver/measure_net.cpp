// Measures between nodes: PEs on virtual hosts, or on pretended nodes of this machine, over each of our networks.
// Beside them: a bare TCP connection of the same processes, UCX and libfabric alone, Open MPI's OSHMEM, Open MPI,
// MPICH.
#include <errno.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "../support/stats.hpp"
#include "interleaved.hpp"

namespace shmemx::bench {
namespace {

constexpr const char* kTransports[] = {"tcp", "ethernet", "ucx", "ofi"};
constexpr const char* kRawTransport = "tcp";  // the transport that is compared with a bare connection
constexpr std::size_t kShortList = 13;        // the first cases of one_sided, which have bars

struct Layout {
  int hosts;
  int pes_per_host;

  int pes() const { return hosts * pes_per_host; }
};
constexpr Layout kPair{2, 1};

// Real-time priority, where it is allowed: whatever else runs on the machine does not take the cores from those that
// are compared. Ours and the plain programs have it from the start, with all their threads. Launchers of the peers need
// the cores while a job starts; their processes take it for the time of a case (support/program.hpp).
const Arguments& undisturbed() {
  static const Arguments kWrapper{"chrt", "-f", "1"};
  static const Arguments kNone;
  static const bool allowed = run_once({"chrt", "-f", "1", "true"}, Milliseconds(5000)).ok;
  return allowed ? kWrapper : kNone;
}
constexpr const char* kUndisturbed = "BENCH_REAL_TIME=1";

// Gives the driver a higher priority than its jobs, so that a busy job cannot delay the next order. Its children are
// ordinary processes.
void rise_above_jobs() {
  const sched_param parameter{2};
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) != 0)
    errno = 0;  // then the jobs cannot raise theirs either
}

// In that case no process gets real-time priority: some peers never yield and would keep their own processes from
// running.
bool crowded(const Layout& layout) { return layout.pes() > sysconf(_SC_NPROCESSORS_ONLN); }

class Net {
 public:
  explicit Net(const Settings& settings) : settings_(settings) {}

  bool virtual_hosts() const { return !settings_.cluster.hosts.empty(); }

  Variant ours(const Layout& layout, const std::string& transport, const Arguments& more = {}) const {
    Variant variant = settings_.ours;
    if (virtual_hosts()) variant.launcher = hydra(layout);
    Arguments environment{"SHMEMX_TRANSPORT=" + transport};
    if (!virtual_hosts()) environment.push_back(fmt::format("SHMEMX_PES_PER_NODE={}", layout.pes_per_host));
    environment.insert(environment.end(), more.begin(), more.end());
    if (!crowded(layout)) variant.wrapper = undisturbed();
    return in_environment(variant, environment);
  }

  // UCX or libfabric alone.
  Variant plain(const std::string& library) const {
    Variant variant{"plain " + library, {}, settings_.cluster.plain_programs, ""};
    variant.program = library;
    const std::string path = variant.programs + "/" + library;
    if (!std::filesystem::exists(path)) variant.missing = "not built";
    variant.launcher =
        virtual_hosts() ? hydra(kPair) : Arguments{"/usr/bin/mpiexec.hydra", "-bind-to", "none", "-n", "{n}"};
    variant.wrapper = undisturbed();
    return in_environment(variant, {"UCX_TLS=tcp,self"});
  }

  Variant oshmem(const Layout& layout) const {
    return of_openmpi(settings_.openmpi, "/usr/bin/oshrun", layout, {"--mca", "osc", "^rdma"});
  }
  Variant openmpi(const Layout& layout) const {
    return of_openmpi(settings_.openmpi_messages, "/usr/bin/mpirun.openmpi", layout,
                      {"--mca", "pml", "ob1", "--mca", "btl", "tcp,vader,self"});
  }
  Variant mpich(const Layout& layout) const {
    Variant variant = on_hosts(settings_.mpich);
    variant.launcher = hydra(layout);
    if (crowded(layout)) return variant;
    return in_environment(variant, {kUndisturbed});
  }

  std::string place() const { return virtual_hosts() ? "" : "pretended nodes"; }

 private:
  // Without hosts the peers would use shared memory, which is a different measurement.
  Variant on_hosts(Variant variant) const {
    if (!virtual_hosts()) variant.missing = "there are no virtual hosts";
    return variant;
  }

  std::string host_list(const Layout& layout, const std::string& behind_each) const {
    std::string list;
    for (int h = 0; h < layout.hosts && h < static_cast<int>(settings_.cluster.hosts.size()); ++h)
      list += (h > 0 ? "," : "") + settings_.cluster.hosts[static_cast<std::size_t>(h)] + behind_each;
    return list;
  }

  Arguments hydra(const Layout& layout) const {
    return {"/usr/bin/mpiexec.hydra",
            "-launcher",
            "ssh",
            "-launcher-exec",
            settings_.cluster.enter,
            "-bind-to",
            "none",
            "-hosts",
            host_list(layout, ""),
            "-ppn",
            std::to_string(layout.pes_per_host),
            "-n",
            "{n}"};
  }

  // A process of one host does not see that the others share its cores. Open MPI yields while it waits only if
  // configured to.
  Variant of_openmpi(const Variant& base, const std::string& launcher, const Layout& layout,
                     const Arguments& more) const {
    Variant variant = on_hosts(base);
    variant.launcher = {launcher,
                        "--allow-run-as-root",
                        "--oversubscribe",
                        "--bind-to",
                        "none",
                        "--map-by",
                        "slot",
                        "--mca",
                        "plm_rsh_agent",
                        settings_.cluster.enter,
                        "-n",
                        "{n}",
                        "-H",
                        host_list(layout, fmt::format(":{}", layout.pes_per_host))};
    variant.launcher.insert(variant.launcher.end(), more.begin(), more.end());
    const std::string networks = "UCX_TLS=tcp,self,sysv,posix";
    if (!crowded(layout)) return in_environment(variant, {kUndisturbed, networks});
    variant.launcher.insert(variant.launcher.end(), {"--mca", "mpi_yield_when_idle", "1"});
    return in_environment(variant, {networks});
  }

  const Settings& settings_;
};

// Fills in the fields that all rows of this file have.
Row finished(const Net& net, Row row, const Layout& layout, const std::string& transport) {
  row.transport = transport;
  row.hosts = layout.hosts;
  row.pes = layout.pes();
  if (!net.place().empty()) row.state += (row.state.empty() ? "" : ", ") + net.place();
  return row;
}

Rows take_turns(const Settings& settings, const Turns& turns, const std::vector<ListedCase>& cases,
                const std::vector<std::string>& names) {
  Rows rows;
  const auto is_wanted = [&](const ListedCase& what) {
    return std::find(names.begin(), names.end(), what.name) != names.end();
  };
  if (std::none_of(cases.begin(), cases.end(), is_wanted)) return rows;
  Interleaved interleaved(settings, turns);
  const auto measure = [&] {
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (is_wanted(cases[i])) interleaved.measure(static_cast<int>(i), cases[i]);
  };
  for (int launch = 0; launch < turns.launches; ++launch) {
    for (std::size_t v = 0; turns.apart && v < kVariants; ++v) {
      interleaved.launch(v);
      measure();
    }
    if (turns.apart) continue;
    interleaved.launch();
    measure();
  }
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (is_wanted(cases[i])) rows.push_back(interleaved.row(static_cast<int>(i), cases[i]));
  return rows;
}

std::vector<std::string> wanted_names(const Settings& settings, const std::vector<ListedCase>& cases) {
  std::vector<std::string> names;
  for (const ListedCase& what : cases)
    if (wanted(settings, what.name)) names.push_back(what.name);
  return names;
}

Turns net_turns(const Settings& settings, const std::string& program, const Layout& layout) {
  Turns turns{.program = program, .pes = layout.pes(), .variants = {}};
  turns.own_folders = true;
  turns.launches = settings.full ? 3 : 1;
  turns.rounds = std::max(3, settings.rounds / turns.launches);
  turns.budget_ms = 2 * settings.budget_ms;  // samples are longer here
  return turns;
}

void announce(const std::string& what, const Layout& layout, const std::string& transport) {
  std::cerr << fmt::format("bench: {}, {} x {} PEs, {}\n", what, layout.hosts, layout.pes_per_host, transport);
}

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
  if (is_tcp) turns.variants[2] = net.oshmem(kPair);
  for (Row& row : take_turns(settings, turns, cases, names)) {
    if (is_tcp) row.limit = row.raw;
    rows.push_back(finished(net, std::move(row), kPair, transport));
  }
}

// Two-sided messages; the MPIs beside the first network.
void add_two_sided(const Settings& settings, const Net& net, const std::string& transport, Rows& rows) {
  const auto cases = list_cases(settings.ours.programs + "/net_sendrecv");
  const auto names = wanted_names(settings, cases);
  if (names.empty()) return;
  announce("two-sided messages", kPair, transport);
  Turns turns = net_turns(settings, "net_sendrecv", kPair);
  turns.variants[0] = net.ours(kPair, transport);
  if (transport == kRawTransport) {
    turns.beside_mpi = true;
    turns.variants[2] = net.openmpi(kPair);
    turns.variants[3] = net.mpich(kPair);
  }
  for (Row& row : take_turns(settings, turns, cases, names)) {
    row.limit = row.raw;
    rows.push_back(finished(net, std::move(row), kPair, transport));
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

void add_collectives(const Settings& settings, const Net& net, const Layout& layout,
                     const std::vector<std::string>& names, Rows& rows) {
  const auto cases = list_cases(settings.ours.programs + "/net_collectives");
  std::vector<std::string> chosen;
  for (const std::string& name : names)
    if (wanted(settings, name)) chosen.push_back(name);
  if (chosen.empty()) return;
  announce("collectives", layout, kRawTransport);
  for (const bool beside_mpi : {true, false}) {
    Turns turns = net_turns(settings, "net_collectives", layout);
    turns.beside_mpi = beside_mpi;
    if (crowded(layout)) {
      turns.apart = true;
      turns.launches = turns.rounds;
      turns.rounds = 1;
      turns.budget_ms *= 2;
    }
    turns.variants[0] = net.ours(layout, kRawTransport);
    turns.variants[2] = beside_mpi ? net.openmpi(layout) : net.oshmem(layout);
    if (beside_mpi) turns.variants[3] = net.mpich(layout);
    if (!beside_mpi && !turns.variants[2]->missing.empty()) continue;
    for (Row& row : take_turns(settings, turns, cases, chosen)) {
      row.limit = row.raw;
      row.state += fmt::format(", {}x{}{}", layout.hosts, layout.pes_per_host, beside_mpi ? "" : ", beside OSHMEM");
      rows.push_back(finished(net, std::move(row), layout, kRawTransport));
    }
  }
}

// Runs a program that prints its results in one run.
std::vector<Line> answers(const Settings& settings, const Variant& variant, const std::string& program,
                          const Arguments& options, std::string& remark) {
  Variant with_folder = in_environment(variant, {"BENCH_RAISED=1", "BENCH_CONTROL_DIR=" + settings.scratch});
  Arguments line = command(settings, with_folder, program, kPair.pes());
  line.insert(line.end(), options.begin(), options.end());
  const Finished run = run_once(line, Milliseconds(120'000));
  if (!run.ok) {
    remark = fmt::format("{}: {} {}. ", variant.label, program, run.why);
    std::cerr << "bench: " << remark << "\n";
  }
  return parse_lines(run.output);
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
    for (const auto add : {add_one_sided, add_two_sided, add_gups, add_agent_cost, add_busy_target, add_agent_idle}) {
      add(settings, net, transport, rows);
      keep(rows);
    }
  }
  const std::vector<std::string> names{"net_barrier", "net_reduce", "net_alltoall", "net_broadcast"};
  for (const Layout& layout : {kPair, Layout{2, 2}, Layout{4, 1}}) {
    add_collectives(settings, net, layout, names, rows);
    keep(rows);
  }
  add_start(settings, net, rows);
  return rows;
}

}  // namespace shmemx::bench
