// Describes the configuration for users and programs: SHMEM_INFO and shmem_info.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace shmemx::config {

enum class Group : std::uint8_t { everyday, network, measuring, tests };
inline constexpr std::size_t kGroups = 4;
inline constexpr unsigned kAllGroups = (1U << kGroups) - 1;
constexpr unsigned bit_of(Group group) { return 1U << static_cast<unsigned>(group); }
// Returns the word that users write for a group.
const char* name_of(Group group);

struct ReportRow {
  Group group;
  const char* variable;
  const char* default_text;
  const char* allowed;
  const char* example;
  const char* meaning;
  std::string value;          // in the notation of the variable: "1536m"
  std::string shown;          // for people: "1.5 GiB"
  std::string default_shown;  // the same of the default
  std::string source;         // "default", "environment", or "environment as SMA_DEBUG"
  std::string aliases;        // "SMA_DEBUG"; several separated by ", "; may be empty
};

// Returns one row for each variable, in the order of the table.
std::vector<ReportRow> report(const Config& config);

// Returns value, default, source and meaning of the variables of some groups (bits), and of all variables that are set,
// as plain text that ends with a newline.
std::string render_info(const Config& config, unsigned groups);
// Returns a line for each everyday variable, and for each other one that is set.
std::string render_summary(const Config& config);

}  // namespace shmemx::config
