// Atomics: the 14 standard types shrink to six canonical ones, so that types of one width are one instruction.
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

#include "api/arg_check.hpp"
#include "api/observed.hpp"
#include "atomic/direct.hpp"
#include "check/blocks.hpp"
#include "check/checks.hpp"
#include "onesided/gathered.hpp"
#include "onesided/operations.hpp"
#include "onesided/update.hpp"

namespace shmemx::api {

template <class T>
struct CanonicalOf {
  using Signed = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using type = std::conditional_t<std::is_signed_v<T>, Signed, std::make_unsigned_t<Signed>>;
};
template <std::floating_point T>
struct CanonicalOf<T> {
  using type = T;
};
template <class T>
using Canonical = typename CanonicalOf<T>::type;

template <class T>
inline Canonical<T> canonical(T value) noexcept {
  return static_cast<Canonical<T>>(value);
}

// The old value, after the owner has been woken: what is left to do when somebody sleeps.
template <class T>
[[gnu::noinline, gnu::cold]] T wake_returning(std::byte* heap, T old) noexcept {
  context::wake_owner(heap);
  return old;
}

// The nbi forms put the old value somewhere.
template <class Operation>
inline constexpr bool kHasDestination = requires(Operation operation) {
  operation.fetch;
};

// By a message: the PE's memory is not mapped.
template <class T, class Operation>
T apply_remote(const Context& context, const char* routine, const context::Place& place, Operation operation) noexcept {
  onesided::order_message(routine, context);
  if constexpr (kHasDestination<Operation>) {
    onesided::fetch_nbi(routine, context, operation.fetch, place, operation.remote());
    return T{};
  } else if constexpr (!Operation::kFetches) {
    onesided::post(routine, place, operation.remote(), onesided::options_of(context));
    return T{};
  } else {
    return static_cast<T>(atomic::from_bits<Canonical<T>>(onesided::fetch(routine, place, operation.remote())));
  }
}

// Static data, what is not mapped, and what is wrong with any other address.
[[gnu::noinline]] context::Location atomic_target_cold(const Context& context, context::Site site,
                                                       std::uintptr_t address, std::size_t bytes, int pe) noexcept;

// SHMEM_CHECK: where the result of a nonblocking atomic goes, before and after it is there.
[[gnu::noinline, gnu::cold]] void check_fetch(const char* routine, void* fetch, std::size_t bytes) noexcept;
[[gnu::noinline, gnu::cold]] void note_fetch(const Context& context, const char* routine, void* fetch,
                                             std::size_t bytes, std::uint32_t near) noexcept;

// Returns false if it has to be done in another way, as where operations are observed or checked: then there are no
// `heap_elements`.
template <class T, class Operation>
[[gnu::always_inline]] inline bool apply_in_batch(const Context& context, std::uint64_t index, int pe,
                                                  const Operation& operation) noexcept {
  constexpr int kShift = context::kSizeClass<sizeof(T)>;
  if (index >= context.heap_elements[kShift - 2] || !context::pe_in_range(context, pe)) return false;
  const int world = context::world_pe(context, pe);
  return onesided::goes_by_message(world) &&
         onesided::try_fetch_in_batch(context, {world, windows::kHeapWindow, std::rotl(index, kShift)}, operation.fetch,
                                      operation.remote());
}

template <class T, class Operation>
T apply_anywhere(std::uint64_t index, Operation operation, std::uint32_t near, const Context& context,
                 const char* routine) noexcept;

// The parameters stand in the order of the entry points', so that the jump to here moves none of them. `index` is the
// rotated offset.
template <class T, class Operation>
[[gnu::noinline]] T apply_cold(std::uint64_t index, Operation operation, std::uint32_t near, const Context& context,
                               const char* routine) noexcept {
  if constexpr (kHasDestination<Operation>) {
    if (near >= context.n_near && apply_in_batch<T>(context, index, context::pe_at(context, near), operation))
      return T{};
  }
  return apply_anywhere<T>(index, operation, near, context, routine);
}

template <class T, class Operation>
[[gnu::noinline]] T apply_anywhere(std::uint64_t index, Operation operation, std::uint32_t near, const Context& context,
                                   const char* routine) noexcept {
  const int pe = context::pe_at(context, near);
  const std::uintptr_t address = std::rotl(index, context::kSizeClass<sizeof(T)>) + context.heap_base;
  const Observed span(context, {routine, stats::Family::atomic}, pe, sizeof(T));
  const context::Location target = atomic_target_cold(context, {routine, Operation::kArgument}, address, sizeof(T), pe);
  if constexpr (kHasDestination<Operation>) {
    if (check::watches_operations()) check_fetch(routine, operation.fetch, sizeof(T));
  }
  if (!target.is_mapped()) {
    const T answer = apply_remote<T>(context, routine, target.place, operation);
    if constexpr (Operation::kMayPoll) {
      if (operation.leaves(canonical(answer))) note_answer(routine, reinterpret_cast<const void*>(address), answer);
    }
    return answer;
  }
  const T old = static_cast<T>(operation(reinterpret_cast<Canonical<T>*>(target.address)));
  wake(*target.doorbell);
  if constexpr (kHasDestination<Operation>) {
    if (check::watches_operations()) note_fetch(context, routine, operation.fetch, sizeof(T), near);
  }
  if constexpr (Operation::kMayPoll) {
    if (operation.leaves(canonical(old))) note_read(routine, target.address, old);
  }
  return old;
}

// Rotating the offset makes a misaligned one huge: bounds and alignment are one comparison. Both ends that call
// something are jumps, so the hot part needs no stack frame.
template <class T, class Operation>
[[gnu::always_inline]] inline T apply(const Context& context, const char* routine, T* dest, int pe,
                                      Operation operation) noexcept {
  constexpr int kShift = context::kSizeClass<sizeof(T)>;
  const std::uint64_t index = std::rotr(reinterpret_cast<std::uintptr_t>(dest) - context.heap_base, kShift);
  const std::uint64_t* const elements = Operation::kMayPoll ? context.read_elements : context.heap_elements;
  const std::uint32_t near = context::near_index(context, pe);
  if (index >= elements[kShift - 2] || near >= context.n_near) [[unlikely]] {
    return apply_cold<T>(index, operation, near, context, routine);
  }
  std::byte* const heap = context::near_heap(context, near);
  const T old = static_cast<T>(operation(reinterpret_cast<Canonical<T>*>(heap) + index));
  if constexpr (Operation::kWrites) {
    if (has_sleepers(context::doorbell_of_heap(heap))) [[unlikely]]
      return wake_returning(heap, old);
  }
  return old;
}

// What apply() does to the word; returns the value before. Operands travel inside. remote() says the same for a
// message.
template <class C>
struct Fetch {
  static constexpr const char* kArgument = "source";
  static constexpr bool kWrites = false;
  static constexpr bool kFetches = true;
  static constexpr bool kMayPoll = true;
  bool leaves(C) const noexcept { return true; }
  C operator()(C* word) const noexcept { return atomic::fetch(word); }
  atomic::Operation remote() const noexcept { return atomic::operation<C>(atomic::ElementOp::no_op); }
};

struct Update {
  static constexpr const char* kArgument = "dest";
  static constexpr bool kWrites = true;
  static constexpr bool kFetches = true;
  static constexpr bool kMayPoll = false;
};
// May a program repeat it until the value is another one? leaves(old): the word has kept its value.
struct Exchange : Update {
  static constexpr bool kMayPoll = true;
};
template <class C>
struct Set : Update {
  static constexpr bool kFetches = false;
  C value;
  C operator()(C* word) const noexcept {
    atomic::set(word, value);
    return value;
  }
  atomic::Operation remote() const noexcept { return atomic::operation(atomic::ElementOp::replace, value); }
};
template <class C>
struct Swap : Exchange {
  C value;
  bool leaves(C old) const noexcept { return old == value; }
  C operator()(C* word) const noexcept { return atomic::swap(word, value); }
  atomic::Operation remote() const noexcept { return atomic::operation(atomic::ElementOp::replace, value); }
};
template <class C>
struct CompareSwap : Exchange {
  C condition;
  C value;
  bool leaves(C old) const noexcept { return old != condition || old == value; }
  C operator()(C* word) const noexcept { return atomic::compare_swap(word, condition, value); }
  atomic::Operation remote() const noexcept {
    return atomic::operation(atomic::ElementOp::compare_swap, value, condition);
  }
};
template <class C>
struct FetchAdd : Update {
  C value;
  C operator()(C* word) const noexcept { return atomic::fetch_add(word, value); }
  atomic::Operation remote() const noexcept { return atomic::operation(atomic::ElementOp::sum, value); }
};
template <class C>
struct FetchAnd : Update {
  C value;
  C operator()(C* word) const noexcept { return atomic::fetch_and(word, value); }
  atomic::Operation remote() const noexcept { return atomic::operation(atomic::ElementOp::band, value); }
};
template <class C>
struct FetchOr : Update {
  C value;
  C operator()(C* word) const noexcept { return atomic::fetch_or(word, value); }
  atomic::Operation remote() const noexcept { return atomic::operation(atomic::ElementOp::bor, value); }
};
template <class C>
struct FetchXor : Update {
  C value;
  C operator()(C* word) const noexcept { return atomic::fetch_xor(word, value); }
  atomic::Operation remote() const noexcept { return atomic::operation(atomic::ElementOp::bxor, value); }
};

// An update whose result is not asked for: as a message it needs no answer.
template <class Fetching>
struct Without : Fetching {
  static constexpr bool kFetches = false;
};
// The old value goes to `fetch`.
template <class T, class Fetching>
struct Into : Fetching {
  T* fetch;
  template <class C>
  C operator()(C* word) const noexcept {
    const C old = Fetching::operator()(word);
    *fetch = static_cast<T>(old);
    return old;
  }
};

template <class T>
[[gnu::always_inline]] inline T atomic_fetch(const Context& context, const char* routine, const T* source,
                                             int pe) noexcept {
  return apply(context, routine, const_cast<T*>(source), pe, Fetch<Canonical<T>>{});
}
template <class T>
[[gnu::always_inline]] inline void atomic_set(const Context& context, const char* routine, T* dest, T value,
                                              int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Set<Canonical<T>>{{}, canonical(value)}));
}
template <class T>
[[gnu::always_inline]] inline T atomic_compare_swap(const Context& context, const char* routine, T* dest, T cond,
                                                    T value, int pe) noexcept {
  return apply(context, routine, dest, pe, CompareSwap<Canonical<T>>{{}, canonical(cond), canonical(value)});
}
template <class T>
[[gnu::always_inline]] inline T atomic_swap(const Context& context, const char* routine, T* dest, T value,
                                            int pe) noexcept {
  return apply(context, routine, dest, pe, Swap<Canonical<T>>{{}, canonical(value)});
}
template <class T>
[[gnu::always_inline]] inline T atomic_fetch_add(const Context& context, const char* routine, T* dest, T value,
                                                 int pe) noexcept {
  return apply(context, routine, dest, pe, FetchAdd<Canonical<T>>{{}, canonical(value)});
}
template <class T>
[[gnu::always_inline]] inline T atomic_fetch_and(const Context& context, const char* routine, T* dest, T value,
                                                 int pe) noexcept {
  return apply(context, routine, dest, pe, FetchAnd<Canonical<T>>{{}, canonical(value)});
}
template <class T>
[[gnu::always_inline]] inline T atomic_fetch_or(const Context& context, const char* routine, T* dest, T value,
                                                int pe) noexcept {
  return apply(context, routine, dest, pe, FetchOr<Canonical<T>>{{}, canonical(value)});
}
template <class T>
[[gnu::always_inline]] inline T atomic_fetch_xor(const Context& context, const char* routine, T* dest, T value,
                                                 int pe) noexcept {
  return apply(context, routine, dest, pe, FetchXor<Canonical<T>>{{}, canonical(value)});
}

// Without a result.
template <class T>
inline void atomic_add(const Context& context, const char* routine, T* dest, T value, int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Without<FetchAdd<Canonical<T>>>{{{}, canonical(value)}}));
}
template <class T>
inline void atomic_and(const Context& context, const char* routine, T* dest, T value, int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Without<FetchAnd<Canonical<T>>>{{{}, canonical(value)}}));
}
template <class T>
inline void atomic_or(const Context& context, const char* routine, T* dest, T value, int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Without<FetchOr<Canonical<T>>>{{{}, canonical(value)}}));
}
template <class T>
inline void atomic_xor(const Context& context, const char* routine, T* dest, T value, int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Without<FetchXor<Canonical<T>>>{{{}, canonical(value)}}));
}
template <class T>
inline T atomic_fetch_inc(const Context& context, const char* routine, T* dest, int pe) noexcept {
  return atomic_fetch_add(context, routine, dest, T{1}, pe);
}
template <class T>
inline void atomic_inc(const Context& context, const char* routine, T* dest, int pe) noexcept {
  atomic_add(context, routine, dest, T{1}, pe);
}

template <class T>
inline void atomic_fetch_nbi(const Context& context, const char* routine, T* fetch, const T* source, int pe) noexcept {
  static_cast<void>(apply(context, routine, const_cast<T*>(source), pe, Into<T, Fetch<Canonical<T>>>{{}, fetch}));
}
template <class T>
inline void atomic_compare_swap_nbi(const Context& context, const char* routine, T* fetch, T* dest, T cond, T value,
                                    int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe,
                          Into<T, CompareSwap<Canonical<T>>>{{{}, canonical(cond), canonical(value)}, fetch}));
}
template <class T>
inline void atomic_swap_nbi(const Context& context, const char* routine, T* fetch, T* dest, T value, int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Into<T, Swap<Canonical<T>>>{{{}, canonical(value)}, fetch}));
}
template <class T>
inline void atomic_fetch_add_nbi(const Context& context, const char* routine, T* fetch, T* dest, T value,
                                 int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Into<T, FetchAdd<Canonical<T>>>{{{}, canonical(value)}, fetch}));
}
template <class T>
inline void atomic_fetch_and_nbi(const Context& context, const char* routine, T* fetch, T* dest, T value,
                                 int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Into<T, FetchAnd<Canonical<T>>>{{{}, canonical(value)}, fetch}));
}
template <class T>
inline void atomic_fetch_or_nbi(const Context& context, const char* routine, T* fetch, T* dest, T value,
                                int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Into<T, FetchOr<Canonical<T>>>{{{}, canonical(value)}, fetch}));
}
template <class T>
inline void atomic_fetch_xor_nbi(const Context& context, const char* routine, T* fetch, T* dest, T value,
                                 int pe) noexcept {
  static_cast<void>(apply(context, routine, dest, pe, Into<T, FetchXor<Canonical<T>>>{{{}, canonical(value)}, fetch}));
}
template <class T>
inline void atomic_fetch_inc_nbi(const Context& context, const char* routine, T* fetch, T* dest, int pe) noexcept {
  atomic_fetch_add_nbi(context, routine, fetch, dest, T{1}, pe);
}

}  // namespace shmemx::api
