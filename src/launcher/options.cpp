#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>

#include "base/affinity.hpp"
#include "bootstrap/wire.hpp"
#include "debugger.hpp"
#include "other_options.hpp"
#include "output.hpp"
#include "version.hpp"

namespace shmemx::launcher {
namespace {

std::vector<Words> split_parts(const Words& arguments) {
  std::vector<Words> parts(1);
  for (const std::string& word : arguments) {
    if (word == ":") {
      parts.emplace_back();
    } else {
      parts.back().push_back(word);
    }
  }
  return parts;
}

struct RawOptions {
  Words exports;
  Words hosts;
  Words hostfiles;
  std::string launcher = "any";
  std::string bind;  // empty: not given
  std::string gdb;
  bool attach = false;
  bool accepted = false;  // accepted for compatibility, without effect
};

// Converts "90", "1.5m" or "2h" into seconds.
std::string read_duration(std::string& text) {
  static const CLI::AsNumberWithUnit kUnits(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}});
  constexpr double kLongest = 1e9;
  std::string seconds = text;
  double value = 0;
  bool is_number = std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '.';
  try {
    is_number = is_number && kUnits(seconds).empty() && CLI::detail::lexical_cast(seconds, value);
  } catch (const CLI::ValidationError&) {
    is_number = false;
  }
  if (!is_number || !(value > 0 && value <= kLongest)) {
    return "'" + text +
           "' is not a time limit; allowed are seconds above 0, or a number with s, m or h, such as 90, 1m or 2h";
  }
  text = seconds;
  return {};
}

constexpr char kFooter[] =
    "Options end at the program's name. -n, -x and --wdir apply to their part of the line, all others to the job.\n"
    "Options of mpirun, mpiexec.hydra and srun that mean the same are accepted as well, see oshrun(1).\n\n"
    "Examples:\n"
    "  oshrun -n 4 ./program\n"
    "  oshrun -n 8 -x SHMEM_SYMMETRIC_SIZE=2G -l ./program input\n"
    "  oshrun --host a,b --ppn 16 ./program\n"
    "  oshrun -n 1 ./leader : -n 7 ./worker";

class HelpFormat : public CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: oshrun [options] program [arguments] [: [options] program [arguments]]...\n";
  }
};

// Restricts an option to `words`, which the help shows as "a|b".
CLI::Option* choose(CLI::Option* option, const std::vector<std::string>& words) {
  return option->type_name(CLI::detail::join(words, "|"))->check(CLI::IsMember(words).description(""));
}

// Makes an option a number of PEs, which the help shows as "N".
CLI::Option* count_pes(CLI::Option* option, int most) {
  return option->type_name("N")->check(CLI::Range(1, most).description(""));
}

void describe_inspection(CLI::App& app, JobSpec& job, RawOptions& raw) {
  app.add_option("--status", job.inspection.status_of,
                 "Show what the PEs of a job do, by the process number of its oshrun, of another launcher of it, or of "
                 "a PE on this host; SIGQUIT (Ctrl-\\) makes oshrun show it itself")
      ->type_name("PID")
      ->check(CLI::Range(1, 1 << 22).description(""));
  app.add_option("--gdb", raw.gdb,
                 "Run PE 0, or the one that is named, under gdb in this terminal. Several, as in --gdb=0,2: with a "
                 "terminal for each, OSHRUN_GDB='xterm -e gdb'")
      ->type_name("[=PE,...]")
      ->expected(0, 1);
  app.add_flag("--attach-on-abort", raw.attach,
               "A PE that is about to end the job waits for a debugger, and prints the command that attaches one");
}

void describe(CLI::App& app, AppSpec& spec, JobSpec& job, RawOptions& raw) {
  app.formatter(std::make_shared<HelpFormat>());
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("oshrun (shmemx) ") + kVersion);
  count_pes(app.add_option("-n,--np", spec.n_pes,
                           "Number of PEs, 1 to 4096 on each host (default: one for each usable core)"),
            bootstrap::kMaxPes);
  static_assert(bootstrap::kMaxNodePes == 4096);
  app.add_option("-x", raw.exports, "Set a variable for the PEs, or check that it is set; may be repeated")
      ->type_name("VAR[=VALUE]")
      ->take_all();
  app.add_option("--wdir", spec.directory, "Directory to run in")->type_name("DIR");
  choose(app.add_option("--bind-to", raw.bind,
                        "Bind PE after PE to a core, socket or NUMA node of its own (default: none)"),
         {"none", "core", "socket", "numa"});
  app.add_flag("--bind", job.report_binding, "Print the binding of each PE; binds to cores unless --bind-to is given");
  app.add_flag("-l,--tag-output", job.tag_output, "Put the PE's number in front of each line of output");
  app.add_option("--timeout", job.timeout_s, "End the job after this time, with status 124: seconds, or 90s, 1m, 2h")
      ->type_name("TIME")
      ->transform(CLI::Validator(read_duration, ""));
  describe_inspection(app, job, raw);
  app.add_flag("-v,--verbose", job.verbose, "Print the binding of PEs, and the command for several hosts");
  app.add_flag("-q,--quiet", job.quiet, "Leave out notes, such as that PEs share cores; or set OSHRUN_QUIET=1")
      ->envname("OSHRUN_QUIET");
  app.add_flag("--oversubscribe", raw.accepted, "Accepted: more PEs than cores are always allowed");
  app.add_flag("--allow-run-as-root", raw.accepted, "Accepted: oshrun runs as any user");
  app.add_option("--host", raw.hosts,
                 "Hosts to run on, each with an optional number of PEs; also -hosts, -H.\n"
                 "Other hosts than this one need an installed launcher")
      ->type_name("A[:N],B[:N]")
      ->take_all();
  app.add_option("--hostfile", raw.hostfiles, "The same from a file, a host in each line; also -f, -machinefile")
      ->type_name("FILE")
      ->take_all();
  count_pes(app.add_option("--ppn", job.n_host_pes, "Number of PEs on each host without a number"),
            bootstrap::kMaxNodePes);
  choose(app.add_option("--launcher", raw.launcher, "Pass the job to mpiexec.hydra, srun, or Open MPI's mpirun"),
         {"hydra", "srun", "mpirun"});
}

int complain(const std::string& text) {
  std::fputs(line_of_oshrun(text).c_str(), stderr);
  return 2;
}

std::string describe(const Error& error) {
  return error.text + (error.system_errno != 0 ? std::string(": ") + std::strerror(error.system_errno) : "");
}

// Adds the hosts and the launcher of a part to the job. Returns an empty text if they are valid, else the error.
std::string take_hosts(JobSpec& job, const RawOptions& raw) {
  for (const bool is_file : {false, true}) {
    for (const std::string& word : is_file ? raw.hostfiles : raw.hosts) {
      auto hosts = is_file ? read_hostfile(word) : parse_hosts(word);
      if (!hosts) return describe(hosts.error());
      job.hosts.insert(job.hosts.end(), hosts->begin(), hosts->end());
    }
  }
  if (raw.launcher == "hydra") job.launcher = Launcher::hydra;
  if (raw.launcher == "srun") job.launcher = Launcher::srun;
  if (raw.launcher == "mpirun") job.launcher = Launcher::mpirun;
  return {};
}

// Returns the number of PEs if none is given: one for each core, or the number that --ppn and the hosts name.
int default_pes(const JobSpec& job) {
  int n_pes = 0;
  for (const Host& host : job.hosts) n_pes += std::max(host.n_pes, 1);
  if (!job.hosts.empty()) return n_pes;
  return job.n_host_pes > 0 ? job.n_host_pes : usable_cpus();
}

// Adds variables that are for all parts; a part's own come first.
void add_environment(JobSpec& job, const Words& variables) {
  for (AppSpec& app : job.apps) {
    for (const std::string& variable : variables) {
      const std::size_t name = variable.find('=') + 1;
      const bool own = std::any_of(app.environment.begin(), app.environment.end(), [&](const std::string& other) {
        return other.compare(0, name, variable, 0, name) == 0;
      });
      if (!own) app.environment.push_back(variable);
    }
  }
}

// Completes and checks one part. Returns an empty text if it is valid, else the error.
std::string complete_part(AppSpec& spec, JobSpec& job, const RawOptions& raw, Words& job_environment) {
  if (const std::string wrong = take_hosts(job, raw); !wrong.empty()) return wrong;
  for (const std::string& word : raw.exports) {
    const std::size_t equals = word.find('=');
    if (equals == 0) return "-x " + word + ": the variable has no name";
    if (equals != std::string::npos) {
      spec.environment.push_back(word);
    } else if (std::getenv(word.c_str()) == nullptr) {
      return "-x " + word + ": the variable is not set; use -x " + word + "=VALUE";
    }
  }
  if (raw.attach) job_environment.push_back("SHMEMX_ATTACH_ON_ABORT=1");
  if (spec.command.empty() && job.inspection.status_of == 0) return "no program to run; see oshrun --help";
  if (raw.bind == "core" || (raw.bind.empty() && job.report_binding && job.bind == Bind::none)) job.bind = Bind::core;
  if (raw.bind == "socket") job.bind = Bind::socket;
  if (raw.bind == "numa") job.bind = Bind::numa;
  return {};
}

// Reads one part of the command line. Returns false if the program is to end, with `parsed.status`.
bool read_part(const Words& part, ParsedOptions& parsed, Words& job_environment) {
  AppSpec spec;
  RawOptions raw;
  PartOptions options = take_options(part, spec.command);
  job_environment.insert(job_environment.end(), options.job_environment.begin(), options.job_environment.end());
  parsed.job.others.insert(parsed.job.others.end(), options.others.begin(), options.others.end());
  CLI::App app("Runs a program as the PEs of one OpenSHMEM job.", "oshrun");
  describe(app, spec, parsed.job, raw);
  std::reverse(options.own.begin(), options.own.end());  // CLI::App takes a vector in reverse order
  std::string wrong = options.wrong;
  try {
    if (wrong.empty()) app.parse(options.own);
  } catch (const CLI::Success& wanted) {
    parsed.status = app.exit(wanted);
    return false;
  } catch (const CLI::ParseError& error) {
    wrong = std::string(error.what()) + "; see oshrun --help";
  }
  if (wrong.empty()) wrong = complete_part(spec, parsed.job, raw, job_environment);
  if (wrong.empty() && app.count("--gdb") != 0) wrong = read_gdb_pes(raw.gdb, parsed.job.inspection.gdb_pes);
  if (!wrong.empty()) parsed.status = complain(wrong);
  if (wrong.empty()) parsed.job.apps.push_back(std::move(spec));
  return wrong.empty();
}

}  // namespace

int JobSpec::total_pes() const {
  int sum = 0;
  for (const AppSpec& app : apps) sum += app.n_pes;
  return sum;
}

ParsedOptions parse_options(const std::vector<std::string>& arguments) {
  ParsedOptions parsed;
  parsed.finished = true;
  Words job_environment;
  for (const Words& part : split_parts(arguments)) {
    if (!read_part(part, parsed, job_environment)) return parsed;
  }
  add_environment(parsed.job, job_environment);
  for (Host& host : parsed.job.hosts) {
    if (host.n_pes == 0) host.n_pes = parsed.job.n_host_pes;
  }
  for (AppSpec& app : parsed.job.apps) {
    if (app.n_pes == 0) app.n_pes = default_pes(parsed.job);
  }
  const int most = parsed.job.hosts.empty() ? bootstrap::kMaxNodePes : bootstrap::kMaxPes;
  if (parsed.job.total_pes() > most) {
    parsed.status =
        complain(std::to_string(parsed.job.total_pes()) + " PEs requested" +
                 (parsed.job.hosts.empty() ? " on this machine" : "") + ", allowed are 1.." + std::to_string(most));
    return parsed;
  }
  if (const std::string wrong = check_gdb_pes(parsed.job); !wrong.empty()) {
    parsed.status = complain(wrong);
    return parsed;
  }
  parsed.finished = false;
  return parsed;
}

}  // namespace shmemx::launcher
