/* Handles, structures and constants. All values here are part of the ABI. */
#ifndef SHMEMX_TYPES_H
#define SHMEMX_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */

/* ---- What is implemented (section 6) ---- */
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN  128                /* of shmem_info_get_name, with the terminating null */
#define SHMEM_VENDOR_STRING "shmemx 0.1.0"
/* Defined by this library only: major * 10000 + minor * 100 + patch of its own version. */
#define SHMEMX_VERSION      100

/* ---- Handles (sections 7, 9.4, 9.5) ----
   Opaque and coded: a handle is a number with a pointer's type, never the address of an object. So predefined
   handles work in static initialisers and need no relocation, and the library can reject any invalid value without a
   memory access. */
typedef struct shmemx_ctx  *shmem_ctx_t;
typedef struct shmemx_team *shmem_team_t;

/* The same numbers as symbols of the library, for bindings that other languages make from this header or from the
   library alone. In C and C++ the macros of these names follow. */
#ifdef __cplusplus
extern "C" {
#endif
extern const shmem_ctx_t  SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT;
extern const shmem_team_t SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED;
#ifdef __cplusplus
}
#endif

#ifdef __cplusplus                             /* avoids warnings of -Wold-style-cast */
#define SHMEMX_HANDLE(type_, number_) (reinterpret_cast<type_>(number_))
#else
#define SHMEMX_HANDLE(type_, number_) ((type_)(number_))
#endif
#define SHMEM_CTX_INVALID  SHMEMX_HANDLE(shmem_ctx_t, 0L)
#define SHMEM_CTX_DEFAULT  SHMEMX_HANDLE(shmem_ctx_t, 1L)
#define SHMEM_TEAM_INVALID SHMEMX_HANDLE(shmem_team_t, 0L)
#define SHMEM_TEAM_WORLD   SHMEMX_HANDLE(shmem_team_t, 1L)
#define SHMEM_TEAM_SHARED  SHMEMX_HANDLE(shmem_team_t, 2L)

typedef struct {
  int num_contexts;                            /* contexts that the program expects to have on the team at once; 0 by default */
} shmem_team_config_t;
#define SHMEM_TEAM_NUM_CONTEXTS 0x1L           /* mask: num_contexts is set */

typedef struct {
  size_t total_ops;                            /* RMA calls expected in the session; SIZE_MAX by default */
} shmem_ctx_session_config_t;
#define SHMEM_CTX_SESSION_TOTAL_OPS 0x1L       /* mask: total_ops is set */
#define SHMEM_CTX_SESSION_BATCH     0x1L       /* option: operations may be delayed and sent together */

/* ---- Context options, bits (9.5.1) ---- */
#define SHMEM_CTX_SERIALIZED 0x1L              /* threads share it and take turns */
#define SHMEM_CTX_PRIVATE    0x2L              /* only the creating thread uses it */
#define SHMEM_CTX_NOSTORE    0x4L              /* fence and quiet on it need not cover stores of the CPU */

/* ---- Allocation hints, bits (9.3.5) ---- */
#define SHMEM_MALLOC_ATOMICS_REMOTE 0x1L
#define SHMEM_MALLOC_SIGNAL_REMOTE  0x2L

/* ---- Thread levels, growing (9.2) ---- */
#define SHMEM_THREAD_SINGLE     0
#define SHMEM_THREAD_FUNNELED   1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE   3

/* ---- Comparisons of wait and test (9.11). 0 is not used, so that a forgotten argument is detected. ---- */
#define SHMEM_CMP_EQ 1
#define SHMEM_CMP_NE 2
#define SHMEM_CMP_GT 3
#define SHMEM_CMP_GE 4
#define SHMEM_CMP_LT 5
#define SHMEM_CMP_LE 6

/* ---- Signal operators (9.8.2) ---- */
#define SHMEM_SIGNAL_SET 1
#define SHMEM_SIGNAL_ADD 2

/* ---- Deprecated: work arrays of the active-set collectives (9.10), in elements ---- */
#define SHMEM_SYNC_VALUE              0L       /* all elements of pSync hold it before the first use */
#define SHMEM_SYNC_SIZE               8
#define SHMEM_BARRIER_SYNC_SIZE       8
#define SHMEM_BCAST_SYNC_SIZE         8
#define SHMEM_COLLECT_SYNC_SIZE       8
#define SHMEM_REDUCE_SYNC_SIZE        8
#define SHMEM_ALLTOALL_SYNC_SIZE      8
#define SHMEM_ALLTOALLS_SYNC_SIZE     8
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 8

/* ---- Deprecated spellings (annex F.2.8) ---- */
#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE
#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE

/* clang-format on */
#endif
