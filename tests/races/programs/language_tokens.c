/* races: none; class: language; pes: 2 */
/* Texts are taken apart after the barrier; the other PE gets the rest of the word meanwhile. */
#include <shmem.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <wchar.h>
static char box[64];
static wchar_t wide[16];
int main(void) {
  shmem_init();
  int me = shmem_my_pe(), bad = 0, n = 0;
  const char text[64] = "one,two;three four";
  shmem_putmem(box, text, 64, 1 - me);
  shmem_putmem(wide, L"abc", 16, 1 - me);
  shmem_barrier_all();
  char to[64], *rest = NULL;
  shmem_getmem(to, box + 40, 8, 1 - me);
  for (char* t = strtok_r(box, ",; ", &rest); t != NULL; t = strtok_r(NULL, ",; ", &rest)) ++n;
  bad |= n != 4 || strcasecmp(box, "ONE") != 0 || strcspn(box, "x") != 3 || strpbrk(box, "n") != box + 1;
  wchar_t copy[16];
  wmemcpy(copy, wide, 4);
  bad |= wcscmp(copy, L"abc") != 0 || memccpy(to, box, 0, 10) != to + 4 || strncasecmp(to, "oNx", 2) != 0;
  char* p = to;
  bad |= strcmp(strsep(&p, "n"), "o") != 0 || *p != 'e' || strtok(to, "z") != to;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  bad |= time(NULL) == 0;
  shmem_finalize();
  return bad;
}
