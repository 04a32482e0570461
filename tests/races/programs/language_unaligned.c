/* races: always; class: language; pes: 2 */
/* An access of four bytes that crosses a word of eight, against a put to its last byte. */
#include <shmem.h>
#include <stdint.h>

static struct __attribute__((packed)) {
  char head[6];
  int32_t value;
} record __attribute__((aligned(8)));

int main(void) {
  shmem_init();
  int32_t seen = 0;
  if (shmem_my_pe() == 0)
    shmem_char_p((char*)&record + 9, 1, 1);  // race 1
  else
    seen = record.value;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return seen == -1;
}
