#include <pshmem.h>
#include <shmem.h>

static int puts_seen = 0;

/* A tool's routine, in place of the library's. */
void shmem_int_p(int* dest, int value, int pe) {
  ++puts_seen;
  pshmem_int_p(dest, value, pe);
}

int main(void) {
  static int value;
  shmem_init();
  shmem_pcontrol(1);
  shmem_int_p(&value, 1, shmem_my_pe());
  shmem_finalize();
  return puts_seen != 1;
}
