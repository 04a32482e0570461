// Atomics of the language, which the compiler turns into calls. They are carried out here while the word's clock is
// held, so that a load takes what the store has released that it sees.
#include <atomic>
#include <mutex>

#include "races/access.hpp"
#include "races/local_words.hpp"

namespace shmemx::races {
namespace {

bool releases(int order) noexcept {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}
bool acquires(int order) noexcept {
  return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
         order == __ATOMIC_SEQ_CST;
}

struct Atomics {
  std::atomic<bool> have_fences{false};  // the program uses atomic_thread_fence: relaxed ones may synchronise
};
constinit Atomics atomics{};

struct AtomicAccess {
  std::uintptr_t address;
  std::size_t bytes;
  Kind kind;
  int order;
  const void* pc;
};

// Calls real() with the word's clock held.
template <class Real>
auto apply(const AtomicAccess& access, Real real) noexcept {
  Thread* const thread = current_thread();
  if (thread == nullptr || thread->in_library != 0) return real();
  Symmetric place{};
  const bool is_symmetric = job.locate(access.address, place);
  // Relaxed ones on another PE's memory may stand behind shmem_fence, and be what that PE waits for.
  const bool is_strong =
      atomics.have_fences.load(std::memory_order_relaxed) || (is_symmetric && place.pe != job.my_pe());
  SyncWord& word = is_symmetric ? job.words().at(place.key()) : local_word(access.address);
  word.lock.lock();
  if (is_strong || acquires(access.order)) thread->acquire(word.clock());
  record_range(*thread, {access.address, access.bytes}, access.kind, {site_of(access.pc), stack_node(*thread)});
  const bool is_release = access.kind == Kind::atomic_update && (is_strong || releases(access.order));
  if (is_release) word.clock().join(*thread->clock, job.n_slots());
  const auto result = real();
  word.lock.unlock();
  if (is_release) thread->advance();
  return result;
}

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the compiler's

#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]
#define SHMEMX_APPLY(KIND, ORDER, CALL)                                                                            \
  return apply({reinterpret_cast<std::uintptr_t>(at), sizeof *at, Kind::KIND, ORDER, __builtin_return_address(0)}, \
               [&] { return CALL; })

// clang-format off
#define SHMEMX_ATOMIC_FETCH(BITS, T, OP)                                                                            \
  SHMEMX_EXPORT T __tsan_atomic##BITS##_fetch_##OP(volatile T* at, T value, int order) {                            \
    SHMEMX_APPLY(atomic_update, order, __atomic_fetch_##OP(at, value, __ATOMIC_SEQ_CST));                           \
  }
#define SHMEMX_ATOMICS(BITS, T)                                                                                     \
  SHMEMX_EXPORT T __tsan_atomic##BITS##_load(const volatile T* at, int order) {                                     \
    SHMEMX_APPLY(atomic_load, order, __atomic_load_n(at, __ATOMIC_SEQ_CST));                                        \
  }                                                                                                                 \
  SHMEMX_EXPORT void __tsan_atomic##BITS##_store(volatile T* at, T value, int order) {                              \
    const auto store = [&] { __atomic_store_n(at, value, __ATOMIC_SEQ_CST); return true; };                         \
    apply({reinterpret_cast<std::uintptr_t>(at), sizeof *at, Kind::atomic_update, order, __builtin_return_address(0)}, store); \
  }                                                                                                                 \
  SHMEMX_EXPORT T __tsan_atomic##BITS##_exchange(volatile T* at, T value, int order) {                              \
    SHMEMX_APPLY(atomic_update, order, __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST));                           \
  }                                                                                                                 \
  SHMEMX_ATOMIC_FETCH(BITS, T, add)                                                                                 \
  SHMEMX_ATOMIC_FETCH(BITS, T, sub)                                                                                 \
  SHMEMX_ATOMIC_FETCH(BITS, T, and)                                                                                 \
  SHMEMX_ATOMIC_FETCH(BITS, T, or)                                                                                  \
  SHMEMX_ATOMIC_FETCH(BITS, T, xor)                                                                                 \
  SHMEMX_ATOMIC_FETCH(BITS, T, nand)                                                                                \
  SHMEMX_EXPORT int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* at, T* expected, T value, int order, int) { \
    SHMEMX_APPLY(atomic_update, order,                                                                              \
                 __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));      \
  }                                                                                                                 \
  SHMEMX_EXPORT int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* at, T* expected, T value, int order, int) { \
    SHMEMX_APPLY(atomic_update, order,                                                                              \
                 __atomic_compare_exchange_n(at, expected, value, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));       \
  }                                                                                                                 \
  SHMEMX_EXPORT T __tsan_atomic##BITS##_compare_exchange_val(volatile T* at, T expected, T value, int order, int) { \
    const auto exchange = [&] {                                                                                     \
      __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
      return expected;                                                                                              \
    };                                                                                                              \
    return apply({reinterpret_cast<std::uintptr_t>(at), sizeof *at, Kind::atomic_update, order, __builtin_return_address(0)}, \
                 exchange);                                                                                         \
  }
// clang-format on

namespace {

// Of 16 bytes, which no instruction of all processors has. All threads of the PE come here.
using Wide = unsigned __int128;
constinit SpinLock wide_lock;
template <class Change>
Wide change_wide(volatile Wide* at, Change change) noexcept {
  const std::lock_guard guard(wide_lock);
  const Wide before = *at;
  *at = change(before);
  return before;
}

}  // namespace

#define SHMEMX_WIDE_FETCH(OP, AFTER)                                                         \
  SHMEMX_EXPORT Wide __tsan_atomic128_fetch_##OP(volatile Wide* at, Wide value, int order) { \
    SHMEMX_APPLY(atomic_update, order, change_wide(at, [=](Wide before) { return AFTER; })); \
  }
SHMEMX_WIDE_FETCH(add, before + value)
SHMEMX_WIDE_FETCH(sub, before - value)
SHMEMX_WIDE_FETCH(and, before& value)
SHMEMX_WIDE_FETCH(or, before | value)
SHMEMX_WIDE_FETCH(xor, before ^ value)
SHMEMX_WIDE_FETCH(nand, ~(before& value))
SHMEMX_EXPORT Wide __tsan_atomic128_load(const volatile Wide* at, int order) {
  SHMEMX_APPLY(atomic_load, order, change_wide(const_cast<volatile Wide*>(at), [](Wide before) { return before; }));
}
SHMEMX_EXPORT Wide __tsan_atomic128_exchange(volatile Wide* at, Wide value, int order) {
  SHMEMX_APPLY(atomic_update, order, change_wide(at, [=](Wide) { return value; }));
}
SHMEMX_EXPORT void __tsan_atomic128_store(volatile Wide* at, Wide value, int order) {
  __tsan_atomic128_exchange(at, value, order);
}
SHMEMX_EXPORT Wide __tsan_atomic128_compare_exchange_val(volatile Wide* at, Wide expected, Wide value, int order, int) {
  SHMEMX_APPLY(atomic_update, order, change_wide(at, [=](Wide before) { return before == expected ? value : before; }));
}
SHMEMX_EXPORT int __tsan_atomic128_compare_exchange_strong(volatile Wide* at, Wide* expected, Wide value, int order,
                                                           int failure) {
  const Wide before = __tsan_atomic128_compare_exchange_val(at, *expected, value, order, failure);
  const bool is_done = before == *expected;
  *expected = before;
  return is_done ? 1 : 0;
}
SHMEMX_EXPORT int __tsan_atomic128_compare_exchange_weak(volatile Wide* at, Wide* expected, Wide value, int order,
                                                         int failure) {
  return __tsan_atomic128_compare_exchange_strong(at, expected, value, order, failure);
}

SHMEMX_ATOMICS(8, std::uint8_t)
SHMEMX_ATOMICS(16, std::uint16_t)
SHMEMX_ATOMICS(32, std::uint32_t)
SHMEMX_ATOMICS(64, std::uint64_t)

SHMEMX_EXPORT void __tsan_atomic_thread_fence(int order) {
  atomics.have_fences.store(true, std::memory_order_relaxed);
  static_cast<void>(order);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
SHMEMX_EXPORT void __tsan_atomic_signal_fence(int) { std::atomic_signal_fence(std::memory_order_seq_cst); }
