/* races: none; class: remote; pes: 2 */
/* Atomics of the language through shmem_ptr, on a word that the owner polls in the same way. */
#include <shmem.h>

static long word;
static long data;

int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    *(long*)shmem_ptr(&data, 1) = 5;
    __atomic_store_n((long*)shmem_ptr(&word, 1), 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0) {
    }
    wrong = data != 5;
  }
  shmem_finalize();
  return wrong;
}
