#include <shmem.h>

int main(void) {
  static int settings[2], source[2];
  shmem_init();
  if (shmem_my_pe() == 0) {
    source[0] = 10;
    source[1] = 20;
  }
  shmem_int_broadcast(SHMEM_TEAM_WORLD, settings, source, 2, 0);
  const int wrong = settings[0] != 10 || settings[1] != 20;
  shmem_finalize();
  return wrong;
}
