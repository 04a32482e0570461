/* PEs that start other processes by all means, and continue. */
#include <shmem.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "robust_pe.h"

extern char **environ;
static long shared[512];
static long from_child;

static int status_of(pid_t pid) {
  int status = 0;
  require(pid > 0, "a child was started");
  require(waitpid(pid, &status, 0) == pid, "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The child changes globals, of which it has a private copy. It leaves the heap alone, which is shared. */
static pid_t forked(long *heap) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (shared[0] != 7 || shared[511] != 8) _exit(9);
  shared[0] = -1;
  shared[511] = -1;
  from_child = 1;
  (void)heap;
  _exit(42);
}

static pid_t execed(void) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  execl("/bin/sh", "sh", "-c", "exit 43", (char *)NULL);
  _exit(127);
}

static void start_some(long *heap) {
  char *const words[] = {"sh", "-c", "exit 44", NULL};
  char line[32] = "";
  pid_t pid = 0;
  require(status_of(forked(heap)) == 42, "fork and _exit");
  require(status_of(execed()) == 43, "fork and exec");
  require(posix_spawn(&pid, "/bin/sh", NULL, NULL, words, environ) == 0, "posix_spawn");
  require(status_of(pid) == 44, "status of posix_spawn's child");
  require(WEXITSTATUS(system("exit 45")) == 45, "system");
  FILE *const stream = popen("echo from the shell", "r");
  require(stream != NULL && fgets(line, sizeof line, stream) != NULL && strcmp(line, "from the shell\n") == 0, "popen");
  pclose(stream);
}

/* While children start and end, peers put into this PE's globals and heap: no put may be lost. */
static void among_traffic(void) {
  const int me = shmem_my_pe();
  const int next = (me + 1) % shmem_n_pes();
  const int before = (me + shmem_n_pes() - 1) % shmem_n_pes();
  long *heap = shmem_calloc(512, sizeof *heap);
  shared[0] = 7;
  shared[511] = 8;
  for (long round = 1; round <= 20; ++round) {
    shmem_barrier_all();
    for (int i = 1; i < 511; ++i) {
      shmem_long_p(&shared[i], round * 1000 + me, next);
      shmem_long_p(&heap[i], round * 1000 + me, next);
      if (i == 250) start_some(heap);
    }
    shmem_barrier_all();
    for (int i = 1; i < 511; ++i) {
      require(shared[i] == round * 1000 + before, "a global that was put to while children ran");
      require(heap[i] == round * 1000 + before, "a heap object that was put to while children ran");
    }
    require(shared[0] == 7 && shared[511] == 8 && from_child == 0, "globals are private to the child");
  }
  shmem_free(heap);
}

/* A forked child is not a PE. The library must report its calls, and the job must continue. */
static void child_calls(const char *routine) {
  static long word;
  const pid_t pid = fork();
  if (pid == 0) {
    if (strcmp(routine, "put") == 0) shmem_long_p(&word, 5, 0);
    if (strcmp(routine, "barrier") == 0) shmem_barrier_all();
    if (strcmp(routine, "malloc") == 0) shmem_malloc(8);
    if (strcmp(routine, "finalize") == 0) shmem_finalize();
    if (strcmp(routine, "team_sync") == 0) shmem_team_sync(SHMEM_TEAM_WORLD);
    if (strcmp(routine, "lock") == 0) shmem_set_lock(&word);
    if (strcmp(routine, "wait") == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    if (strcmp(routine, "quiet") == 0) shmem_quiet();
    if (strcmp(routine, "exit") == 0) exit(46); /* with the library's exit handlers */
    if (strcmp(routine, "global_exit") == 0) shmem_global_exit(47);
    _exit(50);
  }
  const int status = status_of(pid);
  shmem_barrier_all();
  require(word == 0, "the child changed nothing here");
  if (shmem_my_pe() == 0) printf("ok child's %s ended it with status %d\n", routine, status);
  shmem_barrier_all();
}

int children(const char *kind) {
  shmem_init();
  if (strcmp(kind, "traffic") == 0) {
    among_traffic();
    if (shmem_my_pe() == 0) printf("ok children among traffic\n");
  } else {
    child_calls(kind);
  }
  shmem_finalize();
  return 0;
}
