/* The profiling interface (OpenSHMEM 1.6, section 10): every routine shmem_x under its second name pshmem_x. A tool
   defines its own shmem_x and calls the library through pshmem_x. */
#ifndef PSHMEM_H
#define PSHMEM_H

#include "shmemx/types.h"

#define SHMEMX_DECLARE_TWINS
#include "shmemx/declare.h"
#undef SHMEMX_DECLARE_TWINS

#include "shmemx/undef.h"

#endif
