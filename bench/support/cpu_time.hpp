// CPU time of this process or thread.
#pragma once

#include <sys/resource.h>

namespace shmemx::bench {

// Nanoseconds in the program and in the system. `whose`: RUSAGE_SELF or RUSAGE_THREAD.
inline double cpu_ns(int whose = RUSAGE_SELF) {
  rusage usage;
  getrusage(whose, &usage);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

}  // namespace shmemx::bench
