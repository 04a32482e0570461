/* OpenSHMEM 1.6. This file only includes the headers in shmemx/, one for each kind of declarations. */
#ifndef SHMEM_H
#define SHMEM_H

#include "shmemx/types.h"

#include "shmemx/declare.h"

#include "shmemx/generic.h"

#include "shmemx/undef.h"

#endif
