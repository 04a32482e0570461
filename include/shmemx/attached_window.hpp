// Attached windows for C++20, and completion and waiting for several of them. Included by windows.hpp, which must be
// included instead.
#ifndef SHMEMX_ATTACHED_WINDOW_HPP
#define SHMEMX_ATTACHED_WINDOW_HPP

#include "windows.hpp"

namespace shmemx {

// `count` blocks of `elements` elements.
struct block_shape {
  std::size_t elements;
  std::size_t count;
};

// An attached window of some PE. `target`: an address in the owner's address space.
class attached_window {
 public:
  explicit attached_window(const window_description& description) {
    detail::check(shmemx_window_attach(&description, &handle_));
  }
  // Attaches all of them without a turn of the network for each; see shmemx_window_attach_all.
  static std::vector<attached_window> attach_all(std::span<const window_description> descriptions) {
    std::vector<shmemx_window_t> handles(descriptions.size());
    std::vector<attached_window> windows(descriptions.size());
    detail::check(shmemx_window_attach_all(descriptions.data(), descriptions.size(), handles.data()));
    for (std::size_t i = 0; i < handles.size(); ++i) windows[i].handle_ = handles[i];
    return windows;
  }
  attached_window() = default;  // of nothing
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

  template <detail::variable T>
  void put(T* target, std::span<const detail::plain<T>> source) const {
    detail::check(shmemx_window_put(handle_, target, source.data(), source.size_bytes()));
  }
  template <detail::variable T>
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
  template <detail::variable T>
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

  void put(std::span<const shmemx_iov_t> targets, std::span<const shmemx_iov_t> sources, completion& done) const {
    detail::check(shmemx_window_putv_nbi(handle_, targets.data(), targets.size(), sources.data(), sources.size(),
                                         done.counter()));
  }
  void get(std::span<const shmemx_iov_t> dests, std::span<const shmemx_iov_t> targets, completion& done) const {
    detail::check(
        shmemx_window_getv_nbi(handle_, dests.data(), dests.size(), targets.data(), targets.size(), done.counter()));
  }
  // Blocks of `elements` elements; the strides count elements, too.
  template <detail::variable T>
  void put(T* target, std::ptrdiff_t target_stride, const detail::plain<T>* source, std::ptrdiff_t source_stride,
           block_shape blocks) const {
    detail::check(shmemx_window_put_strided(handle_, target, bytes_of<T>(target_stride), source,
                                            bytes_of<T>(source_stride), blocks.elements * sizeof(T), blocks.count));
  }
  template <detail::element T>
  void get(T* dest, std::ptrdiff_t dest_stride, const detail::plain<T>* target, std::ptrdiff_t target_stride,
           block_shape blocks) const {
    detail::check(shmemx_window_get_strided(handle_, dest, bytes_of<T>(dest_stride), target, bytes_of<T>(target_stride),
                                            blocks.elements * sizeof(T), blocks.count));
  }
  template <detail::variable T>
  void put(T* target, std::ptrdiff_t target_stride, const detail::plain<T>* source, std::ptrdiff_t source_stride,
           block_shape blocks, completion& done) const {
    detail::check(shmemx_window_put_strided_nbi(handle_, target, bytes_of<T>(target_stride), source,
                                                bytes_of<T>(source_stride), blocks.elements * sizeof(T), blocks.count,
                                                done.counter()));
  }
  template <detail::element T>
  void get(T* dest, std::ptrdiff_t dest_stride, const detail::plain<T>* target, std::ptrdiff_t target_stride,
           block_shape blocks, completion& done) const {
    detail::check(shmemx_window_get_strided_nbi(handle_, dest, bytes_of<T>(dest_stride), target,
                                                bytes_of<T>(target_stride), blocks.elements * sizeof(T), blocks.count,
                                                done.counter()));
  }

  template <detail::word T>
  T fetch(op operation, T* target, detail::plain<T> operand) const {
    T old;
    detail::check(
        shmemx_window_fetch_op(handle_, target, &operand, &old, detail::type_of<T>(), static_cast<int>(operation)));
    return old;
  }
  // `old` receives the old value when the operation is complete.
  template <detail::word T>
  void fetch(op operation, T* target, const detail::plain<T>& operand, detail::plain<T>& old, completion& done) const {
    detail::check(shmemx_window_fetch_op_nbi(handle_, target, &operand, &old, detail::type_of<T>(),
                                             static_cast<int>(operation), done.counter()));
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
  requires std::is_integral_v<T>
  void compare_swap(T* target, const detail::plain<T>& expected, const detail::plain<T>& value, detail::plain<T>& old,
                    completion& done) const {
    detail::check(
        shmemx_window_compare_swap_nbi(handle_, target, &expected, &value, &old, detail::type_of<T>(), done.counter()));
  }

  template <detail::word T>
  void accumulate(op operation, T* target, std::span<const detail::plain<T>> source) const {
    detail::check(shmemx_window_accumulate(handle_, target, source.data(), source.size(), detail::type_of<T>(),
                                           static_cast<int>(operation)));
  }
  template <detail::word T>
  void accumulate(op operation, T* target, std::span<const detail::plain<T>> source, completion& done) const {
    detail::check(shmemx_window_accumulate_nbi(handle_, target, source.data(), source.size(), detail::type_of<T>(),
                                               static_cast<int>(operation), done.counter()));
  }
  // Integers of 4 and 8 bytes as SHMEMX_INT32_ARRAY and its like: faster for arrays, atomic with one another only.
  template <detail::array_word T>
  void accumulate_array(op operation, T* target, std::span<const detail::plain<T>> source) const {
    detail::check(shmemx_window_accumulate(handle_, target, source.data(), source.size(), detail::array_type_of<T>(),
                                           static_cast<int>(operation)));
  }
  template <detail::array_word T>
  void accumulate_array(op operation, T* target, std::span<const detail::plain<T>> source, completion& done) const {
    detail::check(shmemx_window_accumulate_nbi(handle_, target, source.data(), source.size(),
                                               detail::array_type_of<T>(), static_cast<int>(operation),
                                               done.counter()));
  }
  // Blocks as in put(). `T` is the type of the elements.
  template <detail::word T>
  void accumulate(op operation, T* target, std::ptrdiff_t target_stride, const detail::plain<T>* source,
                  std::ptrdiff_t source_stride, block_shape blocks) const {
    detail::check(shmemx_window_accumulate_strided(handle_, target, bytes_of<T>(target_stride), source,
                                                   bytes_of<T>(source_stride), blocks.elements, blocks.count,
                                                   detail::type_of<T>(), static_cast<int>(operation)));
  }
  // Lists: accumulate<double>(op::sum, targets, sources).
  template <detail::word T>
  void accumulate(op operation, std::span<const shmemx_iov_t> targets, std::span<const shmemx_iov_t> sources) const {
    detail::check(shmemx_window_accumulatev(handle_, targets.data(), targets.size(), sources.data(), sources.size(),
                                            detail::type_of<T>(), static_cast<int>(operation)));
  }
  template <detail::word T>
  void accumulate(op operation, std::span<const shmemx_iov_t> targets, std::span<const shmemx_iov_t> sources,
                  completion& done) const {
    detail::check(shmemx_window_accumulatev_nbi(handle_, targets.data(), targets.size(), sources.data(), sources.size(),
                                                detail::type_of<T>(), static_cast<int>(operation), done.counter()));
  }
  // `old` receives the old values: as many as `source` has. With op::no_op nothing is read from the source.
  template <detail::word T>
  void get_accumulate(op operation, T* target, std::span<const detail::plain<T>> source, detail::plain<T>* old) const {
    detail::check(shmemx_window_get_accumulate(handle_, target, source.data(), old, source.size(), detail::type_of<T>(),
                                               static_cast<int>(operation)));
  }
  template <detail::word T>
  void get_accumulate(op operation, T* target, std::span<const detail::plain<T>> source, detail::plain<T>* old,
                      completion& done) const {
    detail::check(shmemx_window_get_accumulate_nbi(handle_, target, source.data(), old, source.size(),
                                                   detail::type_of<T>(), static_cast<int>(operation), done.counter()));
  }
  template <detail::word T>
  void get_accumulate(op operation, std::span<const shmemx_iov_t> targets, std::span<const shmemx_iov_t> sources,
                      std::span<const shmemx_iov_t> results) const {
    detail::check(shmemx_window_get_accumulatev(handle_, targets.data(), targets.size(), sources.data(), sources.size(),
                                                results.data(), results.size(), detail::type_of<T>(),
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
  void lock(lock_kind kind) const { detail::check(shmemx_window_lock(handle_, static_cast<int>(kind))); }
  // The lock is granted when the counter is 0.
  void request_lock(lock_kind kind, completion& granted) const {
    detail::check(shmemx_window_lock_nbi(handle_, static_cast<int>(kind), granted.counter()));
  }
  // Puts to `data`, a window of the same owner, under the lock of this one, which is free again when the counter is 0.
  void put_locked(lock_kind kind, const attached_window& data, std::span<const shmemx_iov_t> targets,
                  std::span<const shmemx_iov_t> sources, completion& done) const {
    detail::check(shmemx_window_putv_locked_nbi(handle_, static_cast<int>(kind), data.handle_, targets.data(),
                                                targets.size(), sources.data(), sources.size(), done.counter()));
  }
  shmemx_window_t handle() const noexcept { return handle_; }

 private:
  template <class T>
  static constexpr std::ptrdiff_t bytes_of(std::ptrdiff_t elements) {
    return elements * static_cast<std::ptrdiff_t>(sizeof(T));
  }
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

// Completes all operations of this PE on the windows of a PE, on all with -1, or on those of a group.
inline void flush_pe(int pe) { detail::check(shmemx_window_flush_pe(pe)); }
inline void flush_all(std::span<const attached_window> windows) {
  int first = SHMEMX_SUCCESS;
  for (const attached_window& window : windows) {
    const int code = shmemx_window_flush(window.handle());
    if (first == SHMEMX_SUCCESS) first = code;
  }
  detail::check(first);
}

// Waits until `*address cmp value`, of memory of this PE that others change by operations on windows.
template <detail::word T>
requires std::is_integral_v<T>
void wait_until(const T* address, int cmp, detail::plain<T> value) {
  detail::check(shmemx_window_wait_until(address, detail::type_of<T>(), cmp, &value));
}
template <detail::word T>
requires std::is_integral_v<T>
bool test_until(const T* address, int cmp, detail::plain<T> value) {
  int flag = 0;
  detail::check(shmemx_window_test_until(address, detail::type_of<T>(), cmp, &value, &flag));
  return flag != 0;
}

// What wait_for_any() waits for.
inline shmemx_event_t event_of(const completion& done) {
  shmemx_event_t event{};
  event.kind = SHMEMX_EVENT_COUNTER;
  event.object = done.counter();
  return event;
}
template <detail::word T>
requires std::is_integral_v<T> shmemx_event_t event_of(const T* address, int cmp, detail::plain<T> value) {
  shmemx_event_t event{};
  event.kind = SHMEMX_EVENT_VALUE;
  event.type = detail::type_of<T>();
  event.comparison = cmp;
  event.object = address;
  event.reference = static_cast<std::int64_t>(value);
  return event;
}
inline shmemx_event_t event_of_message(int source_pe, int tag) {
  shmemx_event_t event{};
  event.kind = SHMEMX_EVENT_MESSAGE;
  event.source_pe = source_pe;
  event.tag = tag;
  return event;
}
// Returns the index of the first event that has happened; see shmemx_event_wait.
inline std::size_t wait_for_any(std::span<const shmemx_event_t> events) {
  return shmemx_event_wait(events.data(), events.size());
}

}  // namespace shmemx

#endif
