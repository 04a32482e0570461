// Part of shmemx.hpp: which types can travel, and symmetric memory with a type.
#ifndef SHMEMX_SYMMETRIC_HPP
#define SHMEMX_SYMMETRIC_HPP

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "../shmem.h"
#include "dropped_memory.hpp"
#include "library.hpp"

namespace shmemx {

namespace face_detail {

// Convert to anything, and to pointers only. They are never called.
struct any_value {
  template <class T>
  operator T() const;
};
struct any_pointer {
  template <class T>
  operator T*() const;
};

template <class T, class... Before>
concept starts_with_pointer_after = requires {
  T{Before{}..., any_pointer{}};
};
// Returns whether one of the first 16 members of an aggregate is a pointer. Members of other classes are not seen,
// except the first of each.
template <class T, class... Before>
constexpr bool has_pointer_after() {
  if constexpr (starts_with_pointer_after<T, Before...>)
    return true;
  else if constexpr (sizeof...(Before) < 15 && requires { T{Before{}..., any_value{}}; })
    return has_pointer_after<T, Before..., any_value>();
  else
    return false;
}
template <class T>
constexpr bool has_pointer() {
  if constexpr (std::is_array_v<T>)
    return has_pointer<std::remove_all_extents_t<T>>();
  else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T> && std::is_trivially_copyable_v<T>)
    return has_pointer_after<T>();
  else
    return std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;
}

}  // namespace face_detail

// An address of one PE means nothing on another, so types with pointers do not travel. A program that knows better,
// since it uses the pointer only where it came from, says so by a specialisation for its type.
template <class T>
inline constexpr bool pointers_may_travel = false;

// Types whose values arrive as they were when their bytes are copied.
template <class T>
concept transferable =
    std::is_object_v<T> && std::is_trivially_copyable_v<T> && !std::is_volatile_v<T> &&
    (pointers_may_travel<std::remove_const_t<T>> || !face_detail::has_pointer<std::remove_const_t<T>>());

// Types that the standard's routines have a name for, among them those of atomics, of atomics on bits, and of waits.
template <class T>
concept named_type = requires(T* to, const T* from) {
  shmem_put(to, from, std::size_t{}, 0);
};
template <class T>
concept atomic_type = requires(T* at, T value) {
  shmem_atomic_set(at, value, 0);
};
template <class T>
concept atomic_integer = requires(T* at, T value) {
  shmem_atomic_add(at, value, 0);
};
template <class T>
concept atomic_bits = requires(T* at, T value) {
  shmem_atomic_and(at, value, 0);
};
template <class T>
concept waitable = requires(T* at, T value) {
  shmem_wait_until(at, SHMEM_CMP_EQ, value);
};

namespace face_detail {

// The messages that a compiler shows for a type that cannot be used.
template <class T>
constexpr void require_transferable() {
  static_assert(std::is_trivially_copyable_v<T>,
                "shmemx: this type is not trivially copyable: its bytes alone are no copy of it on another PE");
  static_assert(!std::is_volatile_v<T>, "shmemx: volatile objects are not transferred");
  static_assert(
      !std::is_trivially_copyable_v<T> || std::is_volatile_v<T> || transferable<T>,
      "shmemx: this type is or has a pointer, which means nothing on another PE; see shmemx::pointers_may_travel");
}
template <class T>
constexpr void require_variable() {
  static_assert(!std::is_const_v<T>, "shmemx: the target of this operation is const");
}

}  // namespace face_detail

// The address of a symmetric object: this PE's address, which names the object of each PE. Dereferenced it is this PE's
// object. Costs what a pointer costs.
template <class T>
class symmetric_ptr {
 public:
  using element_type = T;
  using difference_type = std::ptrdiff_t;

  constexpr symmetric_ptr() noexcept = default;
  constexpr symmetric_ptr(std::nullptr_t) noexcept {}
  // `object` is a static variable, or in memory of shmem_malloc.
  constexpr explicit symmetric_ptr(T* object) noexcept : object_(object) { face_detail::require_transferable<T>(); }
  constexpr operator symmetric_ptr<const T>() const noexcept requires(!std::is_const_v<T>) {
    return symmetric_ptr<const T>(object_);
  }

  constexpr T* get() const noexcept { return object_; }
  // Returns a pointer for loads and stores to the object of that PE, or null if its memory is not shared.
  T* on(int pe) const noexcept { return static_cast<T*>(shmem_ptr(object_, pe)); }
  T* on(int pe, const team& of) const noexcept { return static_cast<T*>(shmem_team_ptr(of.handle(), object_, pe)); }
  // Can routines reach the object of that PE?
  bool accessible(int pe) const noexcept { return shmem_addr_accessible(object_, pe) != 0; }

  constexpr T& operator*() const noexcept { return *object_; }
  constexpr T* operator->() const noexcept { return object_; }
  constexpr T& operator[](std::ptrdiff_t i) const noexcept { return object_[i]; }
  constexpr explicit operator bool() const noexcept { return object_ != nullptr; }
  constexpr symmetric_ptr& operator+=(std::ptrdiff_t n) noexcept {
    object_ += n;
    return *this;
  }
  constexpr symmetric_ptr& operator-=(std::ptrdiff_t n) noexcept { return *this += -n; }
  constexpr symmetric_ptr& operator++() noexcept { return *this += 1; }
  constexpr symmetric_ptr& operator--() noexcept { return *this -= 1; }
  friend constexpr symmetric_ptr operator+(symmetric_ptr at, std::ptrdiff_t n) noexcept { return at += n; }
  friend constexpr symmetric_ptr operator+(std::ptrdiff_t n, symmetric_ptr at) noexcept { return at += n; }
  friend constexpr symmetric_ptr operator-(symmetric_ptr at, std::ptrdiff_t n) noexcept { return at -= n; }
  friend constexpr std::ptrdiff_t operator-(symmetric_ptr a, symmetric_ptr b) noexcept { return a.object_ - b.object_; }
  friend constexpr bool operator==(symmetric_ptr, symmetric_ptr) noexcept = default;
  friend constexpr auto operator<=>(symmetric_ptr, symmetric_ptr) noexcept = default;

 private:
  T* object_ = nullptr;
};

// Consecutive symmetric objects. As a std::span they are this PE's.
template <class T>
class symmetric_span {
 public:
  using element_type = T;

  constexpr symmetric_span() noexcept = default;
  constexpr symmetric_span(symmetric_ptr<T> first, std::size_t count) noexcept : first_(first), count_(count) {}
  template <std::size_t N>
  constexpr explicit symmetric_span(T (&objects)[N]) noexcept : first_(objects), count_(N) {}
  constexpr operator symmetric_span<const T>() const noexcept requires(!std::is_const_v<T>) { return {first_, count_}; }

  constexpr symmetric_ptr<T> ptr() const noexcept { return first_; }
  constexpr T* data() const noexcept { return first_.get(); }
  constexpr std::size_t size() const noexcept { return count_; }
  constexpr std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }
  constexpr bool empty() const noexcept { return count_ == 0; }
  constexpr T* begin() const noexcept { return data(); }
  constexpr T* end() const noexcept { return data() + count_; }
  constexpr T& operator[](std::size_t i) const noexcept { return data()[i]; }
  symmetric_ptr<T> operator+(std::size_t n) const noexcept { return first_ + static_cast<std::ptrdiff_t>(n); }
  constexpr symmetric_span first(std::size_t count) const noexcept { return {first_, count}; }
  constexpr symmetric_span last(std::size_t count) const noexcept { return subspan(count_ - count, count); }
  constexpr symmetric_span subspan(std::size_t offset, std::size_t count) const noexcept {
    return {first_ + static_cast<std::ptrdiff_t>(offset), count};
  }
  constexpr symmetric_span subspan(std::size_t offset) const noexcept { return subspan(offset, count_ - offset); }

 private:
  symmetric_ptr<T> first_;
  std::size_t count_ = 0;
};

template <class T, std::size_t N>
symmetric_span(T (&)[N]) -> symmetric_span<T>;

// Leaves the elements of a new array as they are; by default all their bytes are 0.
struct for_overwrite_t {};
inline constexpr for_overwrite_t for_overwrite{};

// How the program will use an array. Bits, which may be combined by |.
enum class memory_hints : long {
  none = 0,
  atomics_remote = SHMEM_MALLOC_ATOMICS_REMOTE,
  signal_remote = SHMEM_MALLOC_SIGNAL_REMOTE
};
constexpr memory_hints operator|(memory_hints a, memory_hints b) {
  return static_cast<memory_hints>(static_cast<long>(a) | static_cast<long>(b));
}

// Owns memory of the symmetric heap. Construction is collective: all PEs, in the same order. Destruction is not: it
// only drops the memory, which is freed when all PEs have dropped it, by free_dropped(), the next construction of any
// array, or the end of `library`. Until then others may still put into it. So PEs may destroy their arrays at different
// times, in different orders, and by exceptions of one PE alone.
template <class T>
class symmetric_array {
 public:
  using element_type = T;

  symmetric_array() noexcept = default;
  // Throw std::bad_alloc, on all PEs, if the heap has no room.
  explicit symmetric_array(std::size_t count) : symmetric_array(count, zeroed(count)) { require_memory(); }
  symmetric_array(std::size_t count, for_overwrite_t) : symmetric_array(count, raw(count)) { require_memory(); }
  // Zeroed, as above.
  symmetric_array(std::size_t count, memory_hints hints) : symmetric_array(count, zeroed(count, raw(count, hints))) {
    require_memory();
  }
  // Returns nothing, on all PEs, if the heap has no room.
  static std::optional<symmetric_array> try_allocate(std::size_t count) noexcept {
    symmetric_array made(count, zeroed(count));
    if (made.is_missing()) return std::nullopt;
    return made;
  }

  symmetric_array(symmetric_array&& other) noexcept
      : objects_(std::exchange(other.objects_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        block_(std::exchange(other.block_, nullptr)) {}
  // Drops the memory that this array has had.
  symmetric_array& operator=(symmetric_array&& other) noexcept {
    symmetric_array taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~symmetric_array() {
    if (block_ != nullptr) face_detail::block::drop(block_);
  }
  void swap(symmetric_array& other) noexcept {
    std::swap(objects_, other.objects_);
    std::swap(count_, other.count_);
    std::swap(block_, other.block_);
  }
  // Collective: frees the memory now. The array is empty then.
  void free() noexcept {
    objects_ = nullptr;
    count_ = 0;
    if (block_ != nullptr) face_detail::blocks().free_now(std::exchange(block_, nullptr));
  }

  symmetric_ptr<T> ptr() const noexcept { return symmetric_ptr<T>(objects_); }
  symmetric_span<T> span() const noexcept { return {ptr(), count_}; }
  operator symmetric_ptr<T>() const noexcept { return ptr(); }
  operator symmetric_span<T>() const noexcept { return span(); }
  operator symmetric_span<const T>() const noexcept { return span(); }
  T* data() const noexcept { return objects_; }
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  T* begin() const noexcept { return objects_; }
  T* end() const noexcept { return objects_ + count_; }
  T& operator[](std::size_t i) const noexcept { return objects_[i]; }
  symmetric_ptr<T> operator+(std::size_t n) const noexcept { return ptr() + static_cast<std::ptrdiff_t>(n); }
  symmetric_span<T> subspan(std::size_t offset, std::size_t count) const noexcept {
    return span().subspan(offset, count);
  }

 private:
  symmetric_array(std::size_t count, void* memory) noexcept
      : objects_(static_cast<T*>(memory)),
        count_(count),
        block_(memory != nullptr ? face_detail::blocks().adopt(memory) : nullptr) {
    face_detail::require_transferable<T>();
    face_detail::require_variable<T>();
  }
  static constexpr bool is_aligned_more = alignof(T) > alignof(std::max_align_t);
  // Hints are advice: an alignment that only shmem_align gives is more important.
  static void* raw(std::size_t count, memory_hints hints = memory_hints::none) noexcept {
    if (count > SIZE_MAX / sizeof(T) || !face_detail::blocks().prepare_allocation()) return nullptr;
    if constexpr (is_aligned_more)
      return shmem_align(alignof(T), count * sizeof(T));
    else if (hints != memory_hints::none)
      return shmem_malloc_with_hints(count * sizeof(T), static_cast<long>(hints));
    else
      return shmem_malloc(count * sizeof(T));
  }
  static void* zeroed(std::size_t count) noexcept {
    if constexpr (!is_aligned_more)
      return face_detail::blocks().prepare_allocation() ? shmem_calloc(count, sizeof(T)) : nullptr;
    return zeroed(count, raw(count));
  }
  static void* zeroed(std::size_t count, void* memory) noexcept {
    if (memory == nullptr) return nullptr;
    std::memset(memory, 0, count * sizeof(T));
    shmem_barrier_all();  // nobody writes before all have zeroed
    return memory;
  }
  bool is_missing() const noexcept { return objects_ == nullptr && count_ != 0; }
  void require_memory() const {
    if (!is_missing()) return;
#ifdef __cpp_exceptions
    throw std::bad_alloc();
#else
    std::terminate();
#endif
  }

  T* objects_ = nullptr;
  std::size_t count_ = 0;
  face_detail::block* block_ = nullptr;
};

namespace face_detail {

// What operations take as the address of symmetric objects.
template <class>
inline constexpr bool is_symmetric = false;
template <class T>
inline constexpr bool is_symmetric<symmetric_ptr<T>> = true;
template <class T>
inline constexpr bool is_symmetric<symmetric_span<T>> = true;
template <class T>
inline constexpr bool is_symmetric<symmetric_array<T>> = true;

template <class T>
T* address(symmetric_ptr<T> at) noexcept {
  return at.get();
}
template <class T>
T* address(symmetric_span<T> at) noexcept {
  return at.data();
}
template <class T>
T* address(const symmetric_array<T>& at) noexcept {
  return at.data();
}

}  // namespace face_detail

// symmetric_ptr, symmetric_span or symmetric_array; value_of is what they hold, without const.
template <class S>
concept symmetric = face_detail::is_symmetric<S>;
template <symmetric S>
using value_of = std::remove_const_t<typename S::element_type>;

}  // namespace shmemx

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<shmemx::symmetric_span<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_view<shmemx::symmetric_span<T>> = true;

#endif
