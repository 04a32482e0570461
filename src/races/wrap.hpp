// Makes entry points in front of the library's from the rows of the public tables.
#pragma once

// clang-format off
#define SHMEMX_NO_C99_COMPLEX  // one function for each name
#include <pshmem.h>
#include <shmem.h>

#include <shmemx/api_deprecated.h>
#include <shmemx/api_table.h>
#include <shmemx/type_lists.h>

struct SHMEMX_BYTES16 { char bytes[16]; };
using SHMEMX_BYTE = char;

#define SHMEMX_UNWRAP(...) __VA_ARGS__

// NOTE(name, arguments...) is called before the library's routine.
#define SHMEMX_WRAP_ONE(NAME, R, PARAMETERS, ARGUMENTS, NOTE, ...)                             \
  extern "C" [[gnu::visibility("default")]] R NAME PARAMETERS {                                \
    shmemx::races::Routine routine({#NAME, __builtin_return_address(0)});                      \
    NOTE(routine, __VA_ARGS__);                                                                \
    return p##NAME ARGUMENTS;                                                                  \
  }
#define SHMEMX_WRAP_CTX(TAIL, T, R, OP, ARGS, ...)                                             \
  SHMEMX_WRAP_ONE(shmem##TAIL, R, (__VA_ARGS__), ARGS, shmemx::races::OP<T>, SHMEM_CTX_DEFAULT, SHMEMX_UNWRAP ARGS) \
  SHMEMX_WRAP_ONE(shmem_ctx##TAIL, R, (shmem_ctx_t ctx_, __VA_ARGS__), (ctx_, SHMEMX_UNWRAP ARGS),                 \
                  shmemx::races::OP<T>, ctx_, SHMEMX_UNWRAP ARGS)
#define SHMEMX_WRAP(TAIL, T, R, OP, ARGS, ...)                                                 \
  SHMEMX_WRAP_ONE(shmem##TAIL, R, (__VA_ARGS__), ARGS, shmemx::races::OP<T>, SHMEMX_UNWRAP ARGS)
// clang-format on
