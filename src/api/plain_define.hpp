// Defines the two names of a routine without a type: pshmem_x is written out, shmem_x is a weak alias of it in the
// same file.
#pragma once

#include <pshmem.h>
#include <shmem.h>

#define SHMEMX_ALIAS(NAME) extern "C" [[gnu::weak, gnu::alias("p" #NAME)]] decltype(p##NAME) NAME;
