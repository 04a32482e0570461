/* races: none; class: language; pes: 2 */
/* strcpy fills the own name, and behind a barrier the neighbour gets and compares it. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static char name[32];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  strcpy(name, me == 0 ? "anna" : "bert");
  snprintf(name + 4, 8, "%d", me);
  shmem_barrier_all();
  char other[32];
  shmem_getmem(other, name, 32, 1 - me);
  const int wrong = strcmp(other, me == 0 ? "bert1" : "anna0") != 0;
  shmem_finalize();
  return wrong;
}
