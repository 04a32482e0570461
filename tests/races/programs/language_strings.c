/* races: always; class: language; pes: 2 */
/* strlen reads the name while PE 0 puts a longer one. */
#include <shmem.h>
#include <string.h>

static char name[32] = "anna";

int main(void) {
  shmem_init();
  const char* other = "annabella";
  size_t length = 4;
  if (shmem_my_pe() == 0)
    shmem_putmem(name, other, strlen(other) + 1, 1);  // race 1
  else
    length = strlen(name);  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return length > 31;
}
