/* OpenSHMEM 1.6. Only includes headers of shmemx/. The installed shmem.h has the same prototypes, without macros. */
#ifndef SHMEM_H
#define SHMEM_H

#include "shmemx/types.h"

#include "shmemx/declare.h"

#include "shmemx/generic.h"

#include "shmemx/undef.h"

#endif
