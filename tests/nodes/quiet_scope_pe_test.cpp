// What waits for the operations of one context does not wait for those of others: PE 1 does not come into the library,
// nor has it a progress thread (SHMEMX_PROGRESS=off), so an operation of another context stays open until PE 0 is done.
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

// Returns whether this PE, which holds the lock, is its home: then its copy holds the tail of the queue.
bool is_home(const long* lock) {
  std::uint32_t tail = 0;
  std::memcpy(&tail, lock, sizeof tail);
  return tail != 0;
}

// Returns one of two neighbouring locks: PE 0 is its home.
long* lock_of_pe0(long* locks) {
  long* found = nullptr;
  for (int i = 0; i < 2; ++i) {
    if (me() == 0) shmem_set_lock(&locks[i]);
    if (me() == 0 && is_home(&locks[i])) found = &locks[i];
    if (me() == 0) shmem_clear_lock(&locks[i]);
    shmem_barrier_all();
  }
  return found;
}

}  // namespace

PE_TEST_MIN(operations_of_other_contexts_are_not_waited_for, 2) {
  static long locks[2], remote, pid, received = -1;
  sigset_t go, before;
  int number = 0;
  sigemptyset(&go);
  sigaddset(&go, SIGUSR1);
  sigprocmask(SIG_BLOCK, &go, &before);
  pid = getpid();
  remote = 100 + me();
  long* const lock = lock_of_pe0(locks);
  shmem_team_t alone = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, nullptr, 0, &alone), 0);
  shmem_ctx_t context = SHMEM_CTX_INVALID;
  CHECK_EQUAL(shmem_ctx_create(0, &context), 0);
  const auto pid_of_other = static_cast<pid_t>(shmem_long_g(&pid, me() == 0 ? 1 : 0));
  shmem_barrier_all();
  if (me() == 0) {
    CHECK(lock != nullptr);
    sigwait(&go, &number);  // PE 1 is outside
    shmem_ctx_long_get_nbi(context, &received, &remote, 1, 1);
    shmem_set_lock(lock);
    shmem_clear_lock(lock);
    shmem_team_destroy(alone);
    shmem_quiet();
    CHECK_EQUAL(received, -1L);  // so the operation was open all the time
    kill(pid_of_other, SIGUSR1);
    shmem_ctx_quiet(context);
    CHECK_EQUAL(received, 101L);
  } else if (me() == 1) {
    kill(pid_of_other, SIGUSR1);
    sigwait(&go, &number);
  }
  shmem_barrier_all();
  shmem_ctx_destroy(context);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}
