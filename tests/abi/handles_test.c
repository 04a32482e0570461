/* The predefined handles are symbols of the library with the values of the macros, as bindings of other languages see
   them. Built as C and as C++. */
#include <shmem.h>

static const shmem_ctx_t contexts[] = {SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT};
static const shmem_team_t teams[] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
#undef SHMEM_CTX_INVALID
#undef SHMEM_CTX_DEFAULT
#undef SHMEM_TEAM_INVALID
#undef SHMEM_TEAM_WORLD
#undef SHMEM_TEAM_SHARED

int main(void) {
  if (SHMEM_CTX_INVALID != contexts[0] || SHMEM_CTX_DEFAULT != contexts[1]) return 1;
  if (SHMEM_TEAM_INVALID != teams[0] || SHMEM_TEAM_WORLD != teams[1] || SHMEM_TEAM_SHARED != teams[2]) return 2;
  return 0;
}
