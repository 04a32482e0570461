/* Around a part of a page: what it names. */
#include <shmemx.h>
void part(double *field, size_t bytes, const double *edge, int me, int right);
void part(double *field, size_t bytes, const double *edge, int me, int right) {
/* BLOCK */
}
