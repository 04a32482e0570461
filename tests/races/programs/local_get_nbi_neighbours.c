/* races: none; class: local; pes: 2 */
/* While a non-blocking get fills the middle of an array, the elements beside it are stored to and read. */
#include <shmem.h>

static int source[4] = {5, 6, 7, 8};

int main(void) {
  shmem_init();
  int result[6] = {0};
  result[0] = 1;
  shmem_int_get_nbi(result + 1, source, 4, 1);
  result[5] = result[0] + 8;
  shmem_quiet();
  const int wrong = result[0] != 1 || result[1] != 5 || result[4] != 8 || result[5] != 9;
  shmem_finalize();
  return wrong;
}
