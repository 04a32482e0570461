// shmem_info: prints the library's version, what this machine allows, and every variable with its value.
#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/colour.hpp"
#include "bootstrap/wire.hpp"
#include "config/config.hpp"
#include "config/config_report.hpp"
#include "machine.hpp"
#include "version.hpp"

namespace {

using Json = nlohmann::ordered_json;

// The ways to start a PE: src/bootstrap/connect.cpp.
std::string launchers() {
  const std::string pmix = SHMEMX_HAVE_PMIX ? "PMIx (loaded at run time), " : "";
  return "oshrun, PMI-1, PMI-2, " + pmix +
         "steps of Slurm without an interface (on one node), the program's own functions (shmemx_init_attr), none";
}

Json library_json() {
  return {{"name", "shmemx"},
          {"version", shmemx::launcher::kVersion},
          {"specification", "OpenSHMEM 1.6"},
          {"compiler", std::string(SHMEMX_COMPILER)},
          {"build_type", SHMEMX_BUILD_TYPE},
          {"launchers", launchers()},
          {"hwloc", SHMEMX_HAVE_HWLOC ? "yes" : "no"}};
}

Json limits_json() {
  return {{"pes_per_node", shmemx::bootstrap::kMaxNodePes},
          {"pes", shmemx::bootstrap::kMaxPes},
          {"cpus_in_affinity_records", shmemx::bootstrap::kAffinityWords * 64}};
}

Json variables_json(const shmemx::config::Config& config, unsigned groups) {
  Json rows = Json::array();
  for (const auto& row : shmemx::config::report(config)) {
    if ((groups & bit_of(row.group)) == 0) continue;
    rows.push_back({{"variable", row.variable},
                    {"group", name_of(row.group)},
                    {"value", row.value},
                    {"default", row.default_text},
                    {"source", row.source},
                    {"allowed", row.allowed},
                    {"example", row.example},
                    {"aliases", row.aliases},
                    {"meaning", row.meaning}});
  }
  return rows;
}

// Returns a number of bytes, to three digits or four: "23.5 GiB", or "4 KiB" if that is exact.
std::string rounded_bytes(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[48];
  const bool exact = value == std::floor(value);
  std::snprintf(text, sizeof text, "%.*f %s", exact || value >= 100 ? 0 : value >= 10 ? 1 : 2, value, kUnits[unit]);
  return text;
}

constexpr std::string_view kBytes = "bytes";  // the name of a number of bytes is this word or ends in it

bool holds_bytes(std::string_view name, const Json& value) {
  return value.is_number_integer() && name.size() >= kBytes.size() &&
         name.substr(name.size() - kBytes.size()) == kBytes;
}

// Returns the name of a value as the text shows it: a unit stands behind the number.
std::string shown_name(const std::string& name, const Json& value) {
  return holds_bytes(name, value) ? name.substr(0, name.size() - std::min(kBytes.size() + 1, name.size())) : name;
}

std::string plain(const std::string& name, const Json& value) {
  if (holds_bytes(name, value)) return rounded_bytes(value.get<std::uint64_t>());
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [inner_name, inner] : value.items()) {
    const std::string shown = shown_name(inner_name, inner);
    text += (text.empty() ? "" : ", ") + shown + (shown.empty() ? "" : " ") + plain(inner_name, inner);
  }
  return text;
}

void print_json(const Json& all) {
  std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_section(const std::string& title, const Json& section) {
  const shmemx::Colour colour(STDOUT_FILENO, shmemx::kBold);
  std::printf("%s%s%s\n", colour.begin, title.c_str(), colour.end);
  for (const auto& [name, value] : section.items())
    std::printf("  %-24s %s\n", shown_name(name, value).c_str(), plain(name, value).c_str());
}

void print_text(const Json& library, const Json& machine, const Json& limits) {
  print_section("library", library);
  for (const auto& [title, section] : machine.items()) print_section(title, section);
  print_section("limits", limits);
}

using Entry = void (*)();

struct Library {
  Entry init = nullptr;
  Entry finalize = nullptr;
};

// Loads the library next to this program, or else the one that the dynamic loader finds.
Library load_library() {
  char self[PATH_MAX] = "";
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string path(self, length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string prefix = path.substr(0, path.rfind("/bin/"));
  void* library = nullptr;
  for (const std::string& name :
       {prefix + "/" SHMEMX_LIBDIR "/libshmemx.so.1", prefix + "/lib/libshmemx.so.1", std::string("libshmemx.so.1")}) {
    if (library == nullptr) library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
  if (library == nullptr) return {};
  return {reinterpret_cast<Entry>(::dlsym(library, "shmem_init")),
          reinterpret_cast<Entry>(::dlsym(library, "shmem_finalize"))};
}

// Captures and returns what `print` writes to stdout.
template <class Print>
std::string captured(Print print) {
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) return {};
  std::fflush(stdout);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(::fileno(file), STDOUT_FILENO);
  print();
  std::fflush(stdout);
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  std::string text;
  std::rewind(file);
  for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

// Parses the report of SHMEM_INFO=peers: a heading, then rows of a name in a column of fixed width and a text. A row
// without a name continues the one above.
Json peers_json(const std::string& report) {
  constexpr std::size_t kNameAt = 2;
  constexpr std::size_t kTextAt = 20;
  Json peers;
  std::istringstream lines(report);
  std::string line;
  std::getline(lines, line);
  peers["summary"] = line;
  peers["rows"] = Json::array();
  while (std::getline(lines, line)) {
    if (line.size() < kTextAt) continue;
    std::string name = line.substr(kNameAt, kTextAt - kNameAt);
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) peers["rows"].push_back({{"name", name}, {"text", Json::array()}});
    if (!peers["rows"].empty()) peers["rows"].back()["text"].push_back(line.substr(kTextAt));
  }
  return peers;
}

// Joins the job that this program was started in, as in `oshrun -n 4 shmem_info --peers`. PE 0 prints.
int show_peers(bool as_json) {
  const Library library = load_library();
  if (library.init == nullptr || library.finalize == nullptr) {
    const char* const why = ::dlerror();
    std::fprintf(stderr, "shmem_info: cannot load the library: %s\n", why != nullptr ? why : "it lacks shmem_init");
    return 1;
  }
  ::setenv("SHMEM_INFO", "peers", 1);
  for (const char* name : {"SHMEM_VERSION", "SMA_VERSION"}) ::unsetenv(name);  // both print if set to any value
  const std::string report = as_json ? captured(library.init) : (library.init(), std::string());
  if (!report.empty()) print_json({{"peers", peers_json(report)}});
  library.finalize();
  return 0;
}

// Prints variables of `groups` (bits; 0: as many as the form is meant for) and, unless only variables were requested,
// the library, the machine and the limits. Returns the exit status.
int show_all(bool as_json, bool config_only, unsigned groups) {
  int status = 0;
  auto config = shmemx::config::parse_environment(environ);
  if (!config) {  // the rest is useful with the defaults
    std::fprintf(stderr, "shmem_info: %s\n", config.error().text.c_str());
    config = shmemx::config::Config();
    status = 1;
  }
  for (const std::string& warning : config->warnings)
    std::fprintf(stderr, "shmem_info: warning: %s\n", warning.c_str());
  if (as_json) {
    Json all;
    if (!config_only) {
      all["library"] = library_json();
      all["machine"] = shmemx::launcher::describe_machine();
      all["limits"] = limits_json();
    }
    all["variables"] = variables_json(*config, groups != 0 ? groups : shmemx::config::kAllGroups);
    print_json(all);
    return status;
  }
  if (!config_only) print_text(library_json(), shmemx::launcher::describe_machine(), limits_json());
  constexpr unsigned kShown = bit_of(shmemx::config::Group::everyday);
  std::printf("%s", shmemx::config::render_info(*config, groups != 0 ? groups : kShown).c_str());
  return status;
}

constexpr const char* kEveryGroup = "all";

std::vector<std::string> group_words() {
  std::vector<std::string> words = {kEveryGroup};
  for (std::size_t i = 0; i < shmemx::config::kGroups; ++i)
    words.push_back(name_of(static_cast<shmemx::config::Group>(i)));
  return words;
}

// Returns the groups as bits; none if `words` is empty.
unsigned groups_of(const std::vector<std::string>& words) {
  unsigned groups = 0;
  for (const std::string& word : words) {
    if (word == kEveryGroup) groups = shmemx::config::kAllGroups;
    for (std::size_t i = 0; i < shmemx::config::kGroups; ++i) {
      const auto group = static_cast<shmemx::config::Group>(i);
      if (word == name_of(group)) groups |= bit_of(group);
    }
  }
  return groups;
}

}  // namespace

int main(int argc, char** argv) {
  bool as_json = false;
  bool config_only = false;
  bool peers = false;
  std::vector<std::string> groups;
  CLI::App app("Shows the shmemx library, what this machine allows it, and all variables with their values.",
               "shmem_info");
  app.set_version_flag("--version", std::string("shmem_info (shmemx) ") + shmemx::launcher::kVersion);
  app.add_flag("--json", as_json, "Print JSON");
  CLI::Option* const config_flag = app.add_flag("--config", config_only, "Print the variables only");
  app.add_option(
         "--group", groups,
         "Variables to print: everyday, network, measuring, tests or all; those that are set are printed always")
      ->delimiter(',')
      ->check(CLI::IsMember(group_words()).description(""));
  app.add_flag("--peers", peers,
               "Print the routes to the other PEs, and why other routes are not used; start it as the job would be")
      ->excludes(config_flag);
  app.footer(
      "Examples:\n"
      "  shmem_info\n"
      "  shmem_info --config --group network\n"
      "  oshrun -n 4 shmem_info --peers");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "shmem_info: %s; see shmem_info --help\n", error.what());
    return 2;
  }
  return peers ? show_peers(as_json) : show_all(as_json, config_only, groups_of(groups));
}
