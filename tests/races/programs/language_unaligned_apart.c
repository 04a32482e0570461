/* races: none; class: language; pes: 2 */
/* An access of four bytes that crosses a word of eight, against a put to the byte behind it. */
#include <shmem.h>
#include <stdint.h>

static struct __attribute__((packed)) {
  char head[6];
  int32_t value;
  char tail[6];
} record __attribute__((aligned(8)));

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int32_t seen = 0;
  if (me == 0)
    shmem_char_p((char*)&record + 10, 1, 1);
  else
    seen = record.value;
  shmem_barrier_all();
  const int wrong = seen != 0 || (me == 1 && record.tail[0] != 1);
  shmem_finalize();
  return wrong;
}
