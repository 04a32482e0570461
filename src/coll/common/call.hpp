// What a collective call is, in one word, by which members find out that they make different calls: the routine with
// its type and operator, the root, and the number of elements where all members have to name the same.
//
//   bits   0-15  0
//         16-23  kind: routine, type and operator; those that no member could tell apart by their results are one kind
//         24-35  root; of alltoalls both strides
//         36-63  number of elements
//
// Larger roots and numbers run over into the next field or are cut off: the words of different calls still differ,
// unless the numbers differ by 2^28.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace shmemx::coll {

// The first kind of each family. Data movement adds the logarithm of the element's size, reductions the operator and
// the type, scans the type.
enum class CallFamily : std::uint8_t {
  none = 0,
  sync = 1,
  finalize = 2,
  start = 3,     // of an init that is not the first
  allocate = 4,  // with a number of the routine in place of a count
  release = 5,
  reallocate = 6,
  split_strided = 7,
  split_2d = 8,
  destroy = 9,
  alltoallv = 10,  // only in the background
  barrier = 11,
  broadcast = 16,
  collect = 24,
  fcollect = 32,
  alltoall = 40,
  alltoalls = 48,
  reduce = 64,
  inclusive_scan = 176,
  exclusive_scan = 192
};
inline constexpr std::uint32_t kSizesOfElements = 5;  // 1 to 16 bytes
inline constexpr std::uint32_t kKindTypes = 13;
inline constexpr std::uint32_t kKindsOfOperator = 16;  // room for the types
inline constexpr std::uint32_t kKindOperators = 7;

constexpr std::uint32_t kind_of(CallFamily family) noexcept { return static_cast<std::uint32_t>(family); }
constexpr std::uint32_t kind_of(CallFamily family, std::size_t element_bytes) noexcept {
  return kind_of(family) + static_cast<std::uint32_t>(std::countr_zero(element_bytes));
}

inline constexpr int kKindShift = 16;
inline constexpr int kRootShift = 24;
inline constexpr int kCountShift = 36;
inline constexpr std::size_t kMostRoots = std::size_t{1} << (kCountShift - kRootShift);

using CallWord = std::uint64_t;
constexpr CallWord call_word(std::uint32_t kind, std::size_t count = 0, int root = 0) noexcept {
  return (std::uint64_t{kind} << kKindShift) + (static_cast<std::uint64_t>(root) << kRootShift) +
         (static_cast<std::uint64_t>(count) << kCountShift);
}
constexpr CallWord call_word(CallFamily family) noexcept { return call_word(kind_of(family)); }

// The parts of a word. They are right if the call's numbers fit their fields.
constexpr std::uint32_t kind_in(CallWord call) noexcept { return (call >> kKindShift) & 0xff; }
constexpr int root_in(CallWord call) noexcept { return static_cast<int>((call >> kRootShift) & (kMostRoots - 1)); }
constexpr std::uint64_t count_in(CallWord call) noexcept { return call >> kCountShift; }

// What takes the place of a root in calls of alltoalls: 6 bits for each stride. Large strides have digests there, so
// that a few pairs of them are not told apart.
inline constexpr int kStrideBits = 6;
inline constexpr std::uint64_t kLargeStride = std::uint64_t{1} << (kStrideBits - 1);
constexpr int stride_field(std::uint64_t stride) noexcept {
  if (stride < kLargeStride) return static_cast<int>(stride);
  return static_cast<int>(kLargeStride + ((stride * 0x9e3779b97f4a7c15U) >> (64 - kStrideBits + 1)));
}
constexpr int strides_word(std::uint64_t dest, std::uint64_t source) noexcept {
  return (stride_field(dest) << kStrideBits) + stride_field(source);
}
// Returns 0 if the stride is a large one.
constexpr int stride_in(int field) noexcept { return field < static_cast<int>(kLargeStride) ? field : 0; }
constexpr int dest_stride_in(CallWord call) noexcept { return stride_in(root_in(call) >> kStrideBits); }
constexpr int source_stride_in(CallWord call) noexcept { return stride_in(root_in(call) & ((1 << kStrideBits) - 1)); }

// Returns `none` if there is no such kind.
CallFamily family_in(CallWord call) noexcept;

// The digest of all calls of a team so far; its low 16 bits are 0, too. A digest and the call that it ends with tell
// the digest before.
constexpr std::uint64_t digest_after(std::uint64_t digest, CallWord call) noexcept { return digest * 9 + call; }
constexpr std::uint64_t digest_before(std::uint64_t digest, CallWord call) noexcept {
  constexpr std::uint64_t kNinth = 0x8e38e38e38e38e39;
  static_assert(kNinth * 9 == 1);
  return (digest - call) * kNinth;
}
// Returns the call that leads from one digest to the other.
constexpr CallWord call_between(std::uint64_t before, std::uint64_t after) noexcept { return after - before * 9; }

}  // namespace shmemx::coll
