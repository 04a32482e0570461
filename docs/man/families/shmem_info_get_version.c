#include <shmem.h>
#include <stdio.h>

int main(void) {
  char name[SHMEM_MAX_NAME_LEN];
  int major = 0, minor = 0;
  shmem_init();
  shmem_info_get_version(&major, &minor);
  shmem_info_get_name(name);
  printf("OpenSHMEM %d.%d, %s\n", major, minor, name);
  shmem_finalize();
  return major != SHMEM_MAJOR_VERSION;
}
