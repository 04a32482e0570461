/* races: none; class: extension; pes: 2 */
/* A message says that a put is complete; its receiver's answer says that the word may be used again. */
#include <shmem.h>
#include <shmemx.h>

static long word;

int main(void) {
  shmem_init();
  int wrong = 0;
  for (long i = 1; i <= 10; ++i) {
    if (shmem_my_pe() == 0) {
      shmem_long_p(&word, i, 1);
      shmem_quiet();
      shmemx_send(&i, sizeof i, 1, 3);
      shmemx_recv(NULL, 0, 1, 4, NULL);
    } else {
      long expected = 0;
      shmemx_recv(&expected, sizeof expected, 0, 3, NULL);
      wrong |= word != expected;
      word = 0;
      shmemx_send(NULL, 0, 0, 4);
    }
  }
  shmem_finalize();
  return wrong;
}
