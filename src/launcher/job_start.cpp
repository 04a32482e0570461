#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/affinity.hpp"
#include "base/host_name.hpp"
#include "job.hpp"
#include "spawn.hpp"

namespace shmemx::launcher {
namespace {

// The environment of one part, with four entries at the end for the variables that differ between PEs.
class Environment {
 public:
  Environment(const AppSpec& app, const Records& records, int n_pes) {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const bool of_a_launcher = std::strncmp(*variable, "SHMEMX_JOB_", 11) == 0 || of_other_launcher(*variable);
      if (!of_a_launcher && !replaced(app, *variable)) entries_.push_back(*variable);
    }
    for (const std::string& variable : app.environment) entries_.push_back(const_cast<char*>(variable.c_str()));
    char id[17];
    std::snprintf(id, sizeof id, "%" PRIx64, records.job_id());
    own_[0] = bootstrap::kEnvFd + ("=" + std::to_string(records.fd()));
    own_[1] = bootstrap::kEnvSize + ("=" + std::to_string(n_pes));
    own_[2] = bootstrap::kEnvId + std::string("=") + id;
    for (int i = 0; i < 3; ++i) entries_.push_back(own_[i].data());
    entries_.push_back(nullptr);
    entries_.push_back(nullptr);
  }

  char* const* of_pe(int pe) {
    own_[3] = bootstrap::kEnvPe + ("=" + std::to_string(pe));
    entries_[entries_.size() - 2] = own_[3].data();
    return entries_.data();
  }

 private:
  static bool of_other_launcher(const char* variable) {
    const std::string_view name(variable, std::strcspn(variable, "="));
    return std::find(std::begin(bootstrap::kOtherLaunchers), std::end(bootstrap::kOtherLaunchers), name) !=
           std::end(bootstrap::kOtherLaunchers);
  }

  static bool replaced(const AppSpec& app, const char* variable) {
    for (const std::string& own : app.environment) {
      if (std::strncmp(own.c_str(), variable, own.find('=') + 1) == 0) return true;
    }
    return false;
  }

  std::vector<char*> entries_;
  std::string own_[4];
};

bool is_ignored(int signal_number) {
  struct sigaction action {};
  return ::sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<std::unique_ptr<Job>> Job::create(JobSpec spec) {
  const int n_pes = spec.total_pes();
  if (n_pes > bootstrap::kMaxNodePes)
    return Error{Errc::invalid_argument, 0,
                 std::to_string(n_pes) + " PEs requested on this machine, allowed are 1.." +
                     std::to_string(bootstrap::kMaxNodePes)};
  // The guard starts first, so that it inherits almost nothing.
  SHMEMX_TRY_ASSIGN(guard, Guard::start(static_cast<std::size_t>(n_pes)));
  SHMEMX_TRY_ASSIGN(records, Records::create(n_pes));
  std::unique_ptr<Job> job(new Job(std::move(spec), std::move(records), std::move(guard)));
  if (!job->signals_.valid()) return system_error("open a signalfd");
  if (!job->null_.valid()) return system_error("open /dev/null");
  return job;
}

Job::Job(JobSpec spec, Records records, Guard guard)
    : spec_(std::move(spec)),
      records_(std::move(records)),
      guard_(std::move(guard)),
      null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      host_(host_name().text) {
  ::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD stays ignored, the exit status of PEs is lost
  sigset_t taken;
  ::sigemptyset(&taken);
  for (int number :
       {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH, SIGPIPE, SIGTTIN})
    ::sigaddset(&taken, number);
  if (is_ignored(SIGHUP))
    ::sigdelset(&taken, SIGHUP);  // started by nohup; a blocked signal would be delivered to signalfd all the same
  ::sigemptyset(&ignored_keys_);
  for (int number : {SIGINT, SIGQUIT, SIGTSTP}) {
    if (is_ignored(number)) ::sigaddset(&ignored_keys_, number);
  }
  ::sigprocmask(SIG_BLOCK, &taken, &signals_before_);
  // Only blocked, so that a missing reader, or a terminal that others read, appears as an error of write or read.
  ::sigdelset(&taken, SIGPIPE);
  ::sigdelset(&taken, SIGTTIN);
  signals_ = UniqueFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  ::getrlimit(RLIMIT_NOFILE, &open_files_);
  if (spec_.tag_output) {
    rlimit more = open_files_;
    more.rlim_cur = more.rlim_max;  // two pipes for each PE; the PEs get the old limit back
    ::setrlimit(RLIMIT_NOFILE, &more);
  }
  terminal_.open();
  own_sessions_ = terminal_.is_open() || has_controlling_terminal();
  for (const AppSpec& app : spec_.apps) {
    for (int i = 0; i < app.n_pes; ++i) processes_.push_back({&app, -1, false});
  }
  if (spec_.bind != Bind::none)
    cpu_groups_ = claim_groups(cpu_groups(spec_.bind, affinity_cpus(), "/sys"), processes_.size(), "/sys", claims_);
}

// Starts all PEs. Returns false if a program could not be started; the reason has been reported and the job is
// ending.
bool Job::start_all() {
  announce();
  int pe = 0;
  for (const AppSpec& app : spec_.apps) {
    if (!app.directory.empty() && !can_enter(app.directory)) {
      const int reason = errno;
      say("cannot change to the directory " + app.directory + " (--wdir): " + std::strerror(reason));
      end_job(reason == ENOENT ? 127 : 126);
      return false;
    }
    const std::string path = find_program(app.command[0], app.directory);
    if (path.empty()) {
      const int reason = errno;
      say("cannot run " + app.command[0] + ": " + std::strerror(reason));
      end_job(reason == ENOENT ? 127 : 126);
      return false;
    }
    std::vector<char*> arguments;
    for (const std::string& argument : app.command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    Environment environment(app, records_, static_cast<int>(processes_.size()));
    for (int i = 0; i < app.n_pes; ++i, ++pe) {
      if (!start_one(pe, path, arguments.data(), environment.of_pe(pe))) return false;
    }
  }
  return true;
}

bool Job::start_one(int pe, const std::string& path, char* const* arguments, char* const* environment) {
  Process& process = processes_[static_cast<std::size_t>(pe)];
  SpawnSpec spec;
  spec.path = path.c_str();
  spec.arguments = arguments;
  spec.environment = environment;
  if (!process.app->directory.empty()) spec.directory = process.app->directory.c_str();
  spec.signals = &signals_before_;
  spec.open_files = spec_.tag_output ? &open_files_ : nullptr;
  spec.group = guard_.groups() + pe;
  spec.own_session = own_sessions_;
  if (pe == 0) spec.terminal = terminal_.pe_end();
  cpu_set_t cpus;
  if (bind_pe(pe, &cpus)) {
    spec.cpus = &cpus;
    spec.cpus_bytes = sizeof cpus;
  }
  std::vector<UniqueFd> ours;  // the PE's ends of pipes; closed here after its start
  if (!open_streams(pe, spec.standard_files, ours)) {
    say("cannot make pipes for pe " + std::to_string(pe) + ": " + std::strerror(errno));
    end_job(1);
    return false;
  }
  const Spawned spawned = spawn(spec);
  process.pid = spawned.pid;
  if (pe == 0) terminal_.set_reader(spawned.pid);
  if (spawned.pid > 0) ++running_;
  if (spawned.error == 0) return true;
  say(std::string("cannot ") + spawned.action + " " + arguments[0] + " (pe " + std::to_string(pe) +
      "): " + std::strerror(spawned.error));
  end_job(spawned.error == ENOENT ? 127 : 126);
  return false;
}

// Opens a PE's standard files. In place of the terminal a PE gets the pseudo-terminal; where there is none, a PE's
// output goes to the terminal itself, and PE 0 reads that if oshrun is in the foreground at its start.
bool Job::open_streams(int pe, int (&files)[3], std::vector<UniqueFd>& ours) {
  int ends[2];
  if (pe != 0) {
    files[0] = null_.get();
  } else if (terminal_.stands_for(STDIN_FILENO)) {
    files[0] = terminal_.pe_end();
  } else if (::isatty(STDIN_FILENO) != 0 && !is_in_foreground(STDIN_FILENO)) {
    files[0] = null_.get();
  }
  for (int file = 1; file < 3; ++file) {
    if (!spec_.tag_output) {
      if (terminal_.stands_for(file)) files[file] = terminal_.pe_end();
      continue;
    }
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    files[file] = ends[1];
    ours.emplace_back(ends[1]);
    streams_.emplace_back(UniqueFd(ends[0]), file, pe);
  }
  return true;
}

bool Job::bind_pe(int pe, cpu_set_t* cpus) const {
  if (cpu_groups_.empty()) return false;
  CPU_ZERO(cpus);
  for (int cpu : cpu_groups_[static_cast<std::size_t>(pe) % cpu_groups_.size()]) {
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(cpu), cpus);
  }
  return CPU_COUNT(cpus) > 0;
}

}  // namespace shmemx::launcher
