// A global fixture for tests that hold hundreds of descriptors: raises the soft limit that the shell has set.
#pragma once

#include <sys/resource.h>

struct AllDescriptors {
  AllDescriptors() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
};
