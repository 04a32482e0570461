/* Around a part of a page: what it names. */
#include <shmemx.h>
#include <stdio.h>
void part(void) {
/* BLOCK */
}
