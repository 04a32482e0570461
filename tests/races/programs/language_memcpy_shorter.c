/* races: none; class: language; pes: 2 */
/* memcpy reads all of the array but the byte to which PE 0 puts. */
#include <shmem.h>
#include <string.h>

static char array[100];

int main(void) {
  shmem_init();
  char copy[100] = {0};
  const size_t bytes = shmem_my_pe() == 1 ? sizeof copy - 1 : 0;
  if (shmem_my_pe() == 0) shmem_char_p(&array[99], 'x', 1);
  memcpy(copy, array, bytes);
  shmem_barrier_all();
  const int wrong = copy[98] != 0 || (shmem_my_pe() == 1 && array[99] != 'x');
  shmem_finalize();
  return wrong;
}
