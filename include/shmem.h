/* OpenSHMEM 1.6. This file only includes; what it gathers stands in shmemx/, one kind of thing in each file. */
#ifndef SHMEM_H
#define SHMEM_H

#include "shmemx/types.h"

#include "shmemx/declare.h"

#include "shmemx/generic.h"

#include "shmemx/undef.h"

#endif
