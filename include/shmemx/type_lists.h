/* The type lists of the standard (tables 3 to 13). Each list calls F(X, N, T) for each of its types: F is a set of rows
   (api_table.h), X what to make of a row, N the type's name between underscores, T the type in C.

   Names travel as _size_ and not as size, so that a user's `#define size 10` cannot rewrite shmem_size_put.
   Lists named ..._DISTINCT_ hold every type once for the compiler: int64_t and long, say, are one type with two names.
   Generics and overloads are made from those, prototypes and definitions from all. */
#ifndef SHMEMX_RMA_TYPES
/* clang-format off */

#ifdef __cplusplus
#define SHMEMX_COMPLEXD std::complex<double>
#define SHMEMX_COMPLEXF std::complex<float>
#else
#define SHMEMX_COMPLEXD double _Complex
#define SHMEMX_COMPLEXF float _Complex
#endif

/* ---- RMA, and the collectives that only move data (table 5) ---- */
#define SHMEMX_RMA_DISTINCT_TYPES(F, X)      \
  F(X, _float_,      float)                  \
  F(X, _double_,     double)                 \
  F(X, _longdouble_, long double)            \
  F(X, _char_,       char)                   \
  F(X, _schar_,      signed char)            \
  F(X, _short_,      short)                  \
  F(X, _int_,        int)                    \
  F(X, _long_,       long)                   \
  F(X, _longlong_,   long long)              \
  F(X, _uchar_,      unsigned char)          \
  F(X, _ushort_,     unsigned short)         \
  F(X, _uint_,       unsigned int)           \
  F(X, _ulong_,      unsigned long)          \
  F(X, _ulonglong_,  unsigned long long)

#define SHMEMX_RMA_TYPES(F, X)               \
  SHMEMX_RMA_DISTINCT_TYPES(F, X)            \
  F(X, _int8_,    int8_t)                    \
  F(X, _int16_,   int16_t)                   \
  F(X, _uint8_,   uint8_t)                   \
  F(X, _uint16_,  uint16_t)                  \
  SHMEMX_WORD_ALIAS_TYPES(F, X)

/* ---- Atomics, waits and tests (tables 6 to 8, 13) ---- */
#define SHMEMX_AMO_DISTINCT_TYPES(F, X)      \
  SHMEMX_NOT_LONG_TYPES(F, X)                \
  F(X, _long_,      long)

/* Without long: in C++ the deprecated shmem_wait_until(long *, int, long) is its own overload for long. */
#define SHMEMX_NOT_LONG_TYPES(F, X)          \
  F(X, _int_,       int)                     \
  F(X, _longlong_,  long long)               \
  F(X, _uint_,      unsigned int)            \
  F(X, _ulong_,     unsigned long)           \
  F(X, _ulonglong_, unsigned long long)

#define SHMEMX_WORD_ALIAS_TYPES(F, X)        \
  F(X, _int32_,     int32_t)                 \
  F(X, _int64_,     int64_t)                 \
  F(X, _uint32_,    uint32_t)                \
  F(X, _uint64_,    uint64_t)                \
  F(X, _size_,      size_t)                  \
  F(X, _ptrdiff_,   ptrdiff_t)

#define SHMEMX_AMO_TYPES(F, X)               \
  SHMEMX_AMO_DISTINCT_TYPES(F, X)            \
  SHMEMX_WORD_ALIAS_TYPES(F, X)

#define SHMEMX_FLOAT_TYPES(F, X)             \
  F(X, _float_,     float)                   \
  F(X, _double_,    double)

#define SHMEMX_BITWISE_AMO_DISTINCT_TYPES(F, X) \
  F(X, _uint_,      unsigned int)            \
  F(X, _ulong_,     unsigned long)           \
  F(X, _ulonglong_, unsigned long long)      \
  F(X, _int32_,     int32_t)                 \
  F(X, _int64_,     int64_t)

#define SHMEMX_BITWISE_AMO_TYPES(F, X)       \
  SHMEMX_BITWISE_AMO_DISTINCT_TYPES(F, X)    \
  F(X, _uint32_,    uint32_t)                \
  F(X, _uint64_,    uint64_t)

/* ---- Reductions and scans (tables 10 to 12); max and min take the RMA types ---- */
#define SHMEMX_BITWISE_REDUCE_DISTINCT_TYPES(F, X) \
  F(X, _uchar_,     unsigned char)           \
  F(X, _ushort_,    unsigned short)          \
  F(X, _uint_,      unsigned int)            \
  F(X, _ulong_,     unsigned long)           \
  F(X, _ulonglong_, unsigned long long)      \
  F(X, _int8_,      int8_t)                  \
  F(X, _int16_,     int16_t)                 \
  F(X, _int32_,     int32_t)                 \
  F(X, _int64_,     int64_t)

#define SHMEMX_BITWISE_REDUCE_TYPES(F, X)    \
  SHMEMX_BITWISE_REDUCE_DISTINCT_TYPES(F, X) \
  F(X, _uint8_,     uint8_t)                 \
  F(X, _uint16_,    uint16_t)                \
  F(X, _uint32_,    uint32_t)                \
  F(X, _uint64_,    uint64_t)                \
  F(X, _size_,      size_t)

#define SHMEMX_COMPLEX_TYPES(F, X)           \
  F(X, _complexd_,  SHMEMX_COMPLEXD)         \
  F(X, _complexf_,  SHMEMX_COMPLEXF)

/* ---- Types of the deprecated routines ---- */
#define SHMEMX_OLD_AMO_TYPES(F, X)           \
  F(X, _int_,       int)                     \
  F(X, _long_,      long)                    \
  F(X, _longlong_,  long long)

#define SHMEMX_OLD_WAIT_TYPES(F, X)          \
  F(X, _short_,     short)                   \
  F(X, _ushort_,    unsigned short)

#define SHMEMX_OLD_INTEGER_TYPES(F, X)       \
  F(X, _short_,     short)                   \
  SHMEMX_OLD_AMO_TYPES(F, X)

#define SHMEMX_OLD_REAL_TYPES(F, X)          \
  SHMEMX_OLD_INTEGER_TYPES(F, X)             \
  SHMEMX_FLOAT_TYPES(F, X)                   \
  F(X, _longdouble_, long double)

/* ---- Sizes in bits. Only the library uses T; it defines the last two in C++. ---- */
#define SHMEMX_OLD_SIZES(F, X)               \
  F(X, 32,  uint32_t)                        \
  F(X, 64,  uint64_t)

#define SHMEMX_SIZES(F, X)                   \
  F(X, 8,   uint8_t)                         \
  F(X, 16,  uint16_t)                        \
  SHMEMX_OLD_SIZES(F, X)                     \
  F(X, 128, SHMEMX_BYTES16)

#define SHMEMX_MEM(F, X) F(X, mem, SHMEMX_BYTE)

/* clang-format on */
#endif
