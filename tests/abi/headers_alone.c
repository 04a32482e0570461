/* The entry headers in any order, twice, and (as C++) inside extern "C" as many old programs have it. The test compiles
   this file once for each order and language. */
#if defined(__cplusplus) && defined(IN_EXTERN_C)
extern "C" {
#endif

/* clang-format off: includes stand twice on purpose */
#if defined(ORDER_SHMEM)
#include <shmem.h>
#elif defined(ORDER_SHMEMX)
#include <shmemx.h>
#elif defined(ORDER_PSHMEM)
#include <pshmem.h>
#elif defined(ORDER_MPP)
#include <mpp/shmem.h>
#elif defined(ORDER_MPPX)
#include <mpp/shmemx.h>
#elif defined(ORDER_PSHMEM_FIRST)
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>
#elif defined(ORDER_SHMEM_FIRST)
#include <mpp/shmem.h>
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>
#else
#error "name an order"
#endif
/* clang-format on */

#if defined(__cplusplus) && defined(IN_EXTERN_C)
}
#endif

/* Otherwise an include that declares nothing would not be noticed. */
shmem_ctx_t use_handle(void);
#if defined(ORDER_PSHMEM)
int (*const entry)(void) = pshmem_my_pe;
#else
int (*const entry)(void) = shmem_my_pe;
#endif
