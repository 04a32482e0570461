// The end of a test that uses more than it was granted: one line on stderr, then abort().
#pragma once

namespace strict_provider {

[[noreturn, gnu::format(printf, 1, 2)]] void violation(const char* format, ...) noexcept;

}  // namespace strict_provider
