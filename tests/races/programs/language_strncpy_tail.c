/* races: always; class: language; pes: 2 */
/* strncpy fills the whole field with zeroes, also where a put goes. */
#include <shmem.h>
#include <string.h>

static char field[64];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0)
    shmem_char_p(&field[60], 'x', 1);  // race 1
  else
    strncpy(field, "short", sizeof field);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
