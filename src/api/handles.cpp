// The predefined handles as symbols of the library (include/shmemx/types.h).
#include <shmemx/types.h>

// Defines the symbol NAME with the value of the macro NAME. NAME is a macro, so the variable needs another name in C++.
#define SHMEMX_HANDLE_SYMBOL(T, NAME, VARIABLE)                              \
  extern "C" [[gnu::visibility("default")]] const T VARIABLE __asm__(#NAME); \
  const T VARIABLE = NAME;

SHMEMX_HANDLE_SYMBOL(shmem_ctx_t, SHMEM_CTX_INVALID, ctx_invalid)
SHMEMX_HANDLE_SYMBOL(shmem_ctx_t, SHMEM_CTX_DEFAULT, ctx_default)
SHMEMX_HANDLE_SYMBOL(shmem_team_t, SHMEM_TEAM_INVALID, team_invalid)
SHMEMX_HANDLE_SYMBOL(shmem_team_t, SHMEM_TEAM_WORLD, team_world)
SHMEMX_HANDLE_SYMBOL(shmem_team_t, SHMEM_TEAM_SHARED, team_shared)
