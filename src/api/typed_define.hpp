// Makes C entry points from the rows of the public tables. Each entry point is one call of a function template in
// shmemx::api, which is where a reader steps through. There is no logic in the macros.
//
// pshmem_x is the definition, shmem_x a weak alias of it: a profiling tool may define its own shmem_x and call
// pshmem_x. ROUTINE, the name that diagnostics show, is a string literal made from the row.
#pragma once

// clang-format off

#define SHMEMX_NO_C99_COMPLEX  // one function for each name
#include <pshmem.h>
#include <shmem.h>

#include <cstddef>
#include <cstdint>

#include <shmemx/api_deprecated.h>
#include <shmemx/api_table.h>
#include <shmemx/type_lists.h>

// The C++ types for the T column of the sized rows.
#define SHMEMX_BYTES16 shmemx::api::Bytes16
#define SHMEMX_BYTE std::byte

#define SHMEMX_UNWRAP(...) __VA_ARGS__

// NAME is the shmem_ name, CALL the expression that the entry point returns.
#define SHMEMX_ENTRY(NAME, R, PARAMETERS, CALL)                   \
  extern "C" R p##NAME PARAMETERS noexcept { return CALL; }       \
  extern "C" [[gnu::weak, gnu::alias("p" #NAME)]] R NAME PARAMETERS noexcept;

// Defines a routine on the default context and its form with an explicit context.
#define SHMEMX_DEFINE_DEFAULT_CTX(TAIL, T, R, OP, ARGS, ...)      \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__),                     \
               shmemx::api::OP<T>(shmemx::api::default_context(), "shmem" #TAIL, SHMEMX_UNWRAP ARGS))
#define SHMEMX_DEFINE_CTX(TAIL, T, R, OP, ARGS, ...)              \
  SHMEMX_DEFINE_DEFAULT_CTX(TAIL, T, R, OP, ARGS, __VA_ARGS__)    \
  SHMEMX_ENTRY(shmem_ctx##TAIL, R, (shmem_ctx_t ctx_, __VA_ARGS__), \
               shmemx::api::OP<T>(shmemx::api::checked_context(ctx_, "shmem_ctx" #TAIL), "shmem_ctx" #TAIL, SHMEMX_UNWRAP ARGS))

// Defines a routine without a context.
#define SHMEMX_DEFINE(TAIL, T, R, OP, ARGS, ...)                  \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__), shmemx::api::OP<T>("shmem" #TAIL, SHMEMX_UNWRAP ARGS))
