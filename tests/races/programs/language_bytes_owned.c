/* races: always; class: language; pes: 2 */
/* Bytes, shorts and ints that the owner stores and loads in turn in several epochs, then one that a put meets. */
#include <shmem.h>

static union {
  char c[8];
  short s[4];
  int i[2];
} u;
static int count;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int sum = 0;
  if (me == 1) {
    for (int k = 0; k < 5; ++k) {
      u.s[0] = (short)k;
      u.i[1] = k;
      sum += u.c[0] + u.s[2] + u.i[1];
      shmem_int_p(&count, k, 0);
      shmem_quiet();
    }
    u.c[3] = 1;  // race 1
  } else {
    const char x = 7;
    shmem_char_put(&u.c[3], &x, 1, 1);  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return sum < 0;
}
