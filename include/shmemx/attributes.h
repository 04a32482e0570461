/* Attributes of all prototypes. undef.h undefines these macros again. */
#ifndef SHMEMX_API

#if defined(__cplusplus) && __cplusplus >= 201103L
#define SHMEMX_NOEXCEPT noexcept
#elif defined(__cplusplus)
#define SHMEMX_NOEXCEPT throw()
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

#if defined(__GNUC__)
#define SHMEMX_NORETURN __attribute__((__noreturn__))
#else
#define SHMEMX_NORETURN
#endif

#endif
