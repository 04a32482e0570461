// What the threads of this PE have recorded in their present epochs: for each 4 bytes of the program a mark, which
// names the thread and its epoch, and whether it was a store. Loads and stores that are marked need no look at their
// cells.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::races {

// Of a load; that of a store in the same epoch is odd, and the next number.
using Mark = std::uint32_t;
inline constexpr Mark kNoMark = ~Mark{1};  // found nowhere

class Marks {
 public:
  void open() noexcept;
  // A number for the next epoch of a thread.
  Mark next() noexcept;

  // Is the load or store recorded, or, for a load, a store? Of 1, 2, 4 or 8 bytes that are aligned.
  template <std::size_t kBytes>
  [[gnu::always_inline]] bool hold(std::uintptr_t address, std::uint64_t stores_of_thread, bool is_store) noexcept {
    const std::byte* const chunk = chunks_[address >> kChunkBits & (kChunks - 1)];
    if (chunk == nullptr) [[unlikely]]
      return false;
    const std::byte* const at = chunk + address % kChunkBytes / kGranule * kGranule;
    if constexpr (kBytes == 8) {
      return (read<std::uint64_t>(at) | (is_store ? 0 : kStores)) == stores_of_thread;
    } else {
      return (read<Mark>(at) | (is_store ? 0 : 1U)) == static_cast<Mark>(stores_of_thread);
    }
  }
  // Marks what lies wholly inside of the bytes, which do not cross 8.
  void set(std::uintptr_t address, std::size_t bytes, Mark mark) noexcept;
  // Marks bytes that are aligned.
  template <std::size_t kBytes>
  [[gnu::always_inline]] void set_aligned(std::uintptr_t address, Mark mark) noexcept {
    std::byte* const chunk = chunks_[address >> kChunkBits & (kChunks - 1)];
    if (kBytes < kGranule || chunk == nullptr) [[unlikely]]
      return set(address, kBytes, mark);
    std::byte* const at = chunk + address % kChunkBytes;
    if constexpr (kBytes == 8) {
      // At once, as it is read: a load does not find two stores that are still on their way to memory.
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(at), std::uint64_t{mark} << 32 | mark, __ATOMIC_RELAXED);
    } else {
      write(at, mark);
    }
  }
  // Memory was given to the program anew.
  void clear(std::uintptr_t begin, std::size_t bytes) noexcept;

  // The mark of stores for two granules.
  static constexpr std::uint64_t of_stores(Mark mark) noexcept { return (std::uint64_t{mark} << 32 | mark) | kStores; }

 private:
  static constexpr std::size_t kGranule = 4;
  static constexpr std::uint64_t kStores = std::uint64_t{1} << 32 | 1;
  static constexpr unsigned kChunkBits = 20;
  static constexpr std::uintptr_t kChunkBytes = std::uintptr_t{1} << kChunkBits;
  static constexpr std::uintptr_t kChunks = std::uintptr_t{1} << (47 - kChunkBits);

  std::byte** chunks_ = nullptr;  // a chunk of marks for each of the program's memory

  std::byte* add(std::uintptr_t chunk) noexcept;
  // Other threads of the PE may write the same marks: each then sees its own or another thread's.
  template <class T>
  static T read(const std::byte* at) noexcept {
    return __atomic_load_n(reinterpret_cast<const T*>(at), __ATOMIC_RELAXED);
  }
  static void write(std::byte* at, Mark mark) noexcept {
    __atomic_store_n(reinterpret_cast<Mark*>(at), mark, __ATOMIC_RELAXED);
  }
};
extern Marks marks;

}  // namespace shmemx::races
