/* A profiling library in front of any OpenSHMEM library: it defines a shmem_ routine, and calls the pshmem_ one.
   Preload it, or link it before the library:

     cc -shared -fPIC -I$PREFIX/include profile.c -o libprofile.so
     oshrun -n 4 -x LD_PRELOAD=$PWD/libprofile.so ./program

   Each PE counts the calls and the time of puts, gets of one word and barriers, and prints them at the end. */
#include <pshmem.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

/* Any thread may call at SHMEM_THREAD_MULTIPLE. */
struct routine {
  const char *name;
  atomic_ulong calls;
  atomic_ulong bytes;
  atomic_ulong ns;
};
static struct routine putmem = {.name = "shmem_putmem"};
static struct routine long_p = {.name = "shmem_long_p"};
static struct routine long_g = {.name = "shmem_long_g"};
static struct routine barrier_all = {.name = "shmem_barrier_all"};

/* shmem_pcontrol(0) of the program stops the counting, shmem_pcontrol(1) goes on. */
static atomic_int is_on = 1;

static unsigned long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long)t.tv_sec * 1000000000UL + (unsigned long)t.tv_nsec;
}

static void count(struct routine *routine, unsigned long bytes, unsigned long begin) {
  if (!is_on) return;
  routine->calls++;
  routine->bytes += bytes;
  routine->ns += now_ns() - begin;
}

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe) {
  const unsigned long begin = now_ns();
  pshmem_putmem(dest, source, nelems, pe);
  count(&putmem, nelems, begin);
}

void shmem_long_p(long *dest, long value, int pe) {
  const unsigned long begin = now_ns();
  pshmem_long_p(dest, value, pe);
  count(&long_p, sizeof value, begin);
}

long shmem_long_g(const long *source, int pe) {
  const unsigned long begin = now_ns();
  const long value = pshmem_long_g(source, pe);
  count(&long_g, sizeof value, begin);
  return value;
}

void shmem_barrier_all(void) {
  const unsigned long begin = now_ns();
  pshmem_barrier_all();
  count(&barrier_all, 0, begin);
}

void shmem_pcontrol(const int level, ...) {
  is_on = level != 0;
  pshmem_pcontrol(level);
}

static void print(struct routine *routine) {
  if (routine->calls != 0)
    printf("PE %d: %s: %lu calls, %lu bytes, %lu ns\n", pshmem_my_pe(), routine->name, routine->calls, routine->bytes,
           routine->ns);
}

void shmem_finalize(void) {
  print(&putmem);
  print(&long_p);
  print(&long_g);
  print(&barrier_all);
  fflush(stdout);
  pshmem_finalize();
}
