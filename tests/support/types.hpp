// The standard's type tables as X-macros: X(P, NAME, T), where P is the prefix (shmem or pshmem).
// They are independent of the library's own tables, so that a test fails if a row is missing there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

// clang-format off
#define TEST_AMO_INTEGER_TYPES(X, P)                                                                   \
  X(P, int, int) X(P, long, long) X(P, longlong, long long) X(P, uint, unsigned int)                   \
  X(P, ulong, unsigned long) X(P, ulonglong, unsigned long long) X(P, int32, int32_t)                  \
  X(P, int64, int64_t) X(P, uint32, uint32_t) X(P, uint64, uint64_t) X(P, size, size_t)                \
  X(P, ptrdiff, ptrdiff_t)

#define TEST_AMO_FLOAT_TYPES(X, P) X(P, float, float) X(P, double, double)

#define TEST_AMO_BITWISE_TYPES(X, P)                                                                   \
  X(P, uint, unsigned int) X(P, ulong, unsigned long) X(P, ulonglong, unsigned long long)              \
  X(P, int32, int32_t) X(P, int64, int64_t) X(P, uint32, uint32_t) X(P, uint64, uint64_t)

#define TEST_RMA_TYPES(X, P)                                                                           \
  X(P, float, float) X(P, double, double) X(P, longdouble, long double) X(P, char, char)               \
  X(P, schar, signed char) X(P, short, short) X(P, int, int) X(P, long, long)                          \
  X(P, longlong, long long) X(P, uchar, unsigned char) X(P, ushort, unsigned short)                    \
  X(P, uint, unsigned int) X(P, ulong, unsigned long) X(P, ulonglong, unsigned long long)              \
  X(P, int8, int8_t) X(P, int16, int16_t) X(P, int32, int32_t) X(P, int64, int64_t)                    \
  X(P, uint8, uint8_t) X(P, uint16, uint16_t) X(P, uint32, uint32_t) X(P, uint64, uint64_t)            \
  X(P, size, size_t) X(P, ptrdiff, ptrdiff_t)

#define TEST_BIT_REDUCE_TYPES(X, P)                                                                    \
  X(P, uchar, unsigned char) X(P, ushort, unsigned short) X(P, uint, unsigned int)                     \
  X(P, ulong, unsigned long) X(P, ulonglong, unsigned long long) X(P, int8, int8_t)                    \
  X(P, int16, int16_t) X(P, int32, int32_t) X(P, int64, int64_t) X(P, uint8, uint8_t)                  \
  X(P, uint16, uint16_t) X(P, uint32, uint32_t) X(P, uint64, uint64_t) X(P, size, size_t)

#define TEST_SIZES(X, P)                                                                               \
  X(P, 8, uint8_t) X(P, 16, uint16_t) X(P, 32, uint32_t) X(P, 64, uint64_t) X(P, 128, ::pe_test::Wide)
// clang-format on

namespace pe_test {

// The element type of the 128-bit routines.
struct Wide {
  uint64_t low;
  uint64_t high;
  bool operator==(const Wide&) const = default;
};

// Returns a value that depends on `seed` and is representable in every type of the tables.
template <class T>
T value(std::size_t seed) {
  const auto small = static_cast<unsigned>((seed * 37 + 11) % 127);
  if constexpr (std::is_same_v<T, Wide>)
    return Wide{seed * 0x9e3779b97f4a7c15u + 1, ~seed};
  else if constexpr (sizeof(T) == 1)
    return static_cast<T>(small);
  else
    return static_cast<T>(small + (seed % 200) * 128);
}

}  // namespace pe_test
