#include "config/config_report.hpp"

#include <algorithm>

#include "config/config_doc.hpp"

namespace shmemx::config {

namespace {

constexpr const char* kByDefault = "default";

std::string source_text(const Origin& origin) {
  switch (origin.source) {
    case Source::by_default:
      return kByDefault;
    case Source::environment:
      return "environment";
    case Source::alias:
      break;
  }
  return std::string("environment as ") + origin.variable;
}

std::string aliases_of(Variable variable) {
  std::string out;
  const auto add = [&](Variable owner, const char* name) {
    if (owner != variable) return;
    if (!out.empty()) out += ", ";
    out += name;
  };
#define SHMEMX_CONFIG_ADD(member, name, standing) add(Variable::member, name);
  SHMEMX_CONFIG_ALIASES(SHMEMX_CONFIG_ADD)
#undef SHMEMX_CONFIG_ADD
  return out;
}

}  // namespace

std::vector<ReportRow> report(const Config& config) {
  std::vector<ReportRow> rows;
  rows.reserve(kVariableCount);
#define SHMEMX_CONFIG_ROW(member, kind_, variable, default_, meaning)                                \
  rows.push_back({audience, variable, default_, kind::kind_::allowed, kind::kind_::example, meaning, \
                  kind::kind_::text(config.member), source_text(config.origin_of(Variable::member)), \
                  aliases_of(Variable::member)});
  auto audience = Audience::users;
  SHMEMX_CONFIG_USER_TABLE(SHMEMX_CONFIG_ROW)
  audience = Audience::tests;
  SHMEMX_CONFIG_TEST_TABLE(SHMEMX_CONFIG_ROW)
#undef SHMEMX_CONFIG_ROW
  return rows;
}

std::string render_info(const Config& config) {
  std::string out = "shmemx: environment variables\n";
  for (const ReportRow& row : report(config)) {
    if (row.audience == Audience::tests && row.source == kByDefault) continue;
    std::string head = std::string("  ") + row.variable + " = " + row.value;
    head.resize(std::max<std::size_t>(head.size(), 44), ' ');
    out += head + "  [" + row.source + "; default " + row.default_text + "]\n";
    out += std::string("      ") + row.meaning + (row.audience == Audience::tests ? " For tests.\n" : "\n");
    out += std::string("      Allowed: ") + row.allowed + ".";
    if (!row.aliases.empty()) out += " Also: " + row.aliases + ".";
    out += "\n";
  }
  return out;
}

std::string render_markdown() {
  std::string out =
      "# Environment variables\n"
      "\n"
      "This file is made from `src/config/config_table.hpp`; a test compares the two. `SHMEM_INFO=1` prints the values "
      "in\n"
      "force, `shmem_info` prints them without a program.\n"
      "\n"
      "- Variables are read once, in `shmem_init`. Changing them later has no effect.\n"
      "- A value that is not allowed ends the job with one line that names variable, value, what is allowed and an\n"
      "  example; with `SHMEM_INIT_ERRORS=return`, `shmem_init_thread` returns a nonzero value instead.\n"
      "- An unknown variable that starts with `SHMEM_`, `SHMEMX_` or `SMA_` gives one warning with the nearest known "
      "name;\n"
      "  `SHMEMX_WARN_UNKNOWN=0` silences these warnings.\n"
      "- The `SMA_` names are the standard's old ones. `SHMEM_SYMMETRIC_HEAP_SIZE` and `XT_SYMMETRIC_HEAP_SIZE` of "
      "other\n"
      "  implementations are honoured with a warning. The name at the head of a section wins over its other names.\n"
      "- Sizes: `64m`, `.5g`, `3.1M` (3250586: rounded up to bytes). What follows the suffix is ignored, so `64MB` is "
      "`64m`.\n"
      "  Anything else after the number is an error, so that `1e9` or `1,5g` is never taken for one byte.\n";
  Audience audience = Audience::users;
  for (const ReportRow& row : report(Config{})) {
    if (row.audience != audience)
      out +=
          "\n# Variables for tests and measurements\n\n"
          "They show a job something that is not so, or leave a part of the design out. `SHMEM_INFO` lists those that "
          "are\n"
          "set.\n";
    audience = row.audience;
    out += std::string("\n## ") + row.variable + "\n\n" + row.meaning + "\n\n";
    out += std::string("- Default: `") + row.default_text + "`\n";
    out += std::string("- Allowed: ") + row.allowed + ". Example: `" + row.variable + "=" + row.example + "`\n";
    if (!row.aliases.empty()) out += "- Other names: " + row.aliases + "\n";
  }
  return out;
}

}  // namespace shmemx::config
