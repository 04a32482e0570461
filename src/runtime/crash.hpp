// A PE that dies of a fault or of abort() prints where, and the calls that led there (SHMEM_BACKTRACE); or only which
// argument of a routine of this library it was (SHMEM_CHECK).
#pragma once

#include <cstdint>

namespace shmemx::runtime {

enum class CrashReports : std::uint8_t { all, of_arguments };

// By init. Handlers of others that are there already get the signal afterwards; those that come later replace these.
void report_crashes(CrashReports which) noexcept;

}  // namespace shmemx::runtime
