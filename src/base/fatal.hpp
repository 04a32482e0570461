// Diagnostics: print one line to stderr and end the job. Cold code only.
#pragma once

#include <cstdarg>

namespace shmemx {

// Set by runtime at init: names the PE in diagnostics and ends the whole job.
struct DiagnosticIdentity {
  int pe = -1;  // -1 before init: lines then carry no PE
  int n_pes = 0;
  int pid = 0;         // of this PE; a diagnostic of a forked child ends the child only
  bool debug = false;  // SHMEM_DEBUG
  // Returns true for the first PE that has something to report, which takes a moment; false for others once the job has
  // ended, or that takes too long.
  bool (*claim_report)() = nullptr;
  bool (*claim_job_end)(int status) = nullptr;  // returns true for the first PE that ends the job; only that one prints
  void (*end_job)(int status) = nullptr;        // notifies the launcher; may return
  // Set where a debugger is to see this process before it ends. Called after the line, while the job still goes on.
  void (*stop_for_debugger)() = nullptr;
};
DiagnosticIdentity& diagnostic_identity() noexcept;

// Is this the PE that is to look up places, for a line that ends the job? fatal() asks by itself for that of the call.
bool claim_report() noexcept;

// Prints "[pe 3/8 host] routine: text; called at main (ring.c:12). Job ended." and ends the job with status 1.
// `routine` may be null; the place is left out where it is not known.
[[noreturn, gnu::cold, gnu::format(printf, 2, 3)]] void fatal(const char* routine, const char* format, ...) noexcept;

// Is fatal() with other places than that of this call: what follows "; called at ", empty if they are not known.
[[noreturn, gnu::cold, gnu::format(printf, 2, 3)]] void fatal_at(const char* places, const char* format, ...) noexcept;

// Prints "[pe 3/8 host] text. Process ended." and ends this process with status 1, without flushing stdio: for a forked
// child, in whose streams there may be what its parent has not written yet.
[[noreturn, gnu::cold, gnu::format(printf, 1, 2)]] void end_process(const char* format, ...) noexcept;

// Prints "[pe 3/8 host] shmemx warning: text".
[[gnu::cold, gnu::format(printf, 1, 2)]] void warn(const char* format, ...) noexcept;

// Prints "[pe 3/8 host] shmemx: text" if SHMEM_DEBUG is set.
[[gnu::cold, gnu::format(printf, 1, 2)]] void debug_line(const char* format, ...) noexcept;

}  // namespace shmemx
