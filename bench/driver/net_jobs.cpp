#include "net_jobs.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace shmemx::bench {
namespace {

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

}  // namespace

void rise_above_jobs() {
  const sched_param parameter{2};
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) != 0)
    errno = 0;  // then the jobs cannot raise theirs either
}

bool crowded(const Layout& layout) { return layout.pes() > sysconf(_SC_NPROCESSORS_ONLN); }

Variant Net::ours(const Layout& layout, const std::string& transport, const Arguments& more, Tuning tuning) const {
  Variant variant = settings_.ours;
  if (virtual_hosts()) variant.launcher = hydra(layout);
  Arguments environment{"SHMEMX_TRANSPORT=" + transport};
  if (!virtual_hosts()) environment.push_back(fmt::format("SHMEMX_PES_PER_NODE={}", layout.pes_per_host));
  environment.insert(environment.end(), more.begin(), more.end());
  if (tuning == Tuning::tuned && !crowded(layout)) variant.wrapper = undisturbed();
  return in_environment(variant, environment);
}

Variant Net::plain(const std::string& library) const {
  Variant variant{"plain " + library, {}, settings_.cluster.plain_programs, ""};
  variant.program = library;
  const std::string path = variant.programs + "/" + library;
  if (!std::filesystem::exists(path)) variant.missing = "not built";
  variant.launcher =
      virtual_hosts() ? hydra(kPair) : Arguments{"/usr/bin/mpiexec.hydra", "-bind-to", "none", "-n", "{n}"};
  variant.wrapper = undisturbed();
  return in_environment(variant, {"UCX_TLS=tcp,self"});
}

Variant Net::oshmem(const Layout& layout) const {
  return of_openmpi(settings_.openmpi, "/usr/bin/oshrun", layout, {"--mca", "osc", "^rdma"});
}
Variant Net::openmpi(const Layout& layout) const {
  return of_openmpi(settings_.openmpi_messages, "/usr/bin/mpirun.openmpi", layout,
                    {"--mca", "pml", "ob1", "--mca", "btl", "tcp,vader,self", "--mca", "osc", "pt2pt"});
}
Variant Net::mpich(const Layout& layout) const {
  Variant variant = on_hosts(settings_.mpich);
  variant.launcher = hydra(layout);
  if (crowded(layout)) return variant;
  return in_environment(variant, {kUndisturbed});
}

// Without hosts the peers would use shared memory, which is a different measurement.
Variant Net::on_hosts(Variant variant) const {
  if (!virtual_hosts()) variant.missing = "there are no virtual hosts";
  return variant;
}

std::string Net::host_list(const Layout& layout, const std::string& behind_each) const {
  std::string list;
  for (int h = 0; h < layout.hosts && h < static_cast<int>(settings_.cluster.hosts.size()); ++h)
    list += (h > 0 ? "," : "") + settings_.cluster.hosts[static_cast<std::size_t>(h)] + behind_each;
  return list;
}

Arguments Net::hydra(const Layout& layout) const {
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
Variant Net::of_openmpi(const Variant& base, const std::string& launcher, const Layout& layout,
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

Row finished(const Net& net, Row row, const Layout& layout, const std::string& transport) {
  row.transport = transport;
  row.hosts = layout.hosts;
  row.pes = layout.pes();
  if (!net.place().empty()) row.state += (row.state.empty() ? "" : ", ") + net.place();
  return row;
}

void take_apart(Turns& turns) {
  turns.apart = true;
  turns.launches = turns.rounds;
  turns.rounds = 1;
  turns.budget_ms *= 2;
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

}  // namespace shmemx::bench
