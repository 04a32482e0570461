/* Puts and gets of 1 KiB and more do not reach the C library's memcpy and memmove, whose string instructions take 14 to
   24 times as long at some distances between source and dest. This program's own ones take precedence and count. */
#include <shmem.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096
#define LARGE 1024
#define MOST 200000

static volatile int large_calls;

/* Byte by byte; volatile keeps the compiler from making a call of memcpy from the loop. */
static void* copy(void* dest, const void* source, size_t bytes, int up) {
  volatile unsigned char* const to = dest;
  const volatile unsigned char* const from = source;
  if (bytes >= LARGE) ++large_calls;
  for (size_t i = 0; i < bytes; ++i) {
    const size_t at = up ? bytes - 1 - i : i;
    to[at] = from[at];
  }
  return dest;
}

void* memcpy(void* dest, const void* source, size_t bytes) { return copy(dest, source, bytes, 0); }
void* memmove(void* dest, const void* source, size_t bytes) {
  return copy(dest, source, bytes, (uintptr_t)dest > (uintptr_t)source);
}

/* The first place from `from` on whose distance from `other` is as given, modulo a page. */
static unsigned char* at_distance(unsigned char* from, const unsigned char* other, size_t distance) {
  return from + (distance - (size_t)(from - other)) % PAGE;
}

static int is_same(const unsigned char* a, const unsigned char* b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) return 0;
  }
  return 1;
}

static int check(unsigned char* heap, unsigned char* own, size_t bytes, size_t distance) {
  unsigned char* const other = at_distance(heap, own, distance);
  unsigned char* const back = at_distance(own + MOST + PAGE, other, distance);
  const int before = large_calls;
  shmem_putmem(other, own, bytes, 0);
  shmem_getmem(back, other, bytes, 0);
  if (large_calls != before) {
    printf("%zu bytes at distance %zu: %d large calls of memcpy or memmove\n", bytes, distance, large_calls - before);
    return 1;
  }
  if (is_same(own, back, bytes)) return 0;
  printf("%zu bytes at distance %zu: copied wrongly\n", bytes, distance);
  return 1;
}

int main(void) {
  static const size_t sizes[] = {1024, 1500, 3000, 4096, 12000, MOST};
  static const size_t distances[] = {0, 1, 8, 15, 16, 24, 31, 48, 2048, 4080};
  int wrong = 0;
  shmem_init();
  unsigned char* const heap = shmem_malloc(MOST + PAGE);
  unsigned char* const own = malloc(2 * (MOST + PAGE));
  if (heap == NULL || own == NULL) return 2;
  for (size_t i = 0; i < MOST; ++i) own[i] = (unsigned char)(i * 7 + i / 251);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    for (size_t d = 0; d < sizeof distances / sizeof *distances; ++d) wrong += check(heap, own, sizes[s], distances[d]);
  }
  memcpy(own, heap, LARGE);
  if (large_calls == 0) {
    puts("calls of memcpy are not counted");
    ++wrong;
  }
  free(own);
  shmem_free(heap);
  shmem_finalize();
  return wrong != 0;
}
