/* races: none; class: signal; pes: 2 */
/* A signal that shmem_signal_fetch has seen tells of the data as well as one that was waited for. */
#include <shmem.h>
#include <unistd.h>

static uint64_t ready;
static int data;

int main(void) {
  shmem_init();
  const int value = 8;
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_int_put_signal(&data, &value, 1, &ready, 4, SHMEM_SIGNAL_SET, 1);
  } else {
    while (shmem_signal_fetch(&ready) != 4) usleep(100);
    wrong = data != 8;
  }
  shmem_finalize();
  return wrong;
}
