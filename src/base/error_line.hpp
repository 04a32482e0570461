// A line about an error that ends this process afterwards, by other means than fatal().
#pragma once

namespace shmemx {

// Prints "[pe 3/8 host] text".
[[gnu::cold, gnu::format(printf, 1, 2)]] void print_error(const char* format, ...) noexcept;

}  // namespace shmemx
