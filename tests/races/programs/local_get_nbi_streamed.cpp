/* races: always; class: local; pes: 2 */
/* A text is printed by cout before the get is complete. */
#include <shmem.h>
#include <iostream>
static char source[64] = "hello";
int main() {
  shmem_init();
  static char text[64];
  text[0] = 0;
  shmem_getmem_nbi(text, source, 64, 1 - shmem_my_pe());  // race 1
  std::cout << text << std::endl;                         // race 2
  shmem_quiet();
  shmem_finalize();
  return 0;
}
