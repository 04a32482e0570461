/* Generic calls with a wrong number of arguments: one for each value of CASE. The comment behind a case is a part of the
 * error that compilers show; case 0 compiles. */
#include <shmem.h>

static long word;
static uint64_t word_of_signal;

void use(void) {
#if CASE == 0
  shmem_put(&word, &word, 1, 0);
  shmem_put(SHMEM_CTX_DEFAULT, &word, &word, 1, 0);
  shmem_sync(SHMEM_TEAM_WORLD);
#elif CASE == 1   // shmem_put: wrong number of arguments; man shmem_put shows what it takes, without and with a context
  shmem_put(&word, &word, 1);
#elif CASE == 2   // shmem_p: wrong number of arguments; man shmem_p shows what it takes, without and with a context
  shmem_p(&word);
#elif CASE == 3   // shmem_g: wrong number of arguments
  word = shmem_g(&word);
#elif CASE == 4   // shmem_atomic_fetch_add: wrong number of arguments
  word = shmem_atomic_fetch_add(&word, 1, 0, 0, 0);
#elif CASE == 5   // shmem_put_signal: wrong number of arguments
  shmem_put_signal(&word, &word, 1, &word_of_signal, 1);
#elif CASE == 6   // shmem_signal_set: wrong number of arguments
  shmem_signal_set(&word_of_signal, 1);
#elif CASE == 7   // shmem_signal_add: wrong number of arguments
  shmem_signal_add(&word_of_signal);
#elif CASE == 8   // shmem_sync: wrong number of arguments
  shmem_sync(0, 0);
#elif CASE == 9   // too few arguments to function
  shmem_wait_until(&word, SHMEM_CMP_EQ);
#endif
}
