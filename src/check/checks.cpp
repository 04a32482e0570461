#include "check/checks.hpp"

#include <pthread.h>

#include "base/fatal.hpp"

namespace shmemx::check {

void check_thread(const char* routine) noexcept {
  if (only_thread == 0 || static_cast<std::uintptr_t>(::pthread_self()) == only_thread) return;
  fatal(routine,
        "called by another thread than the one that has called shmem_init; the thread level is %s, allowed are calls "
        "of one thread: call shmem_init_thread with SHMEM_THREAD_MULTIPLE",
        thread_level_name);
}

}  // namespace shmemx::check
