// Flushes stdio streams at the end of a process. Another thread of the program may hold a stream's lock for ever, for
// example inside getc(). So every wait for such a lock is bounded.
#pragma once

#include <cstdio>

namespace shmemx {

// Flushes stdout and stderr. Skips a stream whose lock another thread holds for longer than a tenth of a second.
void flush_standard_streams() noexcept;

// Flushes all streams of the process within at most a second. For processes that are killed before their exit
// handlers can flush.
void flush_all_streams() noexcept;

}  // namespace shmemx
