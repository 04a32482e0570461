// _Fork(), which runs no handlers of fork: its child has its own globals, too, with the shared library.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/pe_test.hpp"

#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 34)
extern "C" pid_t _Fork() noexcept;  // the library's own, which reports an error there
#endif

namespace {

using namespace pe_test;

volatile long global = 5;
volatile sig_atomic_t forked_in_handler = -1;

int status_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int change_globals() {
  const bool was_right = global == 6;
  global = -1;
  return was_right ? 0 : 9;
}

}  // namespace

PE_TEST(a_child_of__Fork_has_its_own_globals) {
  if (__GLIBC__ == 2 && __GLIBC_MINOR__ < 34) return;
  for (int i = 0; i < 10; ++i) {
    global = 6;
    const pid_t child = _Fork();
    if (child == 0) {
      usleep(100);
      _exit(change_globals());
    }
    CHECK_EQUAL(status_of(child), 0);
    CHECK_EQUAL(long{global}, 6L);
  }
  shmem_barrier_all();
  shmem_long_p(const_cast<long*>(&global), 100 + me(), right());
  shmem_barrier_all();
  CHECK_EQUAL(long{global}, 100L + left());
}

PE_TEST(a_child_of__Fork_is_not_a_pe) {
  if (__GLIBC__ == 2 && __GLIBC_MINOR__ < 34) return;
  Symmetric<long> word;
  const pid_t child = _Fork();
  if (child == 0) {
    close(STDERR_FILENO);
    shmem_long_p(word.get(), 9, me());
    _exit(0);
  }
  CHECK_EQUAL(status_of(child), 1);
  CHECK_EQUAL(*word, 0L);
}

// POSIX 2024 allows _Fork in handlers of signals; so may the library's.
PE_TEST(it_may_be_called_in_a_handler) {
  if (__GLIBC__ == 2 && __GLIBC_MINOR__ < 34) return;
  global = 6;
  signal(SIGUSR1, [](int) {
    const pid_t child = _Fork();
    if (child == 0) _exit(change_globals());
    forked_in_handler = status_of(child);
  });
  raise(SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
  CHECK_EQUAL(int{forked_in_handler}, 0);
  CHECK_EQUAL(long{global}, 6L);
}
