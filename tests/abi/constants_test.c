/* Handles can be used in static initialisers, and constants in case labels and array sizes. Built as C and as C++. */
#include <shmem.h>

#include <stdio.h>
#include <string.h>

#ifndef SHMEMX_VERSION
#error "no macro tells this library from others"
#endif
#ifndef PROJECT_VERSION /* the build has it; a compilation alone does not */
#define PROJECT_VERSION "0.0.0"
#endif

static shmem_ctx_t contexts[] = {SHMEM_CTX_DEFAULT, SHMEM_CTX_INVALID};
static shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID};
static long sync_array[SHMEM_SYNC_SIZE];
static const char vendor[SHMEM_MAX_NAME_LEN] = SHMEM_VENDOR_STRING;

static int comparison_number(int cmp) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return 1;
    case SHMEM_CMP_NE:
      return 2;
    case SHMEM_CMP_GT:
      return 3;
    case SHMEM_CMP_GE:
      return 4;
    case SHMEM_CMP_LT:
      return 5;
    case SHMEM_CMP_LE:
      return 6;
    default:
      return 0;
  }
}

static int signal_number(int sig_op) {
  switch (sig_op) {
    case SHMEM_SIGNAL_SET:
      return 1;
    case SHMEM_SIGNAL_ADD:
      return 2;
    default:
      return 0;
  }
}

/* The three places that name the library's version agree. */
static int versions_agree(void) {
  char text[32];
  sprintf(text, "%d.%d.%d", SHMEMX_VERSION / 10000, SHMEMX_VERSION / 100 % 100, SHMEMX_VERSION % 100);
  return strcmp(text, PROJECT_VERSION) == 0 && strcmp(vendor + sizeof "shmemx", text) == 0;
}

int main(void) {
  if (contexts[0] == contexts[1] || contexts[0] != SHMEM_CTX_DEFAULT) return 1;
  if (teams[0] == teams[1] || teams[1] == teams[2] || teams[0] == teams[2]) return 2;
  if (comparison_number(SHMEM_CMP_LE) != 6 || comparison_number(0) != 0) return 3;
  if (signal_number(SHMEM_SIGNAL_ADD) != 2) return 4;
  if (!(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
        SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE))
    return 5;
  if ((SHMEM_CTX_SERIALIZED & SHMEM_CTX_PRIVATE) != 0 || (SHMEM_CTX_PRIVATE & SHMEM_CTX_NOSTORE) != 0 ||
      (SHMEM_CTX_SERIALIZED & SHMEM_CTX_NOSTORE) != 0)
    return 6;
  if ((SHMEM_MALLOC_ATOMICS_REMOTE & SHMEM_MALLOC_SIGNAL_REMOTE) != 0) return 7;
  if (SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6 || vendor[0] == '\0') return 8;
  if (sync_array[0] != _SHMEM_SYNC_VALUE || SHMEM_SYNC_SIZE < SHMEM_BARRIER_SYNC_SIZE ||
      SHMEM_SYNC_SIZE < SHMEM_REDUCE_SYNC_SIZE || SHMEM_SYNC_SIZE < SHMEM_ALLTOALLS_SYNC_SIZE)
    return 9;
  if (!versions_agree()) return 10;
  return 0;
}
