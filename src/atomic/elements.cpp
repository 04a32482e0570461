#include "atomic/elements.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

#include "atomic/direct.hpp"

namespace shmemx::atomic {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// Integers wrap: sums and products are those of the unsigned type.
template <ElementOp Op, class T>
[[gnu::always_inline]] inline T combine(T old, T operand) {
  if constexpr (std::is_integral_v<T> && (Op == ElementOp::sum || Op == ElementOp::prod)) {
    const auto a = static_cast<BitsOf<T>>(old);
    const auto b = static_cast<BitsOf<T>>(operand);
    return static_cast<T>(Op == ElementOp::sum ? a + b : a * b);
  } else if constexpr (Op == ElementOp::sum) {
    return old + operand;
  } else if constexpr (Op == ElementOp::prod) {
    return old * operand;
  } else if constexpr (Op == ElementOp::min) {
    return operand < old ? operand : old;
  } else if constexpr (Op == ElementOp::max) {
    return old < operand ? operand : old;
  } else if constexpr (Op == ElementOp::band) {
    return old & operand;
  } else if constexpr (Op == ElementOp::bor) {
    return old | operand;
  } else if constexpr (Op == ElementOp::bxor) {
    return old ^ operand;
  } else if constexpr (Op == ElementOp::replace) {
    return operand;
  } else {
    static_assert(Op == ElementOp::no_op);
    return old;
  }
}

template <ElementOp Op, class T>
[[gnu::always_inline]] inline T update_atomically(T* at, T operand) {
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
    T old = atomic::fetch(at);
    for (;;) {
      T next = combine<Op>(old, operand);
      // What is the least or greatest already needs no store.
      if ((Op == ElementOp::min || Op == ElementOp::max) &&
          std::bit_cast<BitsOf<T>>(next) == std::bit_cast<BitsOf<T>>(old))
        return old;
      if (__atomic_compare_exchange(at, &old, &next, true, atomic::kOrder, __ATOMIC_RELAXED)) return old;
    }
  }
}

template <class T>
T load_unaligned(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

constexpr std::size_t kBlock = 32;  // elements: enough for the compiler to use whole vectors

// Nobody else is there: plain loads and stores, by blocks of known length.
template <ElementOp Op, class T>
void apply_exclusively(T* at, const std::byte* source, std::byte* result, std::size_t count) {
  T old[kBlock];
  T operand[kBlock];
  for (std::size_t i = 0; i < count; i += kBlock) {
    const std::size_t n = count - i < kBlock ? count - i : kBlock;
    if (n == kBlock) {
      std::memcpy(old, at + i, sizeof old);
      if (source != nullptr) std::memcpy(operand, source + i * sizeof(T), sizeof operand);
      if (result != nullptr) std::memcpy(result + i * sizeof(T), old, sizeof old);
      if constexpr (Op != ElementOp::no_op) {
        for (std::size_t k = 0; k < kBlock; ++k) old[k] = combine<Op>(old[k], operand[k]);
        std::memcpy(at + i, old, sizeof old);
      }
      continue;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const T before = at[i + k];
      if (source != nullptr) operand[k] = load_unaligned<T>(source + (i + k) * sizeof(T));
      if (result != nullptr) std::memcpy(result + (i + k) * sizeof(T), &before, sizeof(T));
      if constexpr (Op != ElementOp::no_op) at[i + k] = combine<Op>(before, operand[k]);
    }
  }
}

template <ElementOp Op, class T>
void apply_atomically(T* at, const std::byte* source, std::byte* result, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const T operand = source == nullptr ? T{} : load_unaligned<T>(source + i * sizeof(T));
    if (Op == ElementOp::replace && result == nullptr) {
      atomic::set(at + i, operand);
      continue;
    }
    const T old = update_atomically<Op>(at + i, operand);
    if (result != nullptr) std::memcpy(result + i * sizeof(T), &old, sizeof old);
  }
}

using ApplyFunction = void (*)(bool exclusive, std::byte*, const std::byte*, std::byte*, std::size_t);
using OneFunction = std::uint64_t (*)(std::byte*, std::uint64_t);

template <class T, ElementOp Op>
void apply_to(bool exclusive, std::byte* at, const std::byte* source, std::byte* result, std::size_t count) {
  T* const elements = reinterpret_cast<T*>(at);
  if constexpr (Op != ElementOp::no_op) {
    if (source == nullptr) return;
  }
  if (exclusive) return apply_exclusively<Op>(elements, source, result, count);
  apply_atomically<Op>(elements, source, result, count);
}

template <class T, ElementOp Op>
std::uint64_t apply_to_one(std::byte* at, std::uint64_t operand) {
  const T value = std::bit_cast<T>(static_cast<BitsOf<T>>(operand));
  return std::bit_cast<BitsOf<T>>(update_atomically<Op>(reinterpret_cast<T*>(at), value));
}

constexpr std::size_t kOps = static_cast<std::size_t>(ElementOp::end);
constexpr std::size_t kTypes = static_cast<std::size_t>(ElementType::end);

struct Functions {
  ApplyFunction array;
  OneFunction one;
};
struct FunctionTable {
  Functions of[kTypes][kOps] = {};
};

template <class T, ElementOp Op>
constexpr void enter(FunctionTable& table, ElementType type) {
  if constexpr (std::is_integral_v<T> || Op < ElementOp::band || Op > ElementOp::bxor)
    table.of[static_cast<std::size_t>(type)][static_cast<std::size_t>(Op)] = {apply_to<T, Op>, apply_to_one<T, Op>};
}

template <class T>
constexpr void enter_type(FunctionTable& table, ElementType type) {
  enter<T, ElementOp::sum>(table, type);
  enter<T, ElementOp::prod>(table, type);
  enter<T, ElementOp::min>(table, type);
  enter<T, ElementOp::max>(table, type);
  enter<T, ElementOp::band>(table, type);
  enter<T, ElementOp::bor>(table, type);
  enter<T, ElementOp::bxor>(table, type);
  enter<T, ElementOp::replace>(table, type);
  enter<T, ElementOp::no_op>(table, type);
}

constexpr FunctionTable make_functions() {
  FunctionTable table;
  enter_type<std::int32_t>(table, ElementType::int32);
  enter_type<std::uint32_t>(table, ElementType::uint32);
  enter_type<std::int64_t>(table, ElementType::int64);
  enter_type<std::uint64_t>(table, ElementType::uint64);
  enter_type<float>(table, ElementType::float_);
  enter_type<double>(table, ElementType::double_);
  return table;
}
constexpr FunctionTable kFunctions = make_functions();

template <class T>
std::uint64_t swap_if(std::byte* at, std::uint64_t operand, std::uint64_t compare) {
  return atomic::compare_swap(reinterpret_cast<T*>(at), static_cast<T>(compare), static_cast<T>(operand));
}

}  // namespace

void apply(const Update& update, std::byte* at, const std::byte* source, std::byte* result,
           std::size_t count) noexcept {
  kFunctions.of[static_cast<std::size_t>(update.type)][static_cast<std::size_t>(update.op)].array(
      update.exclusive, at, source, result, count);
}

std::uint64_t apply_one(const Operation& operation, std::byte* at) noexcept {
  if (operation.op == ElementOp::compare_swap) {
    return element_bytes(operation.type) == 4 ? swap_if<std::uint32_t>(at, operation.operand, operation.condition)
                                              : swap_if<std::uint64_t>(at, operation.operand, operation.condition);
  }
  const Functions& functions =
      kFunctions.of[static_cast<std::size_t>(operation.type)][static_cast<std::size_t>(operation.op)];
  return functions.one(at, operation.operand);
}

}  // namespace shmemx::atomic
