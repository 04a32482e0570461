/* Attributes of all prototypes. undef.h undefines these macros again. */
#ifndef SHMEMX_API

/* A program has the standard's plain prototypes: it may declare a routine again, define it (profiling), or name its
   type. Only the build of the library, whose routines do not throw, adds noexcept. */
#if defined(__cplusplus) && defined(SHMEMX_BUILDING_LIBRARY)
#define SHMEMX_NOEXCEPT noexcept
#else
#define SHMEMX_NOEXCEPT
#endif

/* noplt: the call goes straight through the address table, which saves a jump in each put. It also binds names when
   the program starts, so no first call pays for a look-up. Linked statically it becomes an ordinary direct call. */
#if defined(__has_attribute)
#if __has_attribute(__noplt__)
#define SHMEMX_API __attribute__((__visibility__("default"), __noplt__))
#endif
#endif
#if !defined(SHMEMX_API) && defined(__GNUC__)
#define SHMEMX_API __attribute__((__visibility__("default")))
#endif
#if !defined(SHMEMX_API)
#define SHMEMX_API
#endif

/* Not [[noreturn]], which a program's own declaration before the include would have to have too. */
#if defined(__GNUC__)
#define SHMEMX_NORETURN __attribute__((__noreturn__))
#else
#define SHMEMX_NORETURN
#endif

#endif
