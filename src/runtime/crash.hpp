// SHMEM_BACKTRACE: a PE that dies of a fault or of abort() prints where, and the calls that led there.
#pragma once

namespace shmemx::runtime {

// By init. Handlers of others that are there already get the signal afterwards; those that come later replace these.
void report_crashes() noexcept;

}  // namespace shmemx::runtime
