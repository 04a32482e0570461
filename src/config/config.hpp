// What the user set, read once at init and const afterwards. Nothing in the library calls getenv for these later.
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
  const char* variable = nullptr;  // the name the value was set under, of static storage; null by default
};

struct Config {
#define SHMEMX_CONFIG_MEMBER(member, kind_, variable, default_, meaning) \
  kind::kind_::value_type member = kind::default_value<kind::kind_>(default_);
  SHMEMX_CONFIG_TABLE(SHMEMX_CONFIG_MEMBER)
#undef SHMEMX_CONFIG_MEMBER

  std::array<Origin, kVariableCount> origins{};
  std::vector<std::string> warnings;  // one line each; for PE 0 to print, as all PEs of a job collect the same

  const Origin& origin_of(Variable variable) const { return origins[static_cast<std::size_t>(variable)]; }
};

// Reads an array of "NAME=value" that ends with a null pointer, such as `environ`; null counts as empty. One pass; what
// does not start with SHMEM, SMA_ or XT_ costs a comparison. Where a name occurs twice the first one counts, as
// for getenv. Fails with Errc::invalid_argument and a text that names variable, value, what is allowed and an example.
Result<Config> parse_environment(const char* const* environment);

// What to do when init fails. Apart from parse_environment, because its failure has to obey this too: abort, unless
// SHMEM_INIT_ERRORS is "return".
InitErrors init_errors_of(const char* const* environment);

}  // namespace shmemx::config
