/* races: always; class: fence; pes: 2 */
/* The flag is put without a fence behind the data. */
#include <shmem.h>

static long data;
static long flag;

int main(void) {
  shmem_init();
  long seen = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&data, 5, 1);  // race 1
    shmem_long_p(&flag, 1, 1);
  } else {
    shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
    seen = data;  // race 2
  }
  shmem_finalize();
  return seen < 0;
}
