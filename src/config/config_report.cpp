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

// A kind whose values have units writes them in another way for people.
template <class Kind>
std::string shown(const typename Kind::value_type& value) {
  if constexpr (requires { Kind::shown(value); }) {
    return Kind::shown(value);
  } else {
    return Kind::text(value);
  }
}

struct GroupText {
  const char* name;
  const char* title;
  const char* text;
};
constexpr GroupText kGroupTexts[kGroups] = {
    {"everyday", "Everyday", "What most users change. `SHMEM_INFO=1` and `shmem_info` show this group."},
    {"network", "Network", "How PEs of other nodes are reached."},
    {"measuring", "Measuring",
     "Sizes, times and paths that are chosen for the machine. Set one to measure what another choice costs."},
    {"tests", "Tests", "They show a job something that is not so, or leave a part of the design out."}};

const GroupText& text_of(Group group) { return kGroupTexts[static_cast<std::size_t>(group)]; }

bool is_set(const ReportRow& row) { return row.source != kByDefault; }

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// Tells how many variables have been left out, and who lists them.
std::string rest_line(std::size_t count, const char* command) {
  if (count == 0) return {};
  return "  " + std::to_string(count) + " other variables have their defaults; " + command + " lists them\n";
}

std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

}  // namespace

const char* name_of(Group group) { return text_of(group).name; }

std::vector<ReportRow> report(const Config& config) {
  std::vector<ReportRow> rows;
  rows.reserve(kVariableCount);
#define SHMEMX_CONFIG_ROW(member, kind_, variable, default_, meaning)                             \
  rows.push_back({group, variable, default_, kind::kind_::allowed, kind::kind_::example, meaning, \
                  kind::kind_::text(config.member), shown<kind::kind_>(config.member),            \
                  shown<kind::kind_>(kind::default_value<kind::kind_>(default_)),                 \
                  source_text(config.origin_of(Variable::member)), aliases_of(Variable::member)});
  auto group = Group::everyday;
  SHMEMX_CONFIG_EVERYDAY_TABLE(SHMEMX_CONFIG_ROW)
  group = Group::network;
  SHMEMX_CONFIG_NETWORK_TABLE(SHMEMX_CONFIG_ROW)
  group = Group::measuring;
  SHMEMX_CONFIG_MEASURING_TABLE(SHMEMX_CONFIG_ROW)
  group = Group::tests;
  SHMEMX_CONFIG_TEST_TABLE(SHMEMX_CONFIG_ROW)
#undef SHMEMX_CONFIG_ROW
  return rows;
}

std::string render_info(const Config& config, unsigned groups) {
  std::string out = "shmemx: environment variables\n";
  std::size_t left_out = 0;
  for (const ReportRow& row : report(config)) {
    if ((groups & bit_of(row.group)) == 0 && !is_set(row)) {
      ++left_out;
      continue;
    }
    out += padded(std::string("  ") + row.variable + " = " + row.shown, 44) + "  [" + row.source +
           (is_set(row) ? "; default " + row.default_shown : std::string()) + "]\n";
    out += std::string("      ") + row.meaning + "\n";
    out += std::string("      Allowed: ") + row.allowed + ".";
    if (!row.aliases.empty()) out += " Also: " + row.aliases + ".";
    out += "\n";
  }
  return out + rest_line(left_out, "shmem_info --config --group all");
}

std::string render_summary(const Config& config) {
  std::string out = "shmemx: environment variables\n";
  std::size_t left_out = 0;
  for (const ReportRow& row : report(config)) {
    if (row.group != Group::everyday && !is_set(row)) {
      ++left_out;
      continue;
    }
    out += padded(std::string("  ") + row.variable + " = " + row.shown, 32) +
           (is_set(row) ? "  [" + row.source + "]" : std::string()) + "  " + first_sentence(row.meaning) + "\n";
  }
  return out + rest_line(left_out, "SHMEM_INFO=all or shmem_info --config --group all");
}

std::string render_markdown() {
  std::string out =
      "# Environment variables\n"
      "\n"
      "This file is made from `src/config/config_table.hpp`; a test compares the two. `SHMEM_INFO=all` prints the "
      "values in\n"
      "force, `shmem_info --config --group all` prints them without a program; `SHMEM_INFO=1` and `shmem_info` print "
      "the\n"
      "everyday ones and those that are set.\n"
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
  const char* title = "";
  for (const ReportRow& row : report(Config{})) {
    const GroupText& group = text_of(row.group);
    if (group.title != title) out += std::string("\n# ") + group.title + "\n\n" + group.text + "\n";
    title = group.title;
    out += std::string("\n## ") + row.variable + "\n\n" + row.meaning + "\n\n";
    out += std::string("- Default: `") + row.default_text + "`\n";
    out += std::string("- Allowed: ") + row.allowed + ". Example: `" + row.variable + "=" + row.example + "`\n";
    if (!row.aliases.empty()) out += "- Other names: " + row.aliases + "\n";
  }
  return out;
}

}  // namespace shmemx::config
