/* races: always; class: language; pes: 2 */
/* A VLA as the source of a nonblocking put is left before quiet and its place reused by the next call. */
#include <shmem.h>
static long box[32];
__attribute__((noinline)) static void send(int count, int pe) {
  long values[count];
  for (int i = 0; i < count; i++) values[i] = i;  // race 1
  shmem_long_put_nbi(box, values, count, pe);     // race 2
}
int main(void) {
  shmem_init();
  send(8, 1 - shmem_my_pe());
  send(8, 1 - shmem_my_pe());
  shmem_quiet();
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
