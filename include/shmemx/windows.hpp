// Windows for C++20: owners that free themselves, typed transfers, errors as exceptions. Header-only, on top of
// windows.h, which defines each operation. Windows must be destroyed before shmem_finalize.
#ifndef SHMEMX_WINDOWS_HPP
#define SHMEMX_WINDOWS_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "windows.h"

namespace shmemx {

class window_error : public std::runtime_error {
 public:
  explicit window_error(int code) : std::runtime_error(text_of(code)), code_(code) {}
  int code() const noexcept { return code_; }  // SHMEMX_ERR_...

 private:
  // With the owner, address and length where they are known.
  static std::string text_of(int code) {
    std::string text = shmemx_error_text(code);
    if (code == SHMEMX_ERR_RANGE || code == SHMEMX_ERR_STALE) {
      const std::string more = shmemx_error_detail();
      if (!more.empty()) text += ": " + more;
    }
    return text;
  }

  int code_;
};

enum class op : int {
  sum = SHMEMX_OP_SUM,
  prod = SHMEMX_OP_PROD,
  min = SHMEMX_OP_MIN,
  max = SHMEMX_OP_MAX,
  band = SHMEMX_OP_BAND,
  bor = SHMEMX_OP_BOR,
  bxor = SHMEMX_OP_BXOR,
  replace = SHMEMX_OP_REPLACE,
  no_op = SHMEMX_OP_NO_OP,
  land = SHMEMX_OP_LAND,
  lor = SHMEMX_OP_LOR,
  lxor = SHMEMX_OP_LXOR,
  minloc = SHMEMX_OP_MINLOC,
  maxloc = SHMEMX_OP_MAXLOC
};
// For accumulates of elements that nobody else accesses meanwhile: they need not be atomic.
constexpr op exclusive(op operation) { return static_cast<op>(static_cast<int>(operation) | SHMEMX_OP_EXCLUSIVE); }

// The elements of minloc and maxloc.
template <class Value, class Index = int>
struct value_index {
  Value value;
  Index index;
  friend bool operator==(const value_index&, const value_index&) = default;
};

enum class lock_kind : int { shared = SHMEMX_LOCK_SHARED, exclusive = SHMEMX_LOCK_EXCLUSIVE, join = SHMEMX_LOCK_JOIN };

namespace detail {

inline void check(int code) {
  if (code != SHMEMX_SUCCESS) throw window_error(code);
}

template <class T>
concept element = std::is_trivially_copyable_v<T>;
template <class T>
concept variable = element<T> && !std::is_const_v<T>;

// The element types of atomic operations and accumulates: 0 if T is none.
template <class T>
constexpr int type_of_integer() {
  if (sizeof(T) == 1) return std::is_signed_v<T> ? SHMEMX_INT8 : SHMEMX_UINT8;
  if (sizeof(T) == 2) return std::is_signed_v<T> ? SHMEMX_INT16 : SHMEMX_UINT16;
  if (sizeof(T) == 4) return std::is_signed_v<T> ? SHMEMX_INT32 : SHMEMX_UINT32;
  return sizeof(T) == 8 ? (std::is_signed_v<T> ? SHMEMX_INT64 : SHMEMX_UINT64) : 0;
}
// The types of integers that are updated as arrays, see SHMEMX_INT32_ARRAY.
template <class T>
constexpr int array_type_of() {
  if (!std::is_integral_v<T>) return 0;
  if (sizeof(T) == 4) return std::is_signed_v<T> ? SHMEMX_INT32_ARRAY : SHMEMX_UINT32_ARRAY;
  return sizeof(T) == 8 ? (std::is_signed_v<T> ? SHMEMX_INT64_ARRAY : SHMEMX_UINT64_ARRAY) : 0;
}
template <class T>
constexpr int type_of_pair() {
  if (std::is_same_v<T, value_index<float, int>>) return SHMEMX_FLOAT_INT;
  if (std::is_same_v<T, value_index<double, int>>) return SHMEMX_DOUBLE_INT;
  if (std::is_same_v<T, value_index<long, int>>) return SHMEMX_LONG_INT;
  if (std::is_same_v<T, value_index<int, int>>) return SHMEMX_INT_INT;
  if (std::is_same_v<T, value_index<short, int>>) return SHMEMX_SHORT_INT;
  if (std::is_same_v<T, value_index<long double, int>>) return SHMEMX_LONG_DOUBLE_INT;
  if (std::is_same_v<T, value_index<float, float>>) return SHMEMX_FLOAT_FLOAT;
  return std::is_same_v<T, value_index<double, double>> ? SHMEMX_DOUBLE_DOUBLE : 0;
}
template <class T>
constexpr int type_of() {
  if (std::is_same_v<T, bool>) return SHMEMX_BOOL;
  if (std::is_integral_v<T>) return type_of_integer<T>();
  if (std::is_same_v<T, float>) return SHMEMX_FLOAT;
  if (std::is_same_v<T, double>) return SHMEMX_DOUBLE;
  if (std::is_same_v<T, long double>) return SHMEMX_LONG_DOUBLE;
  if (std::is_same_v<T, std::complex<float>>) return SHMEMX_COMPLEX_FLOAT;
  if (std::is_same_v<T, std::complex<double>>) return SHMEMX_COMPLEX_DOUBLE;
  if (std::is_same_v<T, std::complex<long double>>) return SHMEMX_COMPLEX_LONG_DOUBLE;
  return type_of_pair<T>();
}
template <class T>
concept word = (type_of<T>() != 0);
template <class T>
concept array_word = (array_type_of<T>() != 0);

// Prevents the deduction of template arguments from an argument.
template <class T>
using plain = std::type_identity_t<T>;

}  // namespace detail

using window_description = shmemx_window_description_t;

// A window of this PE.
class window {
 public:
  // Allocates new memory that other PEs can map.
  static window allocate(std::size_t bytes) {
    window made;
    void* address = nullptr;
    detail::check(shmemx_window_allocate(bytes, &address, &made.handle_));
    return made;
  }
  template <detail::element T>
  static window allocate_array(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw window_error(SHMEMX_ERR_MEMORY);
    return allocate(count * sizeof(T));
  }
  // Exposes existing memory, which must outlive the window.
  template <detail::element T, std::size_t N>
  explicit window(std::span<T, N> memory) {
    static_assert(!std::is_const_v<T>, "others write into a window");
    detail::check(shmemx_window_expose(memory.data(), memory.size_bytes(), &handle_));
  }
  window(window&& other) noexcept : handle_(std::exchange(other.handle_, SHMEMX_WINDOW_INVALID)) {}
  window& operator=(window&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, SHMEMX_WINDOW_INVALID);
    }
    return *this;
  }
  ~window() { reset(); }

  void* data() const noexcept { return shmemx_window_base(handle_); }
  std::size_t size_bytes() const noexcept { return shmemx_window_bytes(handle_); }
  template <detail::element T>
  std::span<T> as() const noexcept {
    return {static_cast<T*>(data()), size_bytes() / sizeof(T)};
  }
  window_description describe() const {
    window_description description{};
    detail::check(shmemx_window_describe(handle_, &description));
    return description;
  }
  shmemx_window_t handle() const noexcept { return handle_; }

 private:
  window() = default;
  void reset() noexcept {
    if (handle_ != SHMEMX_WINDOW_INVALID) shmemx_window_free(std::exchange(handle_, SHMEMX_WINDOW_INVALID));
  }

  shmemx_window_t handle_ = SHMEMX_WINDOW_INVALID;
};

// A window of this PE that is a set of ranges, which are added and removed while it lives.
class range_window {
 public:
  range_window() { detail::check(shmemx_window_expose_ranges(&handle_)); }
  range_window(range_window&& other) noexcept : handle_(std::exchange(other.handle_, SHMEMX_WINDOW_INVALID)) {}
  range_window& operator=(range_window&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~range_window() {
    if (handle_ != SHMEMX_WINDOW_INVALID) shmemx_window_free(handle_);
  }

  // The memory must outlive its being in the set.
  template <detail::element T, std::size_t N>
  void add(std::span<T, N> memory) {
    static_assert(!std::is_const_v<T>, "others write into a window");
    detail::check(shmemx_window_add_range(handle_, memory.data(), memory.size_bytes()));
  }
  void remove(void* begin) { detail::check(shmemx_window_remove_range(handle_, begin)); }
  window_description describe() const {
    window_description description{};
    detail::check(shmemx_window_describe(handle_, &description));
    return description;
  }
  shmemx_window_t handle() const noexcept { return handle_; }

 private:
  shmemx_window_t handle_ = SHMEMX_WINDOW_INVALID;
};

// Counts open operations. Its address is fixed; the destructor waits for the operations.
class completion {
 public:
  completion() = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;
  ~completion() { wait(); }
  bool test() const noexcept { return shmemx_window_test(&open_) != 0; }
  void wait() const noexcept { shmemx_window_wait(&open_); }
  long* counter() noexcept { return &open_; }
  const long* counter() const noexcept { return &open_; }

 private:
  long open_ = 0;
};

}  // namespace shmemx

#include "attached_window.hpp"

#endif
