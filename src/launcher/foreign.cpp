#include "foreign.hpp"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "bootstrap/wire.hpp"
#include "foreign_job.hpp"
#include "other_options.hpp"
#include "spawn.hpp"

namespace shmemx::launcher {
namespace {

const char* bind_word(Bind bind) {
  if (bind == Bind::core) return "core";
  return bind == Bind::socket ? "socket" : "numa";
}

// Returns the hosts as "a:2,b:2".
std::string join_hosts(const std::vector<Host>& hosts) {
  std::string list;
  for (const Host& host : hosts) {
    if (!list.empty()) list += ",";
    list += host.name + (host.n_pes > 0 ? ":" + std::to_string(host.n_pes) : "");
  }
  return list;
}

void add(Words& words, Words more) { words.insert(words.end(), more.begin(), more.end()); }

Words for_hydra(const JobSpec& spec) {
  Words words = passed_on(spec, Launcher::hydra);
  if (!spec.hosts.empty()) add(words, {"-hosts", join_hosts(spec.hosts)});
  if (spec.tag_output) words.push_back("-prepend-rank");
  if (spec.bind != Bind::none) add(words, {"-bind-to", bind_word(spec.bind)});
  for (const AppSpec& app : spec.apps) {
    if (&app != &spec.apps.front()) words.push_back(":");
    if (!app.directory.empty()) add(words, {"-wdir", app.directory});
    for (const std::string& variable : app.environment) {
      const std::size_t equals = variable.find('=');
      add(words, {"-env", variable.substr(0, equals), variable.substr(equals + 1)});
    }
    add(words, {"-n", std::to_string(app.n_pes)});
    add(words, app.command);
  }
  return words;
}

// Open MPI exports only its own variables by default.
Words variables_to_export() {
  Words names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name(*variable, std::strcspn(*variable, "="));
    const bool ours = name.compare(0, 5, "SHMEM") == 0 || name.compare(0, 4, "SMA_") == 0;
    if (ours || name == "PATH" || name == "LD_LIBRARY_PATH") names.push_back(name);
  }
  return names;
}

Words for_open_mpi(const JobSpec& spec) {
  Words words = passed_on(spec, Launcher::mpirun);
  if (::geteuid() == 0) words.push_back("--allow-run-as-root");
  words.push_back("--oversubscribe");  // as oshrun does
  if (!spec.hosts.empty()) add(words, {"--host", join_hosts(spec.hosts)});
  if (spec.tag_output) words.push_back("--tag-output");
  add(words, {"--bind-to", spec.bind != Bind::none ? bind_word(spec.bind) : "none"});
  if (spec.report_binding) words.push_back("--report-bindings");
  for (const AppSpec& app : spec.apps) {
    if (&app != &spec.apps.front()) words.push_back(":");
    if (!app.directory.empty()) add(words, {"--wdir", app.directory});
    for (const std::string& variable : app.environment) add(words, {"-x", variable});
    for (const std::string& name : variables_to_export()) {
      const bool given = std::any_of(app.environment.begin(), app.environment.end(), [&](const std::string& variable) {
        return variable.compare(0, name.size() + 1, name + "=") == 0;
      });
      if (!given) add(words, {"-x", name});
    }
    add(words, {"-n", std::to_string(app.n_pes)});
    add(words, app.command);
  }
  return words;
}

// Selects the options for placement: the same number of PEs on all hosts, or each PE's host by name.
Words srun_placement(const JobSpec& spec) {
  if (spec.hosts.empty()) return {};
  const int each = spec.hosts.front().n_pes;
  const bool alike =
      std::all_of(spec.hosts.begin(), spec.hosts.end(), [&](const Host& host) { return host.n_pes == each; });
  std::string list;
  int placed = 0;
  for (const Host& host : spec.hosts) {
    const int times = alike ? 1 : std::max(host.n_pes, 1);
    for (int i = 0; i < times && (alike || placed < spec.total_pes()); ++i, ++placed) {
      list += (list.empty() ? "" : ",") + host.name;
    }
  }
  Words words = {"--nodelist=" + list};
  if (!alike) words.push_back("--distribution=arbitrary");
  if (alike)
    words.push_back("--nodes=" + std::to_string(std::min<int>(static_cast<int>(spec.hosts.size()), spec.total_pes())));
  if (alike && each > 0) words.push_back("--ntasks-per-node=" + std::to_string(each));
  return words;
}

Result<Words> for_srun(const JobSpec& spec) {
  if (spec.apps.size() > 1) {
    return Error{Errc::unsupported, 0, "srun runs one program in a job; use --launcher hydra for several"};
  }
  const AppSpec& app = spec.apps.front();
  Words words = {"--mpi=pmi2", "--ntasks=" + std::to_string(app.n_pes), "--kill-on-bad-exit=1"};
  add(words, passed_on(spec, Launcher::srun));
  add(words, srun_placement(spec));
  if (spec.tag_output) words.push_back("--label");
  if (spec.bind != Bind::none) {
    words.push_back(std::string("--cpu-bind=") + (spec.report_binding ? "verbose," : "") +
                    (spec.bind == Bind::core     ? "cores"
                     : spec.bind == Bind::socket ? "sockets"
                                                 : "ldoms"));
  }
  if (!app.directory.empty()) words.push_back("--chdir=" + app.directory);
  add(words, app.command);
  return words;
}

// Returns true if the program is Open MPI's: MPICH has a mpirun too, which is its mpiexec.hydra.
bool is_open_mpi(const std::string& program) {
  std::FILE* output = ::popen(("'" + program + "' --version 2>/dev/null").c_str(), "r");
  if (output == nullptr) return false;
  char text[512] = "";
  const std::size_t n = std::fread(text, 1, sizeof text - 1, output);
  ::pclose(output);
  text[n] = '\0';
  return std::strstr(text, "Open MPI") != nullptr || std::strstr(text, "prterun") != nullptr ||
         std::strstr(text, "PRRTE") != nullptr;
}

std::string find_open_mpi() {
  for (const char* name : {"prterun", "mpirun.openmpi"}) {
    if (std::string path = find_program(name, {}); !path.empty()) return path;
  }
  std::string path = find_program("mpirun", {});
  return !path.empty() && is_open_mpi(path) ? path : std::string();
}

struct Found {
  Launcher launcher = Launcher::any;
  std::string program;
};

Result<Found> find_launcher(const JobSpec& spec) {
  const bool any = spec.launcher == Launcher::any;
  if (any || spec.launcher == Launcher::hydra) {
    if (std::string path = find_program("mpiexec.hydra", {}); !path.empty()) return Found{Launcher::hydra, path};
    if (!any) return Error{Errc::no_launcher, 0, "mpiexec.hydra (package mpich) was not found in PATH"};
  }
  if (spec.launcher == Launcher::srun || (any && std::getenv("SLURM_JOB_ID") != nullptr)) {
    if (std::string path = find_program("srun", {}); !path.empty()) return Found{Launcher::srun, path};
    if (!any) return Error{Errc::no_launcher, 0, "srun was not found in PATH"};
  }
  if (std::string path = find_open_mpi(); !path.empty()) return Found{Launcher::mpirun, path};
  if (!any) return Error{Errc::no_launcher, 0, "no prterun, and no mpirun of Open MPI, was found in PATH"};
  return Error{Errc::no_launcher, 0,
               "jobs over several hosts need mpiexec.hydra (package mpich), srun inside an allocation, or prterun or "
               "mpirun of Open MPI; none was found in PATH"};
}

// Returns true if the launcher will start processes over ssh. Inside an allocation of a resource manager, or if the
// user has chosen another start mechanism, host names only need a meaning there.
bool starts_over_ssh(Launcher launcher) {
  if (launcher == Launcher::srun) return false;
  for (const char* manager : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE", "COBALT_JOBID", "FLUX_JOB_ID"}) {
    if (std::getenv(manager) != nullptr) return false;
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    for (const std::string_view chosen : {"HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP", "HYDRA_RMK", "OMPI_MCA_plm",
                                          "OMPI_MCA_orte_rsh_agent", "PRTE_MCA_plm"}) {
      if (std::string_view(*variable).substr(0, chosen.size()) == chosen) return false;
    }
  }
  return true;
}

// Returns true if the user's ssh configuration has an entry for this host: another name, or a proxy.
bool ssh_knows(const std::string& host) {  // a plain name, see parse_host
  std::FILE* output = ::popen(("ssh -G -o CanonicalizeHostname=no " + host + " 2>/dev/null </dev/null").c_str(), "r");
  if (output == nullptr) return false;
  bool known = false;
  char text[1024];
  while (std::fgets(text, sizeof text, output) != nullptr) {
    std::string line = text;
    line.resize(std::min(line.find('\n'), line.size()));
    const std::string word = line.substr(0, line.find(' '));
    const std::string value = line.substr(std::min(word.size() + 1, line.size()));
    if (word == "hostname" && ::strcasecmp(value.c_str(), host.c_str()) != 0) known = true;
    if ((word == "proxyjump" || word == "proxycommand") && value != "none") known = true;
  }
  ::pclose(output);
  return known;
}

Status check_names(const std::vector<HostFound>& hosts) {
  for (const HostFound& host : hosts) {
    if (host.problem.empty() || ssh_knows(host.name)) continue;
    return Error{Errc::invalid_argument, 0,
                 "host '" + host.name + "' is not known here: " + host.problem +
                     "; allowed are names and addresses that this machine or ~/.ssh/config can look up"};
  }
  return {};
}

}  // namespace

bool needs_other_launcher(const JobSpec& spec, const std::vector<HostFound>& hosts) {
  if (spec.launcher != Launcher::any) return true;
  return !std::all_of(hosts.begin(), hosts.end(), [](const HostFound& host) { return host.is_this_machine; });
}

Result<ForeignCommand> translate(const JobSpec& spec, Launcher launcher, const std::string& program) {
  ForeignCommand command;
  Words words = {program};
  if (launcher == Launcher::srun) {
    SHMEMX_TRY_ASSIGN(own, for_srun(spec));
    add(words, std::move(own));
    command.environment = spec.apps.front().environment;
  } else {
    add(words, launcher == Launcher::hydra ? for_hydra(spec) : for_open_mpi(spec));
    if (launcher == Launcher::hydra && spec.report_binding) command.environment = {"HYDRA_TOPO_DEBUG=1"};
  }
  command.words = std::move(words);
  return command;
}

Result<int> hand_over(const JobSpec& spec, const std::vector<HostFound>& hosts) {
  if (!spec.inspection.gdb_pes.empty())
    return Error{Errc::invalid_argument, 0, "--gdb works on one machine only; --attach-on-abort works on several"};
  SHMEMX_TRY_ASSIGN(found, find_launcher(spec));
  SHMEMX_TRY(report_others(spec, found.launcher));
  if (starts_over_ssh(found.launcher)) SHMEMX_TRY(check_names(hosts));
  SHMEMX_TRY_ASSIGN(command, translate(spec, found.launcher, found.program));
  for (std::string& variable : command.environment) ::putenv(variable.data());
  // Variables of a surrounding job must not reach the PEs.
  for (const char* name : {bootstrap::kEnvFd, bootstrap::kEnvPe, bootstrap::kEnvSize, bootstrap::kEnvId})
    ::unsetenv(name);
  if (spec.verbose) {
    std::string line = "oshrun: info: hands over to:";
    for (const std::string& word : command.words) line += " " + word;
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  SHMEMX_TRY_ASSIGN(job, ForeignJob::create(spec));
  return job->run(command.words);
}

}  // namespace shmemx::launcher
