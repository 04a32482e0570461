// Diagnostics: one line on stderr, then the job ends. Cold code only.
#pragma once

#include <cstdarg>

namespace shmemx {

// What runtime stores here at init so that a diagnostic can say who speaks and can end the whole job.
struct DiagnosticIdentity {
  int pe = -1;  // -1 before init: the line then has no PE in front
  int n_pes = 0;
  int pid = 0;                                  // of this PE: a forked child's diagnostic ends the child only
  bool debug = false;                           // SHMEM_DEBUG
  bool (*claim_job_end)(int status) = nullptr;  // true for the first PE that ends the job: only that one prints
  void (*end_job)(int status) = nullptr;        // tells the launcher; may return
};
DiagnosticIdentity& diagnostic_identity() noexcept;

// "[pe 3/8 host] routine: text. Job ended." and the end of the job with status 1. `routine` may be null.
[[noreturn, gnu::cold, gnu::format(printf, 2, 3)]] void fatal(const char* routine, const char* format, ...) noexcept;

// "[pe 3/8 host] shmemx warning: text"
[[gnu::cold, gnu::format(printf, 1, 2)]] void warn(const char* format, ...) noexcept;

// The same as "shmemx: text" when SHMEM_DEBUG is set, nothing otherwise.
[[gnu::cold, gnu::format(printf, 1, 2)]] void debug_line(const char* format, ...) noexcept;

}  // namespace shmemx
