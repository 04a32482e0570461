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
#include "version.hpp"

namespace shmemx::launcher {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kTakesValue[] = {"-n",     "--np",       "-x",     "--bind-to", "--timeout",
                                       "--wdir", "--hostfile", "--host", "--ppn",     "--launcher"};

// Returns the two-dash form of long options that other launchers accept with one dash.
std::string canonical(const std::string& word) {
  static constexpr const char* kOneDash[] = {
      "-np",         "-wdir", "-bind-to", "-timeout", "-hostfile", "-machinefile", "-host",  "-hosts", "-oversubscribe",
      "-tag-output", "-help", "-version", "-verbose", "-ppn",      "-launcher",    "-quiet", "-bind"};
  std::string option = word.substr(0, word.find('='));
  const std::string value = word.substr(option.size());
  for (const char* one_dash : kOneDash) {
    if (option == one_dash) option.insert(0, "-");
  }
  if (option == "--wd") option = "--wdir";
  if (option == "--machinefile" || option == "-f") option = "--hostfile";
  if (option == "--hosts" || option == "-H") option = "--host";
  return option + value;
}

// Returns the options of one part. Everything from the first word that is neither an option nor a value belongs to
// the program.
Words take_options(const Words& part, Words& command) {
  Words options;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] == "--") {
      command.assign(part.begin() + static_cast<std::ptrdiff_t>(i) + 1, part.end());
      return options;
    }
    if (part[i].size() < 2 || part[i][0] != '-') {
      command.assign(part.begin() + static_cast<std::ptrdiff_t>(i), part.end());
      return options;
    }
    options.push_back(canonical(part[i]));
    const bool takes_value =
        std::find(std::begin(kTakesValue), std::end(kTakesValue), options.back()) != std::end(kTakesValue);
    if (takes_value && i + 1 < part.size()) options.push_back(part[++i]);
  }
  return options;
}

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
  std::string bind;       // empty: not given
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

void describe(CLI::App& app, AppSpec& spec, JobSpec& job, RawOptions& raw) {
  app.formatter(std::make_shared<HelpFormat>());
  app.footer(
      "Options end at the program's name. -n, -x and --wdir apply to their part of the line, all others to the job.");
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
  std::fprintf(stderr, "oshrun: %s\n", text.c_str());
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

// Returns the number of PEs if none is given: one for each core, or the number that the hosts name.
int default_pes(const JobSpec& job) {
  int n_pes = 0;
  for (const Host& host : job.hosts) n_pes += std::max(host.n_pes, 1);
  return job.hosts.empty() ? usable_cpus() : n_pes;
}

// Completes and checks one part. Returns an empty text if it is valid, else the error.
std::string complete_part(AppSpec& spec, JobSpec& job, const RawOptions& raw) {
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
  if (spec.command.empty()) return "no program to run; see oshrun --help";
  if (raw.bind == "core" || (raw.bind.empty() && job.report_binding && job.bind == Bind::none)) job.bind = Bind::core;
  if (raw.bind == "socket") job.bind = Bind::socket;
  if (raw.bind == "numa") job.bind = Bind::numa;
  return {};
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
  for (const Words& part : split_parts(arguments)) {
    AppSpec spec;
    RawOptions raw;
    Words options = take_options(part, spec.command);
    CLI::App app("Runs a program as the PEs of one OpenSHMEM job.", "oshrun");
    describe(app, spec, parsed.job, raw);
    std::reverse(options.begin(), options.end());  // CLI::App takes a vector in reverse order
    try {
      app.parse(options);
    } catch (const CLI::Success& wanted) {
      parsed.status = app.exit(wanted);
      return parsed;
    } catch (const CLI::ParseError& error) {
      parsed.status = complain(std::string(error.what()) + "; see oshrun --help");
      return parsed;
    }
    if (const std::string wrong = complete_part(spec, parsed.job, raw); !wrong.empty()) {
      parsed.status = complain(wrong);
      return parsed;
    }
    parsed.job.apps.push_back(std::move(spec));
  }
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
  parsed.finished = false;
  return parsed;
}

}  // namespace shmemx::launcher
