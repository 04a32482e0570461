// Spans of operations on the memory of one PE.
#pragma once

#include <cstdint>

#include "api/arg_check.hpp"
#include "stats/span.hpp"

namespace shmemx::api {

struct ObservedCall {
  const char* routine;
  stats::Family family;
};

// To be made in the cold half of an operation: the hot half jumps there, so the caller is the program. `pe` counts in
// the context's team and need not exist.
class Observed {
 public:
  [[gnu::always_inline]] Observed(const Context& context, const ObservedCall& call, int pe,
                                  std::uint64_t bytes) noexcept {
    if (stats::is_on()) [[unlikely]]
      begin(context, call, {pe, bytes, __builtin_return_address(0)});
  }

 private:
  struct Rest {
    int pe;
    std::uint64_t bytes;
    const void* caller;
  };
  [[gnu::cold, gnu::noinline]] void begin(const Context& context, const ObservedCall& call, const Rest& rest) noexcept;

  stats::Span span_;
};

// Returns the path to a PE of the world.
stats::Path path_to(int world_pe) noexcept;

}  // namespace shmemx::api
