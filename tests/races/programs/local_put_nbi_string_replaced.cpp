/* races: always; class: local; pes: 2 */
/* A std::string is changed while its text is put. */
#include <shmem.h>
#include <string>
static char dest[200];
int main() {
  shmem_init();
  std::string s(100, 'a');
  shmem_putmem_nbi(dest, s.data(), s.size(), 1 - shmem_my_pe());  // race 1
  s.replace(10, 5, "hello");                                      // race 2
  shmem_quiet();
  shmem_barrier_all();
  shmem_finalize();
  return s.size() != 100;
}
