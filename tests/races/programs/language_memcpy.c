/* races: always; class: language; pes: 2 */
/* memcpy reads the array while PE 0 puts to its last byte. */
#include <shmem.h>
#include <string.h>

static char array[100];

int main(void) {
  shmem_init();
  char copy[100] = {0};
  const size_t bytes = shmem_my_pe() == 1 ? sizeof copy : 0;
  if (shmem_my_pe() == 0) shmem_char_p(&array[99], 'x', 1);  // race 1
  memcpy(copy, array, bytes);                                // race 2
  shmem_barrier_all();
  shmem_finalize();
  return copy[0] != 0;
}
