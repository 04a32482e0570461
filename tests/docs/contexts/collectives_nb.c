/* Around a part of a page: what it names. */
#include <shmemx.h>
void compute_something_else(void);
void part(void) {
/* BLOCK */
}
