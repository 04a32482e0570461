#include "atomic/elements.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "atomic/combine.hpp"
#include "atomic/direct.hpp"
#include "atomic/wide_update.hpp"

namespace shmemx::atomic {
namespace {

template <class T>
inline constexpr bool kFitsWord = sizeof(T) <= sizeof(std::uint64_t);

template <class To, class From>
[[gnu::always_inline]] inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void*>(&to), &from, sizeof to);
  return to;
}

template <class T>
[[gnu::always_inline]] inline T load_unaligned(const std::byte* from) {
  T value;
  if constexpr (kEndsInPadding<T>) {
    std::memcpy(&value.value, from, sizeof value.value);
    std::memcpy(&value.index, from + offsetof(T, index), sizeof value.index);
  } else {
    std::memcpy(static_cast<void*>(&value), from, sizeof value);
  }
  return value;
}

// Returns the old value.
template <ElementOp Op, class T, class Bits = BitsOfSize<sizeof(T)>>
[[gnu::always_inline]] inline Bits update_atomically(Bits* at, T operand) {
  if constexpr (Op == ElementOp::no_op) {
    return atomic::fetch(at);
  } else if constexpr (Op == ElementOp::replace) {
    return atomic::swap(at, operand);
  } else if constexpr (std::is_integral_v<T> && Op == ElementOp::sum) {
    return atomic::fetch_add(at, operand);
  } else if constexpr (Op == ElementOp::band) {
    return atomic::fetch_and(at, operand);
  } else if constexpr (Op == ElementOp::bor) {
    return atomic::fetch_or(at, operand);
  } else if constexpr (Op == ElementOp::bxor) {
    return atomic::fetch_xor(at, operand);
  } else {
    Bits old = atomic::fetch(at);
    for (;;) {
      Bits next = bits_as<Bits>(combine<Op>(bits_as<T>(old), operand));
      if (is_choice(Op) && next == old) return old;
      if (__atomic_compare_exchange(at, &old, &next, true, atomic::kOrder, __ATOMIC_RELAXED)) return old;
    }
  }
}

constexpr std::size_t kBlock = 32;  // elements: enough for the compiler to use whole vectors

// Where the three sides of a run are.
struct Run {
  std::byte* at;
  const std::byte* source;
  std::byte* result;
  std::size_t count;
};

// Stores an element that others may wait for with atomic loads. On all CPUs that we know a plain store of an aligned
// element is one; so that the compiler can use vectors it stays plain but where ThreadSanitizer looks.
template <class T>
[[gnu::always_inline]] inline void store_element(std::byte* at, const T& value) {
  if constexpr (kEndsInPadding<T>) {
    std::memcpy(at, &value.value, sizeof value.value);
    std::memcpy(at + offsetof(T, index), &value.index, sizeof value.index);
    return;
  }
#if defined(__SANITIZE_THREAD__)
  if constexpr (kFitsWord<T>) {
    using Bits = BitsOfSize<sizeof(T)>;
    if (reinterpret_cast<std::uintptr_t>(at) % sizeof(T) == 0)
      return __atomic_store_n(reinterpret_cast<Bits*>(at), bits_as<Bits>(value), __ATOMIC_RELEASE);
  }
#endif
  std::memcpy(at, static_cast<const void*>(&value), sizeof value);
}

template <class T, std::size_t N>
[[gnu::always_inline]] inline void copy_elements(std::byte* to, const std::byte* from) {
  if constexpr (kEndsInPadding<T>) {
    for (std::size_t k = 0; k < N; ++k) store_element(to + k * sizeof(T), load_unaligned<T>(from + k * sizeof(T)));
  } else {
    std::memcpy(to, from, N * sizeof(T));
  }
}

// The next `N` elements. No address needs to be aligned.
template <class T, ElementOp Op, std::size_t N>
[[gnu::always_inline]] inline void apply_block(Run& run) {
  constexpr std::size_t kBytes = N * sizeof(T);
  if (run.result != nullptr) copy_elements<T, N>(run.result, run.at);
  if constexpr (Op != ElementOp::no_op) {
    std::byte* const at = run.at;
    const std::byte* const source = run.source;
#pragma GCC ivdep
    for (std::size_t k = 0; k < N; ++k) {
      const T value = combine<Op>(load_unaligned<T>(at + k * sizeof(T)), load_unaligned<T>(source + k * sizeof(T)));
      store_element(at + k * sizeof(T), value);
    }
  }
  run.at += kBytes;
  if (run.source != nullptr) run.source += kBytes;
  if (run.result != nullptr) run.result += kBytes;
  run.count -= N;
}

template <class T, ElementOp Op>
[[gnu::always_inline]] inline void apply_run(Run run) {
  while (run.count >= kBlock) apply_block<T, Op, kBlock>(run);
  while (run.count != 0) apply_block<T, Op, 1>(run);
}

// Nobody else is there: plain loads and stores.
template <class T, ElementOp Op>
void apply_plainly(std::byte* at, const std::byte* source, std::byte* result, std::size_t count) {
  apply_run<T, Op>({at, source, result, count});
}

#if defined(__x86_64__)
// apply_plainly() compiled for vectors that not every CPU has, for long runs of numbers. Complex products are left out:
// with fused instructions their last bit would depend on the CPU.
template <class T, ElementOp Op>
inline constexpr bool kHasVectors =
    (std::is_floating_point_v<T> && kFitsWord<T> && Op <= ElementOp::max) ||
    (std::is_integral_v<T> && sizeof(T) >= sizeof(std::uint32_t) && Op == ElementOp::sum) ||
    (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)&&Op == ElementOp::sum;

template <class T, ElementOp Op>
[[gnu::target("avx2")]] void apply_plainly_256(std::byte* at, const std::byte* source, std::byte* result,
                                               std::size_t count) {
  apply_run<T, Op>({at, source, result, count});
}
template <class T, ElementOp Op>
[[gnu::target("avx512f,prefer-vector-width=512")]] void apply_plainly_512(std::byte* at, const std::byte* source,
                                                                          std::byte* result, std::size_t count) {
  apply_run<T, Op>({at, source, result, count});
}
#endif

template <class T, ElementOp Op>
void apply_atomically(std::byte* at, const std::byte* source, std::byte* result, std::size_t count) {
  using Bits = BitsOfSize<sizeof(T)>;
#if defined(SHMEMX_HAS_WIDE_UPDATES)
  if constexpr (kGoesWide<T, Op>) {
    const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(at)) % sizeof(Wide16) / sizeof(T);
    if (goes_wide && count >= before + 2 * sizeof(Wide16) / sizeof(T)) {
      apply_atomically<T, Op>(at, source, result, before);
      const auto skip = [&](std::size_t n) {
        at += n * sizeof(T);
        source += n * sizeof(T);
        if (result != nullptr) result += n * sizeof(T);
        count -= n;
      };
      skip(before);
      skip(apply_wide<T, Op>(at, source, result, count));
    }
  }
#endif
  auto* const elements = reinterpret_cast<Bits*>(at);
  for (std::size_t i = 0; i < count; ++i) {
    const T operand = Op == ElementOp::no_op ? T{} : load_unaligned<T>(source + i * sizeof(T));
    if constexpr (Op == ElementOp::replace) {
      if (result == nullptr) {
        atomic::set(elements + i, operand);
        continue;
      }
    }
    const Bits old = update_atomically<Op, T>(elements + i, operand);
    if (result != nullptr) std::memcpy(result + i * sizeof(T), &old, sizeof old);
  }
}

template <class T, ElementOp Op>
std::uint64_t apply_to_one(std::byte* at, std::uint64_t operand) {
  using Bits = BitsOfSize<sizeof(T)>;
  return update_atomically<Op, T>(reinterpret_cast<Bits*>(at), bits_as<T>(static_cast<Bits>(operand)));
}

using ApplyFunction = void (*)(std::byte*, const std::byte*, std::byte*, std::size_t);
using OneFunction = std::uint64_t (*)(std::byte*, std::uint64_t);

constexpr std::size_t kOps = static_cast<std::size_t>(ElementOp::end);
constexpr std::size_t kTypes = static_cast<std::size_t>(ElementType::end);

// The widths of vectors for which there is code, and which of them this CPU has. Constants of this file are 0 before
// they are initialised, which is right on every CPU.
enum Width : unsigned { kBaseline, kWidth256, kWidth512, kWidths };
Width find_width() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return kWidth512;
  if (__builtin_cpu_supports("avx2")) return kWidth256;
#endif
  return kBaseline;
}
const Width width = find_width();

// Null: there is no such combination, or, of the last two, no instruction is that wide.
struct Functions {
  ApplyFunction plain[kWidths];
  ApplyFunction atomic;
  OneFunction one;
};
struct FunctionTable {
  Functions of[kTypes][kOps] = {};
};

template <class T, ElementOp Op>
constexpr void enter(FunctionTable& table, ElementType type) {
  using As = Operand<Op, T>;
  if (!go_together(type, Op)) return;
  Functions& functions = table.of[static_cast<std::size_t>(type)][static_cast<std::size_t>(Op)];
  for (ApplyFunction& plain : functions.plain) plain = apply_plainly<As, Op>;
#if defined(__x86_64__)
  if constexpr (kHasVectors<As, Op>) {
    functions.plain[kWidth256] = apply_plainly_256<As, Op>;
    functions.plain[kWidth512] = apply_plainly_512<As, Op>;
  }
#endif
  if constexpr (kFitsWord<T>) {
    functions.atomic = apply_atomically<As, Op>;
    functions.one = apply_to_one<As, Op>;
  }
}

template <class T>
constexpr void enter_type(FunctionTable& table, ElementType type) {
  enter<T, ElementOp::replace>(table, type);
  enter<T, ElementOp::no_op>(table, type);
  if constexpr (kIsPair<T>) {
    enter<T, ElementOp::minloc>(table, type);
    enter<T, ElementOp::maxloc>(table, type);
  } else {
    enter<T, ElementOp::sum>(table, type);
    enter<T, ElementOp::prod>(table, type);
  }
  if constexpr (std::is_arithmetic_v<T>) {
    enter<T, ElementOp::min>(table, type);
    enter<T, ElementOp::max>(table, type);
  }
  if constexpr (std::is_integral_v<T>) {
    enter<T, ElementOp::band>(table, type);
    enter<T, ElementOp::bor>(table, type);
    enter<T, ElementOp::bxor>(table, type);
    enter<T, ElementOp::land>(table, type);
    enter<T, ElementOp::lor>(table, type);
    enter<T, ElementOp::lxor>(table, type);
  }
}

constexpr FunctionTable make_functions() {
  FunctionTable table;
  enter_type<std::int32_t>(table, ElementType::int32);
  enter_type<std::uint32_t>(table, ElementType::uint32);
  enter_type<std::int64_t>(table, ElementType::int64);
  enter_type<std::uint64_t>(table, ElementType::uint64);
  enter_type<float>(table, ElementType::float_);
  enter_type<double>(table, ElementType::double_);
  enter_type<std::int8_t>(table, ElementType::int8);
  enter_type<std::uint8_t>(table, ElementType::uint8);
  enter_type<std::int16_t>(table, ElementType::int16);
  enter_type<std::uint16_t>(table, ElementType::uint16);
  enter_type<std::uint8_t>(table, ElementType::bool_);
  enter_type<long double>(table, ElementType::long_double);
  enter_type<std::complex<float>>(table, ElementType::complex_float);
  enter_type<std::complex<double>>(table, ElementType::complex_double);
  enter_type<std::complex<long double>>(table, ElementType::complex_long_double);
  enter_type<ValueAt<float, int>>(table, ElementType::float_int);
  enter_type<ValueAt<double, int>>(table, ElementType::double_int);
  enter_type<ValueAt<long, int>>(table, ElementType::long_int);
  enter_type<ValueAt<int, int>>(table, ElementType::int_int);
  enter_type<ValueAt<short, int>>(table, ElementType::short_int);
  enter_type<ValueAt<long double, int>>(table, ElementType::long_double_int);
  enter_type<ValueAt<float, float>>(table, ElementType::float_float);
  enter_type<ValueAt<double, double>>(table, ElementType::double_double);
  enter_type<std::int32_t>(table, ElementType::int32_array);
  enter_type<std::uint32_t>(table, ElementType::uint32_array);
  enter_type<std::int64_t>(table, ElementType::int64_array);
  enter_type<std::uint64_t>(table, ElementType::uint64_array);
  return table;
}
constexpr FunctionTable kFunctions = make_functions();

const Functions& functions_of(ElementType type, ElementOp op) {
  return kFunctions.of[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)];
}

template <class T>
std::uint64_t swap_if(std::byte* at, std::uint64_t operand, std::uint64_t compare) {
  return atomic::compare_swap(reinterpret_cast<T*>(at), static_cast<T>(compare), static_cast<T>(operand));
}

std::uint64_t compare_swap_one(const Operation& operation, std::byte* at) {
  switch (element_bytes(operation.type)) {
    case 1:
      return swap_if<std::uint8_t>(at, operation.operand, operation.condition);
    case 2:
      return swap_if<std::uint16_t>(at, operation.operand, operation.condition);
    case 4:
      return swap_if<std::uint32_t>(at, operation.operand, operation.condition);
    default:
      return swap_if<std::uint64_t>(at, operation.operand, operation.condition);
  }
}

// How many of `count` elements begin in the granule of the first one.
std::size_t in_granule(std::uint64_t key, std::size_t bytes, std::size_t count) {
  const std::size_t left = kGranuleBytes - key % kGranuleBytes;
  if (count <= kGranuleBytes && count * bytes <= left) return count;  // in place of a division
  return std::min(count, (left + bytes - 1) / bytes);
}

// Elements that no instruction updates: granule by granule, so that nobody waits for a long array.
void apply_locked(const Update& update, Elements elements, const std::byte* source, std::byte* result,
                  std::size_t count) {
  const ApplyFunction plain = functions_of(update.type, update.op).plain[width];
  const std::size_t bytes = element_bytes(update.type);
  while (count != 0) {
    const std::size_t n = in_granule(elements.key, bytes, count);
    ElementLock& lock = elements.locks->of(elements.key);
    lock.lock();
    std::atomic_thread_fence(std::memory_order_release);  // for a waiter that loads an element
    plain(elements.at, source, result, n);
    lock.unlock();
    elements.at += n * bytes;
    elements.key += n * bytes;
    if (source != nullptr) source += n * bytes;
    if (result != nullptr) result += n * bytes;
    count -= n;
  }
}

void step_over(ElementBlocks& blocks) {
  blocks.first.at += blocks.step;
  blocks.first.key += static_cast<std::uint64_t>(blocks.step);
  if (blocks.source != nullptr) blocks.source += blocks.source_step;
  if (blocks.result != nullptr) blocks.result += blocks.result_step;
  --blocks.blocks;
}

bool is_in_one_granule(std::uint64_t key, std::size_t bytes) { return key % kGranuleBytes + bytes <= kGranuleBytes; }

// Updates the first block and those behind it that lie in the same granule whole, and steps over them.
void apply_in_granule(const Update& update, ElementBlocks& blocks) {
  const ApplyFunction plain = functions_of(update.type, update.op).plain[width];
  const std::size_t bytes = element_bytes(update.type) * blocks.count;
  const std::uint64_t granule = blocks.first.key / kGranuleBytes;
  ElementLock& lock = blocks.first.locks->of(blocks.first.key);
  lock.lock();
  std::atomic_thread_fence(std::memory_order_release);  // for a waiter that loads an element
  do {
    plain(blocks.first.at, blocks.source, blocks.result, blocks.count);
    step_over(blocks);
  } while (blocks.blocks != 0 && blocks.first.key / kGranuleBytes == granule &&
           is_in_one_granule(blocks.first.key, bytes));
  lock.unlock();
}

}  // namespace

void apply_blocks(const Update& update, ElementBlocks blocks) noexcept {
  if (blocks.source == nullptr && update.op != ElementOp::no_op) return;
  const std::size_t bytes = element_bytes(update.type) * blocks.count;
  const bool takes_locks = !update.exclusive && !is_direct(update.type, kGranuleBytes);  // at any address
  while (blocks.blocks != 0) {
    if (takes_locks && is_in_one_granule(blocks.first.key, bytes)) {
      apply_in_granule(update, blocks);
    } else {
      apply(update, blocks.first, blocks.source, blocks.result, blocks.count);
      step_over(blocks);
    }
  }
}

void apply(const Update& update, const Elements& elements, const std::byte* source, std::byte* result,
           std::size_t count) noexcept {
  if (source == nullptr && update.op != ElementOp::no_op) return;
  const Functions& functions = functions_of(update.type, update.op);
  if (update.exclusive) return functions.plain[width](elements.at, source, result, count);
  if (is_direct(update.type, elements.key)) return functions.atomic(elements.at, source, result, count);
  apply_locked(update, elements, source, result, count);
}

std::uint64_t apply_one(const Operation& operation, std::byte* at) noexcept {
  if (operation.op == ElementOp::compare_swap) return compare_swap_one(operation, at);
  return functions_of(operation.type, operation.op).one(at, operation.operand);
}

std::uint64_t apply_one_locked(const Operation& operation, const Elements& element) noexcept {
  std::uint64_t old = 0;
  if (operation.op != ElementOp::compare_swap) {
    apply_locked({operation.type, operation.op, false}, element, reinterpret_cast<const std::byte*>(&operation.operand),
                 reinterpret_cast<std::byte*>(&old), 1);
    return old;
  }
  const std::size_t bytes = element_bytes(operation.type);
  ElementLock& lock = element.locks->of(element.key);
  lock.lock();
  std::memcpy(&old, element.at, bytes);
  if (std::memcmp(&old, &operation.condition, bytes) == 0) std::memcpy(element.at, &operation.operand, bytes);
  lock.unlock();
  return old;
}

}  // namespace shmemx::atomic
