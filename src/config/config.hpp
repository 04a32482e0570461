// The user's settings, read once at init and constant afterwards. The library does not call getenv for them later.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config_table.hpp"
#include "config/kinds.hpp"

namespace shmemx::config {

enum class Variable : std::size_t {
#define SHMEMX_CONFIG_ENUMERATOR(member, ...) member,
  SHMEMX_CONFIG_TABLE(SHMEMX_CONFIG_ENUMERATOR)
#undef SHMEMX_CONFIG_ENUMERATOR
};

#define SHMEMX_CONFIG_ONE(...) +1
inline constexpr std::size_t kVariableCount = SHMEMX_CONFIG_TABLE(SHMEMX_CONFIG_ONE);
inline constexpr std::size_t kAliasCount = SHMEMX_CONFIG_ALIASES(SHMEMX_CONFIG_ONE);
#undef SHMEMX_CONFIG_ONE

enum class Source { by_default, environment, alias };

struct Origin {
  Source source = Source::by_default;
  const char* variable = nullptr;  // the name that was set, in static storage; null for a default
};

struct Config {
#define SHMEMX_CONFIG_MEMBER(member, kind_, variable, default_, meaning) \
  kind::kind_::value_type member = kind::default_value<kind::kind_>(default_);
  SHMEMX_CONFIG_TABLE(SHMEMX_CONFIG_MEMBER)
#undef SHMEMX_CONFIG_MEMBER

  std::array<Origin, kVariableCount> origins{};
  std::vector<std::string> warnings;  // one line each; only PE 0 prints them, since all PEs of a job collect the same

  const Origin& origin_of(Variable variable) const { return origins[static_cast<std::size_t>(variable)]; }
};

// Parses an array of "NAME=value" that ends with a null pointer, such as `environ`; null counts as empty. If a name
// occurs twice, the first entry counts, as for getenv. Fails with Errc::invalid_argument and a text that names the
// variable, its value, the allowed values and an example.
Result<Config> parse_environment(const char* const* environment);

// Returns what to do if init fails: abort, unless SHMEM_INIT_ERRORS is "return". Separate from parse_environment,
// whose own failure must follow this setting too.
InitErrors init_errors_of(const char* const* environment);

}  // namespace shmemx::config
