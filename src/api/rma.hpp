// put, get and their kin. T only gives the size of an element; below here there are only bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "api/observed.hpp"
#include "api/transfer.hpp"
#include "onesided/operations.hpp"
#include "rma/copy.hpp"
#include "rma/strided.hpp"

namespace shmemx::api {

struct Bytes16 {
  std::uint64_t words[2];
};

// p and g of anything that is not near. Their parameters stand in the order of the entry points', so that the jump to
// here moves none of them. Elements of up to 8 bytes travel as the low bytes of a word: their address would put a stack
// frame into every call.
void p_word(std::uint64_t offset, std::uint64_t value, std::uint32_t near, const Context& context, const char* routine,
            std::size_t bytes) noexcept;
std::uint64_t g_word(std::uint64_t offset, std::uint32_t near, const Context& context, const char* routine,
                     std::size_t bytes) noexcept;
void p_element(std::uint64_t offset, const void* value, std::uint32_t near, const Context& context, const char* routine,
               std::size_t bytes) noexcept;
void g_element(std::uint64_t offset, void* value, std::uint32_t near, const Context& context, const char* routine,
               std::size_t bytes) noexcept;

template <class T>
[[gnu::noinline]] void p_cold(std::uint64_t offset, T value, std::uint32_t near, const Context& context,
                              const char* routine) noexcept {
  if constexpr (sizeof(T) > sizeof(std::uint64_t)) {
    p_element(offset, &value, near, context, routine, sizeof(T));
  } else {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(T));
    p_word(offset, word, near, context, routine, sizeof(T));
  }
}

template <class T>
[[gnu::noinline]] T g_cold(std::uint64_t offset, std::uint32_t near, const Context& context,
                           const char* routine) noexcept {
  T value;
  if constexpr (sizeof(T) > sizeof(std::uint64_t)) {
    g_element(offset, &value, near, context, routine, sizeof(T));
  } else {
    const std::uint64_t word = g_word(offset, near, context, routine, sizeof(T));
    std::memcpy(&value, &word, sizeof(T));
  }
  return value;
}

template <class T>
inline void p(const Context& context, const char* routine, T* dest, T value, int pe) noexcept {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(dest) - context.heap_base;
  const std::uint32_t near = context::near_index(context, pe);
  if (offset < context.heap_limit[context::kSizeClass<sizeof(T)>] && near < context.n_near) [[likely]] {
    std::byte* const heap = context::near_heap(context, near);
    *reinterpret_cast<T*>(heap + offset) = value;
    return context::wake_heap(heap);
  }
  p_cold(offset, value, near, context, routine);
}

template <class T>
inline T g(const Context& context, const char* routine, const T* source, int pe) noexcept {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(source) - context.heap_base;
  const std::uint32_t near = context::near_index(context, pe);
  if (offset < context.read_limit[context::kSizeClass<sizeof(T)>] && near < context.n_near) [[likely]] {
    return *reinterpret_cast<const T*>(context::near_heap(context, near) + offset);
  }
  return g_cold<T>(offset, near, context, routine);
}

// put and get of any size; `near`: see context::near_index(). The parameters stand in the order of the entry points',
// so that the jump to here moves none of them.
void put_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
               const char* routine) noexcept;
void get_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
               const char* routine) noexcept;
void get_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
                   const char* routine) noexcept;

void put_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
                   const char* routine) noexcept;

// One word is as cheap as p and g: a single store or load. `kRest`: what is done when it is not one word of a mapped
// heap.
template <class T, auto kRest>
inline void put_with(const Context& context, const char* routine, void* dest, const void* source, std::size_t nelems,
                     int pe) noexcept {
  const std::uint64_t bytes = checked_bytes(routine, nelems, sizeof(T));
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(dest) - context.heap_base;
  const std::uint32_t near = context::near_index(context, pe);
  if (bytes == 8 && offset < context.heap_limit[context::kSizeClass<8>] && near < context.n_near) [[likely]] {
    std::byte* const heap = context::near_heap(context, near);
    __builtin_memcpy(heap + offset, source, 8);
    return context::wake_heap(heap);
  }
  kRest(dest, source, bytes, near, context, routine);
}
template <class T>
inline void put(const Context& context, const char* routine, void* dest, const void* source, std::size_t nelems,
                int pe) noexcept {
  put_with<T, put_bytes>(context, routine, dest, source, nelems, pe);
}

template <class T, auto kRest>
inline void get_with(const Context& context, const char* routine, void* dest, const void* source, std::size_t nelems,
                     int pe) noexcept {
  const std::uint64_t bytes = checked_bytes(routine, nelems, sizeof(T));
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(source) - context.heap_base;
  const std::uint32_t near = context::near_index(context, pe);
  if (bytes == 8 && offset < context.read_limit[context::kSizeClass<8>] && near < context.n_near) [[likely]] {
    __builtin_memcpy(dest, context::near_heap(context, near) + offset, 8);
    return;
  }
  kRest(dest, source, bytes, near, context, routine);
}
template <class T>
inline void get(const Context& context, const char* routine, void* dest, const void* source, std::size_t nelems,
                int pe) noexcept {
  get_with<T, get_bytes>(context, routine, dest, source, nelems, pe);
}

// From mapped memory a transfer is complete when the copy is.
template <class T>
inline void put_nbi(const Context& context, const char* routine, void* dest, const void* source, std::size_t nelems,
                    int pe) noexcept {
  put_with<T, put_nbi_bytes>(context, routine, dest, source, nelems, pe);
}
template <class T>
inline void get_nbi(const Context& context, const char* routine, void* dest, const void* source, std::size_t nelems,
                    int pe) noexcept {
  get_with<T, get_nbi_bytes>(context, routine, dest, source, nelems, pe);
}

// Bytes from the first block's begin to the last one's end.
inline std::uint64_t span_bytes(const char* routine, std::uint64_t step_bytes, std::size_t block_count,
                                std::uint64_t block_bytes) noexcept {
  std::uint64_t bytes;
  if (__builtin_mul_overflow(block_count - 1, step_bytes, &bytes) || __builtin_add_overflow(bytes, block_bytes, &bytes))
      [[unlikely]] {
    bad_count(routine, "nelems", block_count);
  }
  return bytes;
}

struct BlockArguments {
  std::ptrdiff_t dst;
  std::ptrdiff_t sst;
  std::size_t bsize;  // elements in a block
  std::size_t nblocks;
};

// Returns true if the blocks follow each other without a gap on both sides: then they are one.
inline bool are_joined(const BlockArguments& blocks) noexcept {
  return blocks.dst == blocks.sst && blocks.dst > 0 && static_cast<std::size_t>(blocks.dst) == blocks.bsize;
}

template <class T>
inline rma::Strided checked_shape(const char* routine, const BlockArguments& blocks) noexcept {
  check_stride(routine, "dst", blocks.dst, blocks.bsize);
  check_stride(routine, "sst", blocks.sst, blocks.bsize);
  return {checked_bytes(routine, blocks.bsize, sizeof(T)), blocks.nblocks,
          checked_bytes(routine, static_cast<std::size_t>(blocks.dst), sizeof(T)),
          checked_bytes(routine, static_cast<std::size_t>(blocks.sst), sizeof(T))};
}

template <class T>
inline void put_blocks(const Context& context, const char* routine, void* dest, const void* source,
                       const BlockArguments& blocks, int pe) noexcept {
  if (are_joined(blocks))
    return put<T>(context, routine, dest, source, checked_bytes(routine, blocks.bsize, blocks.nblocks), pe);
  const rma::Strided shape = checked_shape<T>(routine, blocks);
  const bool empty = shape.block_count == 0 || shape.block_bytes == 0;
  const std::uint64_t span = empty ? 0 : span_bytes(routine, shape.dest_step, shape.block_count, shape.block_bytes);
  const Observed observed(context, {routine, stats::Family::put}, pe, shape.block_count * shape.block_bytes);
  const context::Location target =
      resolve_strided(context, {routine, "dest"}, {dest, shape.dest_step}, {source, shape.source_step},
                      {shape.block_bytes, empty ? 0 : shape.block_count, span}, check::Use::source, pe);
  if (empty) return;
  if (!target.is_mapped()) [[unlikely]]
    return onesided::put_strided(routine, context, target.place, source, shape);
  rma::copy_strided(target.address, source, shape);
  wake(*target.doorbell);
}

template <class T>
inline void get_blocks(const Context& context, const char* routine, void* dest, const void* source,
                       const BlockArguments& blocks, int pe) noexcept {
  if (are_joined(blocks))
    return get<T>(context, routine, dest, source, checked_bytes(routine, blocks.bsize, blocks.nblocks), pe);
  const rma::Strided shape = checked_shape<T>(routine, blocks);
  const bool empty = shape.block_count == 0 || shape.block_bytes == 0;
  const std::uint64_t span = empty ? 0 : span_bytes(routine, shape.source_step, shape.block_count, shape.block_bytes);
  const Observed observed(context, {routine, stats::Family::get}, pe, shape.block_count * shape.block_bytes);
  const context::Location target =
      resolve_strided(context, {routine, "source"}, {source, shape.source_step}, {dest, shape.dest_step},
                      {shape.block_bytes, empty ? 0 : shape.block_count, span}, check::Use::dest, pe);
  if (empty) return;
  if (!target.is_mapped()) [[unlikely]]
    return onesided::get_strided(routine, context, dest, target.place, shape);
  rma::copy_strided(dest, target.address, shape);
}

template <class T>
inline void iput(const Context& context, const char* routine, void* dest, const void* source, std::ptrdiff_t dst,
                 std::ptrdiff_t sst, std::size_t nelems, int pe) noexcept {
  put_blocks<T>(context, routine, dest, source, {dst, sst, 1, nelems}, pe);
}
template <class T>
inline void iget(const Context& context, const char* routine, void* dest, const void* source, std::ptrdiff_t dst,
                 std::ptrdiff_t sst, std::size_t nelems, int pe) noexcept {
  get_blocks<T>(context, routine, dest, source, {dst, sst, 1, nelems}, pe);
}
template <class T>
inline void ibput(const Context& context, const char* routine, void* dest, const void* source, std::ptrdiff_t dst,
                  std::ptrdiff_t sst, std::size_t bsize, std::size_t nblocks, int pe) noexcept {
  put_blocks<T>(context, routine, dest, source, {dst, sst, bsize, nblocks}, pe);
}
template <class T>
inline void ibget(const Context& context, const char* routine, void* dest, const void* source, std::ptrdiff_t dst,
                  std::ptrdiff_t sst, std::size_t bsize, std::size_t nblocks, int pe) noexcept {
  get_blocks<T>(context, routine, dest, source, {dst, sst, bsize, nblocks}, pe);
}

}  // namespace shmemx::api
