// Flushing stdio streams at the end of a process. Another thread of the program may hold a stream's lock for ever, for
// example inside getc(), so nothing here waits for such a lock without a limit.
#pragma once

#include <cstdio>

namespace shmemx {

// Flushes stdout and stderr, each unless another thread holds its lock for longer than a tenth of a second.
void flush_standard_streams() noexcept;

// Flushes all streams of the process, as far as that takes at most a second. For where the process is killed before its
// exit can do so.
void flush_all_streams() noexcept;

}  // namespace shmemx
