#include "starter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <iterator>
#include <string_view>

#include "debugger.hpp"
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

// Returns oshrun's exit status for a program that cannot run.
int status_of(int error) { return error == ENOENT ? 127 : 126; }

}  // namespace

Starter::Starter(const Parts& parts) : parts_(parts), null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  ::getrlimit(RLIMIT_NOFILE, &open_files_);
  if (parts_.spec.tag_output) {
    rlimit more = open_files_;
    more.rlim_cur = more.rlim_max;  // two pipes for each PE; the PEs get the old limit back
    ::setrlimit(RLIMIT_NOFILE, &more);
  }
  own_sessions_ = parts_.output.terminal().is_open() || has_controlling_terminal();
}

int Starter::start_all() {
  int pe = 0;
  for (const AppSpec& app : parts_.spec.apps) {
    Program program{app, {}, {}};
    if (const int failed = find(program); failed != 0) return failed;
    AppSpec debugger = app;
    Program debugged{debugger, {}, {}};
    if (!parts_.spec.inspection.gdb_pes.empty()) {
      debugger.command = under_gdb(program.path, app.command);
      if (const int failed = find(debugged); failed != 0) return failed;
    }
    Environment environment(app, parts_.records, parts_.processes.size());
    for (int i = 0; i < app.n_pes; ++i, ++pe) {
      if (const int failed =
              start_one(pe, parts_.spec.inspection.is_debugged(pe) ? debugged : program, environment.of_pe(pe));
          failed != 0)
        return failed;
    }
  }
  return 0;
}

int Starter::find(Program& program) {
  const AppSpec& app = program.app;
  if (!app.directory.empty() && !can_enter(app.directory)) {
    const int reason = errno;
    parts_.output.say("cannot change to the directory " + app.directory + " (--wdir): " + std::strerror(reason));
    return status_of(reason);
  }
  program.path = find_program(app.command[0], app.directory);
  if (program.path.empty()) {
    const int reason = errno;
    const bool is_here = app.command[0].find('/') == std::string::npos && ::access(app.command[0].c_str(), X_OK) == 0;
    parts_.output.say("cannot run " + app.command[0] + ": " + std::strerror(reason) +
                      (is_here ? " in PATH; there is one in this directory: ./" + app.command[0] : ""));
    return status_of(reason);
  }
  for (const std::string& argument : app.command) program.arguments.push_back(const_cast<char*>(argument.c_str()));
  program.arguments.push_back(nullptr);
  return 0;
}

int Starter::start_one(int pe, const Program& program, char* const* environment) {
  Terminal& terminal = parts_.output.terminal();
  SpawnSpec spec;
  spec.path = program.path.c_str();
  spec.arguments = program.arguments.data();
  spec.environment = environment;
  if (!program.app.directory.empty()) spec.directory = program.app.directory.c_str();
  spec.signals = &parts_.signals.mask_before();
  spec.open_files = parts_.spec.tag_output ? &open_files_ : nullptr;
  spec.group = parts_.processes.group(pe);
  spec.own_session = own_sessions_;
  const bool reads = pe == parts_.spec.inspection.reader();
  if (reads) spec.terminal = terminal.pe_end();
  cpu_set_t cpus;
  if (parts_.binding.get(pe, &cpus)) {
    spec.cpus = &cpus;
    spec.cpus_bytes = sizeof cpus;
  }
  std::vector<UniqueFd> ours;  // the PE's ends of pipes; closed here after its start
  if (!open_streams(pe, spec.standard_files, ours)) {
    parts_.output.say("cannot make pipes for pe " + std::to_string(pe) + ": " + std::strerror(errno));
    return 1;
  }
  const Spawned spawned = spawn(spec);
  parts_.processes.add(pe, spawned.pid);
  if (reads) terminal.set_reader(spawned.pid);
  if (spawned.error == 0) return 0;
  parts_.output.say(std::string("cannot ") + spawned.action + " " + spec.arguments[0] + " (pe " + std::to_string(pe) +
                    "): " + std::strerror(spawned.error));
  return status_of(spawned.error);
}

// Opens a PE's standard files. In place of the terminal a PE gets the pseudo-terminal; where there is none, a PE's
// output goes to the terminal itself, and PE 0 reads that if oshrun is in the foreground at its start.
bool Starter::open_streams(int pe, int (&files)[3], std::vector<UniqueFd>& ours) {
  const Terminal& terminal = parts_.output.terminal();
  int ends[2];
  if (pe != parts_.spec.inspection.reader()) {
    files[0] = null_.get();
  } else if (terminal.stands_for(STDIN_FILENO)) {
    files[0] = terminal.pe_end();
  } else if (::isatty(STDIN_FILENO) != 0 && !is_in_foreground(STDIN_FILENO)) {
    files[0] = null_.get();
  }
  for (int file = 1; file < 3; ++file) {
    if (!parts_.spec.tag_output) {
      if (terminal.stands_for(file)) files[file] = terminal.pe_end();
      continue;
    }
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    files[file] = ends[1];
    ours.emplace_back(ends[1]);
    parts_.output.add_stream(UniqueFd(ends[0]), file, pe);
  }
  return true;
}

}  // namespace shmemx::launcher
