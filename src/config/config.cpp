#include "config/config.hpp"

#include <string_view>
#include <utility>

#include "config/nearest.hpp"
#include "config/other_libraries.hpp"

namespace shmemx::config {
namespace {

enum class Standing { own, standard, widespread };

struct Name {
  std::string_view name;
  Variable variable;
  Standing standing;
};

// All names by precedence: a row's own name first, then the aliases in the order of their table.
constexpr Name kNames[] = {
#define SHMEMX_CONFIG_NAME(member, kind_, name, ...) {name, Variable::member, Standing::own},
    SHMEMX_CONFIG_TABLE(SHMEMX_CONFIG_NAME)
#undef SHMEMX_CONFIG_NAME
#define SHMEMX_CONFIG_NAME(member, name, standing) {name, Variable::member, Standing::standing},
        SHMEMX_CONFIG_ALIASES(SHMEMX_CONFIG_NAME)
#undef SHMEMX_CONFIG_NAME
};
constexpr std::size_t kNameCount = kVariableCount + kAliasCount;
static_assert(std::size(kNames) == kNameCount);

// Names with our prefixes that belong to others: those that oshrun passes to the PEs, those of tests and benches, and
// those that module systems and makefiles export for any SHMEM library.
constexpr std::string_view kForeignPrefixes[] = {"SHMEMX_JOB_", "SHMEMX_TEST_", "SHMEMX_BENCH_", "SHMEMX_BUILD_",
                                                 "SHMEMX_MPI_"};
constexpr std::string_view kForeignNames[] = {
    "SHMEM_HOME",    "SHMEM_ROOT",     "SHMEM_DIR",      "SHMEM_PATH",    "SHMEM_PREFIX", "SHMEM_BASE",
    "SHMEM_INC",     "SHMEM_INCLUDE",  "SHMEM_INCDIR",   "SHMEM_LIB",     "SHMEM_LIBDIR", "SHMEM_LIBS",
    "SHMEM_CFLAGS",  "SHMEM_CXXFLAGS", "SHMEM_CPPFLAGS", "SHMEM_LDFLAGS", "SHMEM_CC",     "SHMEM_CXX",
    "SHMEM_OPTS",    "SHMEM_LAUNCHER", "SHMEM_RUN",      "SHMEMX_HOME",   "SHMEMX_ROOT",  "SHMEMX_DIR",
    "SHMEMX_PREFIX", "SHMEMX_OSHRUN",  "SHMEMX_CC",      "SHMEMX_CXX"};

bool is_foreign(std::string_view name) {
  for (const std::string_view prefix : kForeignPrefixes) {
    if (name.starts_with(prefix)) return true;
  }
  for (const std::string_view known : kForeignNames) {
    if (name == known) return true;
  }
  return false;
}

constexpr std::size_t kNoName = kNameCount;

std::size_t index_of(std::string_view name) {
  for (std::size_t i = 0; i < kNameCount; ++i) {
    if (kNames[i].name == name) return i;
  }
  return kNoName;
}

// The result of one pass over the environment. The views point into it.
struct Findings {
  std::array<const char*, kNameCount> values{};  // null if not set
  std::vector<std::string_view> unknown;
};

bool starts_like_ours(std::string_view entry) {
  return entry.starts_with("SHMEM_") || entry.starts_with("SHMEMX_") || entry.starts_with("SMA_") ||
         entry.starts_with("XT_SYMMETRIC_");
}

Findings scan(const char* const* environment) {
  Findings found;
  if (environment == nullptr) return found;
  for (; *environment != nullptr; ++environment) {
    const char first = (*environment)[0];
    if (first != 'S' && first != 'X') continue;  // a cheap test before the entry's length is measured
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !starts_like_ours(entry)) continue;
    const std::string_view name = entry.substr(0, equals);
    const std::size_t index = index_of(name);
    if (index == kNoName) {
      if (!is_foreign(name)) found.unknown.push_back(name);
    } else if (found.values[index] == nullptr) {
      found.values[index] = *environment + equals + 1;
    }
  }
  return found;
}

// Quotes a user's text for a one-line message: replaces control characters and limits the length.
std::string quoted(std::string_view value) {
  constexpr std::size_t most = 60;
  std::string out = "'";
  for (const char c : value.substr(0, most)) out += (c < ' ' || c == 0x7f) ? '?' : c;
  if (value.size() > most) out += "...";
  return out + "'";
}

Error bad_value(std::string_view variable, std::string_view value, Complaint complaint, const char* allowed,
                const char* example) {
  std::string text(variable);
  text += ": value " + quoted(value) + " " + complaint + "; allowed is " + allowed + "; for example " +
          std::string(variable) + "=" + example;
  return Error{Errc::invalid_argument, 0, std::move(text)};
}

// Returns the index of the name with the highest precedence that is set for `variable`, or kNoName.
std::size_t strongest(const Findings& found, Variable variable) {
  for (std::size_t i = 0; i < kNameCount; ++i) {
    if (kNames[i].variable == variable && found.values[i] != nullptr) return i;
  }
  return kNoName;
}

template <class Kind>
Status set(Config& config, typename Kind::value_type& member, Variable variable, const Findings& found) {
  const std::size_t index = strongest(found, variable);
  if (index == kNoName) return {};
  const Name& name = kNames[index];
  if (const Complaint complaint = Kind::parse(found.values[index], member)) {
    return bad_value(name.name, found.values[index], complaint, Kind::allowed, Kind::example);
  }
  Origin& origin = config.origins[static_cast<std::size_t>(variable)];
  origin.source = name.standing == Standing::own ? Source::environment : Source::alias;
  origin.variable = name.name.data();  // a literal, so it is null-terminated
  if (name.standing == Standing::widespread) {
    config.warnings.push_back(std::string(name.name) + " is not a variable of OpenSHMEM; did you mean " +
                              std::string(kNames[static_cast<std::size_t>(variable)].name) + "? Its value is used.");
  }
  return {};
}

void warn_of_unknown(Config& config, const Findings& found) {
  for (const std::string_view name : found.unknown) {
    if (const char* const instead = instead_of(name)) {
      config.warnings.push_back("variable " + quoted(name) + " of another library has no effect; " + instead);
      continue;
    }
    std::string text = "unknown variable " + quoted(name) + " has no effect";
    const std::string_view nearest = nearest_variable(name);
    text += nearest.empty() ? "; SHMEM_INFO=all lists all variables" : "; did you mean " + std::string(nearest) + "?";
    config.warnings.push_back(std::move(text));
  }
}

}  // namespace

Result<Config> parse_environment(const char* const* environment) {
  const Findings found = scan(environment);
  Config config;
#define SHMEMX_CONFIG_SET(member, kind_, ...) \
  SHMEMX_TRY(set<kind::kind_>(config, config.member, Variable::member, found));
  SHMEMX_CONFIG_TABLE(SHMEMX_CONFIG_SET)
#undef SHMEMX_CONFIG_SET
  warn_of_unknown(config, found);
  if (!config.warn_unknown) config.warnings.clear();
  return config;
}

InitErrors init_errors_of(const char* const* environment) {
  const Findings found = scan(environment);
  const std::size_t index = strongest(found, Variable::init_errors);
  InitErrors mode = InitErrors::abort;
  if (index == kNoName || kind::error_choice::parse(found.values[index], mode) != nullptr) return InitErrors::abort;
  return mode;
}

}  // namespace shmemx::config
