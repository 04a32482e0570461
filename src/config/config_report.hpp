// Describes the configuration for users and programs: SHMEM_INFO and shmem_info.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace shmemx::config {

enum class Audience : std::uint8_t { users, tests };

struct ReportRow {
  Audience audience;
  const char* variable;
  const char* default_text;
  const char* allowed;
  const char* example;
  const char* meaning;
  std::string value;
  std::string source;   // "default", "environment", or "environment as SMA_DEBUG"
  std::string aliases;  // "SMA_DEBUG"; several separated by ", "; may be empty
};

// Returns one row for each variable, in the order of the table.
std::vector<ReportRow> report(const Config& config);

// Returns every variable with value, default, source and meaning as plain text that ends with a newline; those for
// tests if they are set.
std::string render_info(const Config& config);

}  // namespace shmemx::config
