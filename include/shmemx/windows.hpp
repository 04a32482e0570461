// Windows for C++20: owners that free themselves, typed transfers, errors as exceptions. Header-only, on top of
// windows.h, which defines each operation. Windows must be destroyed before shmem_finalize.
#ifndef SHMEMX_WINDOWS_HPP
#define SHMEMX_WINDOWS_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "windows.h"

namespace shmemx {

class window_error : public std::runtime_error {
 public:
  explicit window_error(int code) : std::runtime_error(shmemx_error_text(code)), code_(code) {}
  int code() const noexcept { return code_; }  // SHMEMX_ERR_...

 private:
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
  lxor = SHMEMX_OP_LXOR
};

namespace detail {

inline void check(int code) {
  if (code != SHMEMX_SUCCESS) throw window_error(code);
}

template <class T>
concept element = std::is_trivially_copyable_v<T>;

// The element types of atomic operations and accumulates: 0 if T is none.
template <class T>
constexpr int type_of_integer() {
  if (sizeof(T) == 1) return std::is_signed_v<T> ? SHMEMX_INT8 : SHMEMX_UINT8;
  if (sizeof(T) == 2) return std::is_signed_v<T> ? SHMEMX_INT16 : SHMEMX_UINT16;
  if (sizeof(T) == 4) return std::is_signed_v<T> ? SHMEMX_INT32 : SHMEMX_UINT32;
  return sizeof(T) == 8 ? (std::is_signed_v<T> ? SHMEMX_INT64 : SHMEMX_UINT64) : 0;
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
  return std::is_same_v<T, std::complex<long double>> ? SHMEMX_COMPLEX_LONG_DOUBLE : 0;
}
template <class T>
concept word = (type_of<T>() != 0);

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

 private:
  long open_ = 0;
};

// An attached window of some PE. `target`: an address in the owner's address space.
class attached_window {
 public:
  explicit attached_window(const window_description& description) {
    detail::check(shmemx_window_attach(&description, &handle_));
  }
  attached_window(attached_window&& other) noexcept : handle_(std::exchange(other.handle_, SHMEMX_WINDOW_INVALID)) {}
  attached_window& operator=(attached_window&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, SHMEMX_WINDOW_INVALID);
    }
    return *this;
  }
  ~attached_window() { reset(); }

  // Returns the address of element `index` of the window in the owner's address space.
  template <detail::element T>
  T* target(std::size_t index = 0) const noexcept {
    return static_cast<T*>(shmemx_window_base(handle_)) + index;
  }
  std::size_t size_bytes() const noexcept { return shmemx_window_bytes(handle_); }
  int owner() const noexcept { return shmemx_window_owner(handle_); }
  int path() const noexcept { return shmemx_window_path(handle_); }
  // Returns the address for loads and stores here; null if there is none.
  template <detail::element T>
  T* local(T* target, std::size_t count = 1) const noexcept {
    return static_cast<T*>(shmemx_window_ptr(handle_, target, count * sizeof(T)));
  }

  template <detail::element T>
  void put(T* target, std::span<const detail::plain<T>> source) const {
    detail::check(shmemx_window_put(handle_, target, source.data(), source.size_bytes()));
  }
  template <detail::element T>
  void put(T* target, const detail::plain<T>& value) const {
    detail::check(shmemx_window_put(handle_, target, &value, sizeof value));
  }
  template <detail::element T, std::size_t N>
  void get(std::span<T, N> dest, const detail::plain<T>* target) const {
    detail::check(shmemx_window_get(handle_, dest.data(), target, dest.size_bytes()));
  }
  template <detail::element T>
  T get(const T* target) const {
    T value;
    detail::check(shmemx_window_get(handle_, &value, target, sizeof value));
    return value;
  }
  template <detail::element T>
  void put(T* target, std::span<const detail::plain<T>> source, completion& done) const {
    detail::check(shmemx_window_put_nbi(handle_, target, source.data(), source.size_bytes(), done.counter()));
  }
  template <detail::element T, std::size_t N>
  void get(std::span<T, N> dest, const detail::plain<T>* target, completion& done) const {
    detail::check(shmemx_window_get_nbi(handle_, dest.data(), target, dest.size_bytes(), done.counter()));
  }
  void put(std::span<const shmemx_iov_t> targets, std::span<const shmemx_iov_t> sources) const {
    detail::check(shmemx_window_putv(handle_, targets.data(), targets.size(), sources.data(), sources.size()));
  }
  void get(std::span<const shmemx_iov_t> dests, std::span<const shmemx_iov_t> targets) const {
    detail::check(shmemx_window_getv(handle_, dests.data(), dests.size(), targets.data(), targets.size()));
  }

  template <detail::word T>
  T fetch(op operation, T* target, detail::plain<T> operand) const {
    T old;
    detail::check(
        shmemx_window_fetch_op(handle_, target, &operand, &old, detail::type_of<T>(), static_cast<int>(operation)));
    return old;
  }
  template <detail::word T>
  T fetch_add(T* target, detail::plain<T> operand) const {
    return fetch(op::sum, target, operand);
  }
  template <detail::word T>
  T exchange(T* target, detail::plain<T> value) const {
    return fetch(op::replace, target, value);
  }
  template <detail::word T>
  T load(const T* target) const {
    return fetch(op::no_op, const_cast<T*>(target), T{});
  }
  // Returns the old value, which equals `expected` if it was replaced.
  template <detail::word T>
  requires std::is_integral_v<T> T compare_swap(T* target, detail::plain<T> expected, detail::plain<T> value)
  const {
    T old;
    detail::check(shmemx_window_compare_swap(handle_, target, &expected, &value, &old, detail::type_of<T>()));
    return old;
  }
  template <detail::word T>
  void accumulate(op operation, T* target, std::span<const detail::plain<T>> source) const {
    detail::check(shmemx_window_accumulate(handle_, target, source.data(), source.size(), detail::type_of<T>(),
                                           static_cast<int>(operation)));
  }

  // Completes all operations on this window, or completes them locally.
  void flush() const { detail::check(shmemx_window_flush(handle_)); }
  void flush_local() const { detail::check(shmemx_window_flush_local(handle_)); }

  // The lock of the window, for std::unique_lock and std::shared_lock.
  void lock() const { detail::check(shmemx_window_lock(handle_, SHMEMX_LOCK_EXCLUSIVE)); }
  void lock_shared() const { detail::check(shmemx_window_lock(handle_, SHMEMX_LOCK_SHARED)); }
  bool try_lock() const { return try_lock_as(SHMEMX_LOCK_EXCLUSIVE); }
  bool try_lock_shared() const { return try_lock_as(SHMEMX_LOCK_SHARED); }
  void unlock() const { detail::check(shmemx_window_unlock(handle_)); }
  void unlock_shared() const { unlock(); }
  shmemx_window_t handle() const noexcept { return handle_; }

 private:
  bool try_lock_as(int kind) const {
    const int code = shmemx_window_trylock(handle_, kind);
    if (code != SHMEMX_ERR_BUSY) detail::check(code);
    return code == SHMEMX_SUCCESS;
  }
  void reset() noexcept {
    if (handle_ != SHMEMX_WINDOW_INVALID) shmemx_window_detach(std::exchange(handle_, SHMEMX_WINDOW_INVALID));
  }

  shmemx_window_t handle_ = SHMEMX_WINDOW_INVALID;
};

}  // namespace shmemx

#endif
