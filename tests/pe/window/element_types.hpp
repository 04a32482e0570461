// All element types of the interface: how values are made, and what each operator makes of two of them.
#pragma once

#include <algorithm>
#include <complex>
#include <string>

#include "window_support.hpp"

namespace window_test {

template <class V, class I>
struct PairOf {
  V value;
  I index;
  friend bool operator==(const PairOf&, const PairOf&) = default;
};

// A type of the interface: how values are made, and what each operator makes of two of them.
template <class T>
struct Element {
  int type;
  std::vector<int> ops;
};

inline const std::vector<int> kIntegerOps = {SHMEMX_OP_SUM,  SHMEMX_OP_PROD, SHMEMX_OP_MIN,     SHMEMX_OP_MAX,
                                             SHMEMX_OP_BAND, SHMEMX_OP_BOR,  SHMEMX_OP_BXOR,    SHMEMX_OP_LAND,
                                             SHMEMX_OP_LOR,  SHMEMX_OP_LXOR, SHMEMX_OP_REPLACE, SHMEMX_OP_NO_OP};
inline const std::vector<int> kLogicalOps = {SHMEMX_OP_BAND, SHMEMX_OP_BOR,  SHMEMX_OP_BXOR,    SHMEMX_OP_LAND,
                                             SHMEMX_OP_LOR,  SHMEMX_OP_LXOR, SHMEMX_OP_REPLACE, SHMEMX_OP_NO_OP};
inline const std::vector<int> kFloatOps = {SHMEMX_OP_SUM, SHMEMX_OP_PROD,    SHMEMX_OP_MIN,
                                           SHMEMX_OP_MAX, SHMEMX_OP_REPLACE, SHMEMX_OP_NO_OP};
inline const std::vector<int> kComplexOps = {SHMEMX_OP_SUM, SHMEMX_OP_PROD, SHMEMX_OP_REPLACE, SHMEMX_OP_NO_OP};
inline const std::vector<int> kPairOps = {SHMEMX_OP_MINLOC, SHMEMX_OP_MAXLOC, SHMEMX_OP_REPLACE, SHMEMX_OP_NO_OP};

template <class T>
inline constexpr bool kIsPair = false;
template <class V, class I>
inline constexpr bool kIsPair<PairOf<V, I>> = true;
template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// Small whole numbers, so that results are exact and equal values occur.
template <class T>
T some(Random& random) {
  const auto small = [&] { return static_cast<int>(random.next() % 7); };
  if constexpr (kIsPair<T>) {
    T pair{};
    pair.value = static_cast<decltype(pair.value)>(small());
    pair.index = static_cast<decltype(pair.index)>(small());
    return pair;
  } else if constexpr (kIsComplex<T>) {
    return T(static_cast<typename T::value_type>(small()), static_cast<typename T::value_type>(small() - 3));
  } else if constexpr (std::is_same_v<T, bool>) {
    return small() % 2 != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random.next() % 3 == 0 ? 0 : random.next());
  } else {
    return static_cast<T>(small() - 3);
  }
}

template <class T>
T wrapped(int op, T a, T b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  return static_cast<T>(op == SHMEMX_OP_SUM ? x + y : x * y);
}

template <class T>
T model_integer(int op, T a, T b) {
  switch (op) {
    case SHMEMX_OP_BAND:
      return static_cast<T>(a & b);
    case SHMEMX_OP_BOR:
      return static_cast<T>(a | b);
    case SHMEMX_OP_BXOR:
      return static_cast<T>(a ^ b);
    case SHMEMX_OP_LAND:
      return static_cast<T>(a && b);
    case SHMEMX_OP_LOR:
      return static_cast<T>(a || b);
    case SHMEMX_OP_LXOR:
      return static_cast<T>(!a != !b);
    default:
      return wrapped(op, a, b);
  }
}

template <class T>
T model(int op, T a, T b) {
  if (op == SHMEMX_OP_REPLACE) return b;
  if (op == SHMEMX_OP_NO_OP) return a;
  if constexpr (kIsPair<T>) {
    if (a.value == b.value) return a.index < b.index ? a : b;
    return (a.value < b.value) == (op == SHMEMX_OP_MINLOC) ? a : b;
  } else if constexpr (kIsComplex<T>) {
    return op == SHMEMX_OP_SUM ? a + b : a * b;
  } else {
    if (op == SHMEMX_OP_MIN) return std::min(a, b);
    if (op == SHMEMX_OP_MAX) return std::max(a, b);
    if constexpr (std::is_integral_v<T>) return model_integer(op, a, b);
    return op == SHMEMX_OP_SUM ? a + b : a * b;
  }
}

template <class Test>
void for_all_types(Test test) {
  test(Element<std::int8_t>{SHMEMX_INT8, kIntegerOps});
  test(Element<std::uint8_t>{SHMEMX_UINT8, kIntegerOps});
  test(Element<std::int16_t>{SHMEMX_INT16, kIntegerOps});
  test(Element<std::uint16_t>{SHMEMX_UINT16, kIntegerOps});
  test(Element<std::int32_t>{SHMEMX_INT32, kIntegerOps});
  test(Element<std::uint32_t>{SHMEMX_UINT32, kIntegerOps});
  test(Element<std::int64_t>{SHMEMX_INT64, kIntegerOps});
  test(Element<std::uint64_t>{SHMEMX_UINT64, kIntegerOps});
  test(Element<bool>{SHMEMX_BOOL, kLogicalOps});
  test(Element<float>{SHMEMX_FLOAT, kFloatOps});
  test(Element<double>{SHMEMX_DOUBLE, kFloatOps});
  test(Element<long double>{SHMEMX_LONG_DOUBLE, kFloatOps});
  test(Element<std::complex<float>>{SHMEMX_COMPLEX_FLOAT, kComplexOps});
  test(Element<std::complex<double>>{SHMEMX_COMPLEX_DOUBLE, kComplexOps});
  test(Element<std::complex<long double>>{SHMEMX_COMPLEX_LONG_DOUBLE, kComplexOps});
  test(Element<PairOf<float, int>>{SHMEMX_FLOAT_INT, kPairOps});
  test(Element<PairOf<double, int>>{SHMEMX_DOUBLE_INT, kPairOps});
  test(Element<PairOf<long, int>>{SHMEMX_LONG_INT, kPairOps});
  test(Element<PairOf<int, int>>{SHMEMX_INT_INT, kPairOps});
  test(Element<PairOf<short, int>>{SHMEMX_SHORT_INT, kPairOps});
  test(Element<PairOf<long double, int>>{SHMEMX_LONG_DOUBLE_INT, kPairOps});
  test(Element<PairOf<float, float>>{SHMEMX_FLOAT_FLOAT, kPairOps});
  test(Element<PairOf<double, double>>{SHMEMX_DOUBLE_DOUBLE, kPairOps});
  test(Element<std::int32_t>{SHMEMX_INT32_ARRAY, kIntegerOps});
  test(Element<std::uint32_t>{SHMEMX_UINT32_ARRAY, kIntegerOps});
  test(Element<std::int64_t>{SHMEMX_INT64_ARRAY, kIntegerOps});
  test(Element<std::uint64_t>{SHMEMX_UINT64_ARRAY, kIntegerOps});
}

// Values of a type in memory that need not be aligned.
template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
  }
  return bytes;
}
template <class T>
T at(const std::vector<std::byte>& bytes, std::size_t i) {
  T value{};
  std::memcpy(static_cast<void*>(&value), bytes.data() + i * sizeof(T), sizeof value);
  return value;
}

template <class T>
std::vector<T> some_values(Random& random, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = some<T>(random);
  return values;
}

}  // namespace window_test
