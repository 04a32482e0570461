#include "violation.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace strict_provider {

void violation(const char* format, ...) noexcept {
  char line[512];
  int used = std::snprintf(line, sizeof line, "shmemxtest: ");
  va_list arguments;
  va_start(arguments, format);
  used += std::vsnprintf(line + used, sizeof line - static_cast<std::size_t>(used), format, arguments);
  va_end(arguments);
  const auto end = std::min(static_cast<std::size_t>(used), sizeof line - 1);
  line[end] = '\n';
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, end + 1);
  std::abort();
}

}  // namespace strict_provider
