/* races: none; class: language; pes: 2 */
/* strcpy writes its text and one zero only; a put goes behind them. */
#include <shmem.h>
#include <string.h>

static char field[64];

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0)
    shmem_char_p(&field[6], 'x', 1);
  else
    strcpy(field, "short");
  shmem_barrier_all();
  const int wrong = shmem_my_pe() == 1 && (strlen(field) != 5 || field[6] != 'x');
  shmem_finalize();
  return wrong;
}
