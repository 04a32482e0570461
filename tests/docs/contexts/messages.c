/* Around a part of a page: what it names. */
#include <shmemx.h>
void part(void *buffer, size_t bytes, int pe, int tag);
void part(void *buffer, size_t bytes, int pe, int tag) {
  shmemx_status_t status;
/* BLOCK */
}
