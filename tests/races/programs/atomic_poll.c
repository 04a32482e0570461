/* races: none; class: atomic; pes: 2 */
/* PE 1 polls its flag by atomic_fetch on itself. The data were complete before the flag was set. */
#include <shmem.h>
#include <unistd.h>

static long data[2];
static long flag;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    const long values[2] = {1, 2};
    shmem_long_put(data, values, 2, 1);
    shmem_quiet();
    shmem_long_atomic_set(&flag, 1, 1);
  } else {
    while (shmem_long_atomic_fetch(&flag, 1) != 1) usleep(50);
    wrong = data[1] != 2;
  }
  shmem_finalize();
  return wrong;
}
