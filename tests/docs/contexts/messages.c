/* Around a part of a page: what it names. */
#include <shmemx.h>
#include <stdio.h>
void part(int me, int n_pes, int tag);
void part(int me, int n_pes, int tag) {
/* BLOCK */
}
