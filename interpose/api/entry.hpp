// What the entry points share. Each routine is defined by its PMPI_ name; the other one is an alias.
#pragma once

#include <mpi.h>

#define SHMEMX_ENTRY extern "C" __attribute__((visibility("default")))
#define SHMEMX_BOTH_NAMES(name) \
  extern "C" __attribute__((visibility("default"), alias("PMPI_" #name))) decltype(PMPI_##name) MPI_##name;
