// The operators of reductions and scans. Integers wrap: they are computed as unsigned.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

namespace shmemx::coll {

// An unsigned type that is not narrower than int, so that no intermediate result can overflow.
template <class T>
using WrappingOf = typename std::conditional_t<(sizeof(T) < sizeof(unsigned)), std::type_identity<unsigned>,
                                               std::make_unsigned<T>>::type;

struct Sum {
  template <class T>
  static T apply(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<WrappingOf<T>>(a) + static_cast<WrappingOf<T>>(b));
    } else {
      return a + b;
    }
  }
};

struct Prod {
  template <class T>
  static T apply(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<WrappingOf<T>>(a) * static_cast<WrappingOf<T>>(b));
    } else {
      return a * b;
    }
  }
};

struct Max {
  template <class T>
  static T apply(T a, T b) noexcept {
    return a < b ? b : a;
  }
};

struct Min {
  template <class T>
  static T apply(T a, T b) noexcept {
    return b < a ? b : a;
  }
};

struct And {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};

struct Or {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};

}  // namespace shmemx::coll
