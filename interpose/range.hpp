// The checks that all one-sided operations share: the target, its epoch, and the range of its memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "interpose/devices.hpp"
#include "interpose/epoch.hpp"
#include "interpose/errors.hpp"
#include "interpose/job.hpp"
#include "interpose/layout.hpp"
#include "interpose/window.hpp"

namespace shmemx::interpose {

// Sets `target` to the process, which the current epoch allows to access; to null for MPI_PROC_NULL. Returns an error
// class.
[[gnu::always_inline]] inline int find_target(Window& window, int rank, Target*& target) {
  target = nullptr;
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(window.size)) [[unlikely]]
    return rank == MPI_PROC_NULL ? MPI_SUCCESS : wrong(MPI_ERR_RANK, "the target rank is not in the window's group");
  target = &window.targets[static_cast<std::size_t>(rank)];
  if (target->open.load(std::memory_order_relaxed) == window.epochs.number.load(std::memory_order_relaxed)) [[likely]]
    return MPI_SUCCESS;
  return open_target(window, *target);
}

// The range from the lowest byte of `count` items at `address` to the end of the highest one.
struct Range {
  std::uint64_t first;
  std::uint64_t bytes;
};
// Returns false if it is no range of memory. count_bytes() has accepted the count.
[[gnu::always_inline]] inline bool find_range(const Layout& layout, std::uint64_t address, std::int64_t count,
                                              Range& range) {
  if (layout.plain_bytes != 0) [[likely]] {
    range = {address, static_cast<std::uint64_t>(count) * layout.plain_bytes};
    return true;
  }
  Bounds all = layout.bounds;
  if (!all.repeat(count, layout.extent)) return false;
  range = {address + static_cast<std::uint64_t>(all.low), static_cast<std::uint64_t>(all.high - all.low)};
  return true;
}

// Sets `bytes` to those of `count` items. Returns an error class if the datatype cannot be used, or if they are too
// many.
inline int count_bytes(const Layout* layout, std::int64_t count, std::size_t& bytes) {
  if (layout == nullptr) return wrong(MPI_ERR_TYPE, "a datatype is null");
  if (layout->refusal.error_class != MPI_SUCCESS) return layout->refusal.note();
  if (count < 0) return wrong(MPI_ERR_COUNT, "a count is negative");
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), layout->bytes, &bytes) || bytes > PTRDIFF_MAX)
    return wrong(MPI_ERR_COUNT, "the data are more than can be addressed");
  return MPI_SUCCESS;
}

// Returns the type of shmemx by which elements of a window are updated.
inline int update_type(const Window& window, const Element& element) noexcept {
  const bool is_word = element.shmemx_type >= SHMEMX_INT32 && element.shmemx_type <= SHMEMX_UINT64;
  return is_word && window.has_array_locks ? element.shmemx_type - SHMEMX_INT32 + SHMEMX_INT32_ARRAY
                                           : element.shmemx_type;
}

// Returns true while this process alone holds the target's lock: elements need not be updated by atomic instructions.
inline bool is_alone(const Target& target) noexcept { return target.lock == Lock::exclusive && !many_threads; }

inline int wrong_operator() {
  return wrong(MPI_ERR_OP, "the operator is not predefined, or not for elements of this datatype");
}

// Returns true if the range lies in the target's memory. A dynamic window's ranges are known to their owner only.
inline bool is_inside(const Window& window, const Target& target, const Range& range) {
  if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) return true;
  const std::uint64_t offset = range.first - target.offer.base;
  return offset <= target.offer.bytes && range.bytes <= target.offer.bytes - offset;
}

// The address that a displacement means at the target; one in no window if its bytes exceed 64 bits.
inline std::uint64_t address_at(const Target& target, MPI_Aint disp) {
  MPI_Aint bytes = 0;
  if (__builtin_mul_overflow(disp, static_cast<MPI_Aint>(target.offer.disp_unit), &bytes)) [[unlikely]]
    return std::uint64_t{1} << 63;
  return target.offer.base + static_cast<std::uint64_t>(bytes);
}

inline void* pointer(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

inline constexpr char kDoNotFit[] = "the data do not fit into the side to which they go";

inline int out_of_range() { return wrong(MPI_ERR_RMA_RANGE, "the target's memory is not in the window"); }

// Returns whether this process's data may begin here: not at MPI_IN_PLACE, nor at a null pointer without addresses in
// the datatype.
inline bool is_buffer(std::uint64_t first_byte) noexcept {
  const auto in_place = reinterpret_cast<std::uintptr_t>(MPI_IN_PLACE);
  return first_byte != 0 && first_byte != in_place;
}
inline bool is_buffer(const void* data) noexcept { return is_buffer(reinterpret_cast<std::uintptr_t>(data)); }

// Returns an error class if they may not begin here.
[[gnu::always_inline]] inline int check_buffer(std::uint64_t first_byte) {
  if (!is_buffer(first_byte)) [[unlikely]]
    return wrong(MPI_ERR_BUFFER, "the data of this process are null or MPI_IN_PLACE");
  if (is_device_memory(first_byte)) [[unlikely]]
    return wrong(MPI_ERR_BUFFER, "the data of this process are memory of a device");
  return MPI_SUCCESS;
}
inline int check_buffer(const void* data) { return check_buffer(reinterpret_cast<std::uintptr_t>(data)); }

}  // namespace shmemx::interpose
