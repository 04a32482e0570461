/* races: always; class: language; pes: 2 */
/* strcasecmp reads a text whose first letter is put. */
#include <shmem.h>
#include <strings.h>
static char box[32] = "a b c";
int main(void) {
  shmem_init();
  shmem_char_p(&box[0], 'A', 1 - shmem_my_pe());  // race 1
  volatile int x = strcasecmp(box, "a B c");      // race 2
  shmem_barrier_all();
  shmem_finalize();
  return x == 99;
}
