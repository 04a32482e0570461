// EXPECT(condition) for programs with a main() of their own: reports a condition that does not hold, and counts it.
#pragma once

#include <cstdio>
#include <cstring>

namespace test_support {

inline int failures = 0;

inline void expect(bool ok, const char* expression, const char* file, int line) {
  if (ok) return;
  ++failures;
  const char* const name = std::strrchr(file, '/');
  std::fprintf(stderr, "%s:%d: %s is false\n", name != nullptr ? name + 1 : file, line, expression);
}

}  // namespace test_support

#define EXPECT(...) ::test_support::expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
