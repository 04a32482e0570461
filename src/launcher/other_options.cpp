#include "other_options.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace shmemx::launcher {
namespace {

constexpr Launcher kOmpi = Launcher::mpirun;
constexpr Launcher kHydra = Launcher::hydra;
constexpr Launcher kSlurm = Launcher::srun;

enum class Meaning {
  own,        // `text` is oshrun's spelling, with "=value" where another launcher's option has a fixed meaning
  job_pair,   // VAR VALUE for all parts
  part_pair,  // VAR VALUE for this part
  as_asked,   // oshrun does so anyway
  none,       // no effect
  refused,    // `text` tells what to do instead
  count,      // Open MPI's -c: as -n. Slurm's, beside -n: cores for each PE
  nodes,
  map_by,
  bind_to,
  starter,
  exports,
  input
};

struct Row {
  std::string_view name;  // without dashes
  int values;
  Meaning meaning;
  const char* text;
  Launcher whose = Launcher::any;
};

constexpr char kRedirect[] = "redirect oshrun's own output or input; -l names the PE of each line";
constexpr char kDebugger[] = "--gdb runs a PE under gdb";
constexpr char kParts[] = "write the parts on the command line, with a colon between them";
constexpr char kFailing[] = "a PE that fails ends the job";

// clang-format off
constexpr Row kRows[] = {
    // oshrun's own, and what means the same elsewhere
    {"n", 1, Meaning::own, "-n"},                    {"np", 1, Meaning::own, "--np"},
    {"ntasks", 1, Meaning::own, "--np"},             {"x", 1, Meaning::own, "-x"},
    {"wdir", 1, Meaning::own, "--wdir"},             {"wd", 1, Meaning::own, "--wdir"},
    {"chdir", 1, Meaning::own, "--wdir"},            {"D", 1, Meaning::own, "--wdir"},
    {"timeout", 1, Meaning::own, "--timeout"},       {"host", 1, Meaning::own, "--host"},
    {"status", 1, Meaning::own, "--status"},         {"gdb", 0, Meaning::own, "--gdb"},
    {"attach-on-abort", 0, Meaning::own, "--attach-on-abort"},
    {"hosts", 1, Meaning::own, "--host"},            {"H", 1, Meaning::own, "--host"},
    {"w", 1, Meaning::own, "--host"},                {"nodelist", 1, Meaning::own, "--host"},
    {"hostfile", 1, Meaning::own, "--hostfile"},     {"machinefile", 1, Meaning::own, "--hostfile"},
    {"f", 1, Meaning::own, "--hostfile"},            {"ppn", 1, Meaning::own, "--ppn"},
    {"perhost", 1, Meaning::own, "--ppn"},           {"N", 1, Meaning::own, "--ppn"},
    {"npernode", 1, Meaning::own, "--ppn"},          {"ntasks-per-node", 1, Meaning::own, "--ppn"},
    {"pernode", 0, Meaning::own, "--ppn=1"},         {"bind", 0, Meaning::own, "--bind"},
    {"l", 0, Meaning::own, "-l"},                    {"tag-output", 0, Meaning::own, "-l"},
    {"label", 0, Meaning::own, "-l"},                {"prepend-rank", 0, Meaning::own, "-l"},
    {"v", 0, Meaning::own, "-v"},                    {"verbose", 0, Meaning::own, "-v"},
    {"report-bindings", 0, Meaning::own, "-v"},      {"q", 0, Meaning::own, "-q"},
    {"quiet", 0, Meaning::own, "-q"},                {"Q", 0, Meaning::own, "-q"},
    {"oversubscribe", 0, Meaning::own, "--oversubscribe"},
    {"overcommit", 0, Meaning::own, "--oversubscribe"},
    {"O", 0, Meaning::own, "--oversubscribe"},
    {"allow-run-as-root", 0, Meaning::own, "--allow-run-as-root"},
    {"help", 0, Meaning::own, "--help"},             {"version", 0, Meaning::own, "--version"},
    {"V", 0, Meaning::own, "--version"},
    {"bind-to", 1, Meaning::bind_to, ""},            {"cpu-bind", 1, Meaning::bind_to, ""},
    {"cpu_bind", 1, Meaning::bind_to, ""},           {"bind-to-core", 0, Meaning::own, "--bind-to=core"},
    {"bind-to-socket", 0, Meaning::own, "--bind-to=socket"},
    {"bind-to-none", 0, Meaning::own, "--bind-to=none"},
    {"launcher", 1, Meaning::starter, ""},           {"c", 1, Meaning::count, ""},
    {"genv", 2, Meaning::job_pair, ""},              {"env", 2, Meaning::part_pair, ""},
    {"export", 1, Meaning::exports, "", kSlurm},     {"map-by", 1, Meaning::map_by, "", kOmpi},
    {"rank-by", 1, Meaning::map_by, "", kOmpi},      {"nodes", 1, Meaning::nodes, "", kSlurm},
    {"stdin", 1, Meaning::input, "", kOmpi},
    // What oshrun does anyway
    {"genvall", 0, Meaning::as_asked, "", kHydra},   {"envall", 0, Meaning::as_asked, "", kHydra},
    {"genvlist", 1, Meaning::as_asked, "", kHydra},  {"envlist", 1, Meaning::as_asked, "", kHydra},
    {"localhost", 1, Meaning::as_asked, "", kHydra}, {"K", 0, Meaning::as_asked, "", kSlurm},
    {"kill-on-bad-exit", 0, Meaning::as_asked, "", kSlurm},
    {"u", 0, Meaning::as_asked, "", kSlurm},         {"unbuffered", 0, Meaning::as_asked, "", kSlurm},
    {"pty", 0, Meaning::as_asked, "", kSlurm},       {"byslot", 0, Meaning::as_asked, "", kOmpi},
    {"bycore", 0, Meaning::as_asked, "", kOmpi},
    // Settings of another launcher
    {"mca", 2, Meaning::none, "", kOmpi},            {"gmca", 2, Meaning::none, "", kOmpi},
    {"omca", 2, Meaning::none, "", kOmpi},           {"prtemca", 2, Meaning::none, "", kOmpi},
    {"pmixmca", 2, Meaning::none, "", kOmpi},        {"am", 1, Meaning::none, "", kOmpi},
    {"tune", 1, Meaning::none, "", kOmpi},           {"prefix", 1, Meaning::none, "", kOmpi},
    {"noprefix", 0, Meaning::none, "", kOmpi},       {"personality", 1, Meaning::none, "", kOmpi},
    {"hetero-nodes", 0, Meaning::none, "", kOmpi},   {"bynode", 0, Meaning::none, "", kOmpi},
    {"display-map", 0, Meaning::none, "", kOmpi},    {"display", 1, Meaning::none, "", kOmpi},
    {"display-allocation", 0, Meaning::none, "", kOmpi},
    {"display-topo", 0, Meaning::none, "", kOmpi},   {"nooversubscribe", 0, Meaning::none, "", kOmpi},
    {"no-oversubscribe", 0, Meaning::none, "", kOmpi},
    {"use-hwthread-cpus", 0, Meaning::none, "", kOmpi},
    {"cpus-per-proc", 1, Meaning::none, "", kOmpi},  {"cpus-per-rank", 1, Meaning::none, "", kOmpi},
    {"leave-session-attached", 0, Meaning::none, "", kOmpi},
    {"timestamp-output", 0, Meaning::none, "", kOmpi},
    {"iface", 1, Meaning::none, "", kHydra},         {"rmk", 1, Meaning::none, "", kHydra},
    {"bootstrap", 1, Meaning::none, "", kHydra},     {"bootstrap-exec", 1, Meaning::none, "", kHydra},
    {"launcher-exec", 1, Meaning::none, "", kHydra}, {"order-nodes", 1, Meaning::none, "", kHydra},
    {"usize", 1, Meaning::none, "", kHydra},         {"topolib", 1, Meaning::none, "", kHydra},
    {"membind", 1, Meaning::none, "", kHydra},       {"demux", 1, Meaning::none, "", kHydra},
    {"print-rank-map", 0, Meaning::none, "", kHydra},
    {"print-all-exitcodes", 0, Meaning::none, "", kHydra},
    {"prepend-pattern", 1, Meaning::none, "", kHydra},
    {"disable-hostname-propagation", 0, Meaning::none, "", kHydra},
    {"gpus-per-proc", 1, Meaning::none, "", kHydra}, {"mpi", 1, Meaning::none, "", kSlurm},
    {"p", 1, Meaning::none, "", kSlurm},             {"partition", 1, Meaning::none, "", kSlurm},
    {"A", 1, Meaning::none, "", kSlurm},             {"account", 1, Meaning::none, "", kSlurm},
    {"J", 1, Meaning::none, "", kSlurm},             {"job-name", 1, Meaning::none, "", kSlurm},
    {"m", 1, Meaning::none, "", kSlurm},             {"distribution", 1, Meaning::none, "", kSlurm},
    {"mem", 1, Meaning::none, "", kSlurm},           {"mem-per-cpu", 1, Meaning::none, "", kSlurm},
    {"mem-bind", 1, Meaning::none, "", kSlurm},      {"hint", 1, Meaning::none, "", kSlurm},
    {"qos", 1, Meaning::none, "", kSlurm},           {"reservation", 1, Meaning::none, "", kSlurm},
    {"constraint", 1, Meaning::none, "", kSlurm},    {"gres", 1, Meaning::none, "", kSlurm},
    {"exclusive", 0, Meaning::none, "", kSlurm},     {"overlap", 0, Meaning::none, "", kSlurm},
    {"cpus-per-task", 1, Meaning::none, "", kSlurm}, {"threads-per-core", 1, Meaning::none, "", kSlurm},
    // What a job would run wrongly without
    {"output-filename", 1, Meaning::refused, kRedirect, kOmpi},
    {"merge-stderr-to-stdout", 0, Meaning::refused, "write 2>&1", kOmpi},
    {"outfile-pattern", 1, Meaning::refused, kRedirect, kHydra},
    {"errfile-pattern", 1, Meaning::refused, kRedirect, kHydra},
    {"output", 1, Meaning::refused, kRedirect, kSlurm}, {"o", 1, Meaning::refused, kRedirect, kSlurm},
    {"error", 1, Meaning::refused, kRedirect, kSlurm},  {"e", 1, Meaning::refused, kRedirect, kSlurm},
    {"input", 1, Meaning::refused, kRedirect, kSlurm},  {"i", 1, Meaning::refused, kRedirect, kSlurm},
    {"configfile", 1, Meaning::refused, kParts, kHydra}, {"app", 1, Meaning::refused, kParts, kOmpi},
    {"multi-prog", 0, Meaning::refused, kParts, kSlurm},
    {"npersocket", 1, Meaning::refused, "use -n, and --bind-to socket to bind PE after PE to the sockets", kOmpi},
    {"genvnone", 0, Meaning::refused, "PEs get the whole environment; start the program by env -i", kHydra},
    {"envnone", 0, Meaning::refused, "PEs get the whole environment; start the program by env -i", kHydra},
    {"enable-recovery", 0, Meaning::refused, kFailing, kOmpi}, {"continuous", 0, Meaning::refused, kFailing, kOmpi},
    {"disable-auto-cleanup", 0, Meaning::refused, kFailing, kHydra},
    {"debug", 0, Meaning::refused, kDebugger, kOmpi},  {"xterm", 1, Meaning::refused, kDebugger, kOmpi},
    {"time", 1, Meaning::refused, "use --timeout, whose numbers are seconds", kSlurm},
    {"t", 1, Meaning::refused, "use --timeout, whose numbers are seconds", kSlurm},
};
// clang-format on

const char* owner_of(Launcher launcher) {
  if (launcher == kHydra) return "Hydra";
  return launcher == kSlurm ? "Slurm" : "Open MPI";
}

std::string join(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// One option as it was typed.
struct Typed {
  Words words;
  Words values;
  const Row* row = nullptr;

  OtherOption other(Effect effect, const char* instead = "") const { return {row->whose, words, effect, instead}; }
};

void add_own(PartOptions& options, std::string name, const Words& values) {
  // CLI::App would take a value with a dash for an option.
  if (values.size() == 1 && values[0][0] == '-' && name[1] == '-') name += "=" + values[0];
  options.own.push_back(name);
  if (name.find('=') == std::string::npos) options.own.insert(options.own.end(), values.begin(), values.end());
}

// --map-by and --rank-by. PEs fill host after host and core after core.
void read_map_by(PartOptions& options, const Typed& typed) {
  std::string rest = typed.values[0];
  Words pieces;
  for (std::size_t end = 0; end != std::string::npos; rest.erase(0, end + 1)) {
    end = rest.find(':');
    pieces.push_back(rest.substr(0, end));
    if (end == std::string::npos) break;
  }
  if (pieces[0] == "ppr") {
    if (pieces.size() >= 3 && is_number(pieces[1]) && pieces[2] == "node")
      return add_own(options, "--ppn", {pieces[1]});
    options.others.push_back(typed.other(Effect::refused, "use -n, or --ppn for a number on each host"));
    return;
  }
  Effect effect = Effect::none;
  if (pieces[0] == "slot" || pieces[0] == "core") effect = Effect::as_asked;
  if (pieces[0] == "node") effect = Effect::none_over_hosts;
  if (pieces.size() > 1 && pieces[1] != "oversubscribe" && pieces[1] != "OVERSUBSCRIBE") effect = Effect::none;
  options.others.push_back(typed.other(effect));
}

// --bind-to with Open MPI's names and modifiers, --cpu-bind of Slurm.
void read_bind_to(PartOptions& options, const Typed& typed) {
  static constexpr std::string_view kNames[][2] = {
      {"package", "socket"}, {"cores", "core"}, {"sockets", "socket"}, {"ldoms", "numa"}, {"no", "none"}};
  std::string where = typed.values[0];
  if (where.compare(0, 8, "verbose,") == 0) {
    options.own.emplace_back("-v");
    where.erase(0, 8);
  }
  where.resize(std::min(where.find(':'), where.size()));
  for (const auto& name : kNames) {
    if (where == name[0]) where = name[1];
  }
  add_own(options, "--bind-to", {where});
}

// Slurm's --export=ALL, --export=VAR,VAR=value, --export=NONE.
void read_exports(PartOptions& options, const Typed& typed) {
  std::string rest = typed.values[0];
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string name = rest.substr(0, end);
    if (name == "NONE" || name == "NIL") {
      options.others.push_back(
          typed.other(Effect::refused, "PEs get the whole environment; start the program by env -i"));
      return;
    }
    if (name.find('=') != std::string::npos) options.job_environment.push_back(name);
    rest.erase(0, end + 1);
  }
}

// --launcher: a launcher to pass the job to, or (Hydra) what that starts processes with.
void read_starter(PartOptions& options, const Typed& typed) {
  static constexpr std::string_view kStarters[] = {"ssh", "rsh", "fork", "slurm", "lsf", "sge", "pbs", "ll", "manual"};
  if (std::find(std::begin(kStarters), std::end(kStarters), typed.values[0]) == std::end(kStarters))
    return add_own(options, "--launcher", typed.values);
  OtherOption option = typed.other(Effect::none);
  option.whose = kHydra;
  options.others.push_back(option);
}

void read_count(PartOptions& options, const Typed& typed) {
  const bool has_count = std::any_of(options.own.begin(), options.own.end(),
                                     [](const std::string& word) { return word == "-n" || word == "--np"; });
  if (!has_count) return add_own(options, "-n", typed.values);
  OtherOption option = typed.other(Effect::none);
  option.whose = kSlurm;
  options.others.push_back(option);
}

void add_pair(PartOptions& options, const Typed& typed) {
  const std::string pair = typed.values[0] + "=" + typed.values[1];
  if (pair[0] == '=') {
    options.wrong = typed.words[0] + ": the variable has no name";
  } else if (typed.row->meaning == Meaning::job_pair) {
    options.job_environment.push_back(pair);
  } else {
    add_own(options, "-x", {pair});
  }
}

void add_typed(PartOptions& options, const Typed& typed) {
  switch (typed.row->meaning) {
    case Meaning::own:
      return add_own(options, typed.row->text, typed.values);
    case Meaning::job_pair:
    case Meaning::part_pair:
      return add_pair(options, typed);
    case Meaning::as_asked:
      return options.others.push_back(typed.other(Effect::as_asked));
    case Meaning::none:
      return options.others.push_back(typed.other(Effect::none));
    case Meaning::refused:
      return options.others.push_back(typed.other(Effect::refused, typed.row->text));
    case Meaning::count:
      return read_count(options, typed);
    case Meaning::nodes:
      return options.others.push_back(typed.other(typed.values[0] == "1" ? Effect::none_over_hosts : Effect::refused,
                                                  "list the hosts with --host"));
    case Meaning::map_by:
      return read_map_by(options, typed);
    case Meaning::bind_to:
      return read_bind_to(options, typed);
    case Meaning::starter:
      return read_starter(options, typed);
    case Meaning::exports:
      return read_exports(options, typed);
    case Meaning::input:
      return options.others.push_back(
          typed.other(typed.values[0] == "0" ? Effect::as_asked : Effect::refused, "PE 0 reads oshrun's input"));
  }
}

// Finds the option that `word` begins with: one or two dashes, one for a single letter.
const Row* find_row(std::string_view word) {
  word = word.substr(0, word.find('='));
  std::string_view name = word.substr(1);
  if (name[0] == '-') name.remove_prefix(1);
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& candidate) { return candidate.name == name; });
  const bool has_two = name.size() + 2 == word.size();
  if (row == std::end(kRows) || (has_two && name.size() == 1)) return nullptr;
  return row;
}

// Splits "-N2", as Slurm's users write it.
void split_number(Words& part, std::size_t at) {
  const std::string word = part[at];
  if (word.size() < 3 || word[0] != '-' || !is_number(std::string_view(word).substr(2))) return;
  const Row* const row = find_row(word.substr(0, 2));
  if (row == nullptr || row->values != 1) return;
  part[at].resize(2);
  part.insert(part.begin() + static_cast<std::ptrdiff_t>(at) + 1, word.substr(2));
}

// Reads the option at part[at] with its values. Returns the place of its last word.
std::size_t take_one(PartOptions& options, const Words& part, std::size_t at) {
  const std::string& word = part[at];
  const std::size_t equals = word.find('=');
  Typed typed{{word}, {}, find_row(word)};
  const bool is_flag_with_value = typed.row != nullptr && typed.row->values == 0 && equals != std::string::npos;
  if (typed.row == nullptr || (is_flag_with_value && typed.row->meaning == Meaning::own)) {
    options.own.push_back(word);  // CLI::App tells that it is unknown
    return at;
  }
  const auto wanted = static_cast<std::size_t>(typed.row->values);
  if (equals != std::string::npos && wanted > 0) typed.values.push_back(word.substr(equals + 1));
  while (typed.values.size() < wanted && at + 1 < part.size()) {
    typed.words.push_back(part[++at]);
    typed.values.push_back(part[at]);
  }
  if (typed.values.size() == wanted) {
    add_typed(options, typed);
  } else if (options.wrong.empty()) {
    options.wrong = word + " needs " + (wanted == 1 ? "a value" : "two values") + "; see oshrun --help";
  }
  return at;
}

}  // namespace

PartOptions take_options(const Words& typed_part, Words& command) {
  PartOptions options;
  Words part = typed_part;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool ends = part[i] == "--";
    if (ends || part[i].size() < 2 || part[i][0] != '-') {
      command.assign(part.begin() + static_cast<std::ptrdiff_t>(i) + (ends ? 1 : 0), part.end());
      break;
    }
    split_number(part, i);
    i = take_one(options, part, i);
  }
  return options;
}

Words passed_on(const JobSpec& spec, Launcher launcher) {
  Words words;
  for (const OtherOption& option : spec.others) {
    if (option.whose == launcher) words.insert(words.end(), option.words.begin(), option.words.end());
  }
  return words;
}

Status report_others(const JobSpec& spec, Launcher launcher) {
  std::string lost;
  for (const OtherOption& option : spec.others) {
    const std::string text = join(option.words) + " (" + owner_of(option.whose) + ")";
    if (option.whose == launcher) continue;
    if (option.effect == Effect::refused)
      return Error{Errc::invalid_argument, 0, text + " has no counterpart here; " + option.instead};
    const bool is_lost =
        option.effect == Effect::none || (option.effect == Effect::none_over_hosts && launcher != Launcher::any);
    if (is_lost) lost += (lost.empty() ? "" : ", ") + text;
  }
  if (!lost.empty() && !spec.quiet)
    std::fprintf(stderr, "oshrun: info: no effect here: %s (-q leaves this line out)\n", lost.c_str());
  return {};
}

}  // namespace shmemx::launcher
