// A span: one call of the program, or one wait within it, from its begin to its end. Where nothing is observed, a span
// is one test of a flag.
//
// Calls that reach mapped memory are seen only in their cold halves, so runtime sends all of them there before the
// program starts (context::uses_cold_halves).
#pragma once

#include <cstdint>

#include "stats/kinds.hpp"

namespace shmemx::stats {

struct Observing {
  bool counts = false;  // SHMEM_STATS
  bool traces = false;  // SHMEM_TRACE
};
inline constinit Observing asked;        // for the life of the library
inline constinit bool observes = false;  // now: shmem_pcontrol may pause it
inline bool is_on() noexcept { return observes; }

class Span {
 public:
  Span() noexcept {}
  ~Span() {
    if (is_open_) [[unlikely]]
      end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  // Requires is_on(), and counters that are open. `caller`: where the program called, null: unknown.
  void begin(const Call& call, const void* caller) noexcept;
  // Of a receive: what has arrived, before the end.
  void set_message(int pe, Path path, std::uint64_t bytes) noexcept;
  // Of an operation on the memory of a PE, which was refused: it is not observed.
  void drop() noexcept { is_open_ = false; }

 private:
  void end() noexcept;
  void count(std::uint64_t end_ns) noexcept;
  void trace(std::uint64_t end_ns) noexcept;

  bool is_open_ = false;  // the other members are valid
  Call call_;
  const void* caller_;
  std::uint64_t begin_ns_;  // 0: no clock has been read
};

// The span of a call that reaches no single PE, or of a wait.
class RoutineSpan {
 public:
  [[gnu::always_inline]] RoutineSpan(const char* routine, Family family, std::uint64_t bytes = 0) noexcept {
    if (is_on()) [[unlikely]]
      span_.begin({routine, family, Path::self, -1, 0, bytes}, nullptr);
  }

 private:
  Span span_;
};

}  // namespace shmemx::stats
