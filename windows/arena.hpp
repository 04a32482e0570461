// The node's one shared file, mapped once by each PE: header first, the rest of it when the geometry is known. The
// header, the records and the channel region are mapped by all; the blocks by all, or each by its own PE only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "bootstrap/wire.hpp"
#include "windows/geometry.hpp"

namespace shmemx::windows {

// Gives the memory of a page-aligned range of the arena file back to the system, also where a process has locked pages
// of it: MADV_REMOVE refuses those. Returns false if the file system cannot do it.
[[nodiscard]] bool punch_hole(int fd, std::size_t offset, std::size_t bytes) noexcept;

// What a core dump of this process holds of a page-aligned range of shared mappings. By default a dump holds all of
// them, holes too, and the kernel backs each hole that it writes with memory.
void leave_out_of_dumps(void* address, std::size_t bytes) noexcept;
void take_into_dumps(void* address, std::size_t bytes) noexcept;

class Arena {
 public:
  // Maps the header page to learn the number of PEs, then header and records. Takes the descriptor.
  static Result<Arena> open(UniqueFd fd);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  ~Arena();

  // Sizes the file (the same size whoever does it) and maps the channel region and all blocks. Called once, after all
  // records are complete.
  Status map_blocks(const Geometry& geometry);
  // The same with the block of PE `pe` only: block() and its kin are right for that PE. `guard_others`: where the other
  // blocks would be nothing else is put, so that a stray access there faults.
  Status map_own_block(const Geometry& geometry, int pe, bool guard_others);

  // The same with the blocks of those PEs for which `mapped` is not 0, one of them the own.
  Status map_some_blocks(const Geometry& geometry, std::span<const std::uint8_t> mapped);

  bootstrap::JobHeader& header() const noexcept { return *header_; }
  bootstrap::PeRecord& record(int pe) const noexcept {
    return *bootstrap::record_of(header_, static_cast<std::size_t>(pe));
  }
  bootstrap::PeAddresses& endpoint_addresses(int pe) const noexcept {
    return *bootstrap::addresses_of(header_, static_cast<std::size_t>(pe));
  }
  const Geometry& geometry() const noexcept { return geometry_; }
  std::byte* channel() const noexcept { return channel_; }
  std::byte* block(int pe) const noexcept {
    return reinterpret_cast<std::byte*>(block0_ + static_cast<std::size_t>(pe) * geometry_.stride);
  }
  std::byte* heap(int pe) const noexcept { return block(pe) + geometry_.heap_offset; }
  std::byte* statics(int pe) const noexcept { return block(pe) + geometry_.static_offset; }
  Doorbell& doorbell(int pe) const noexcept {
    return *reinterpret_cast<Doorbell*>(block(pe) + geometry_.doorbell_offset);
  }
  int fd() const noexcept { return fd_.get(); }

  // Bytes of memory the file has by now.
  std::size_t resident_bytes() const noexcept;
  // Gives the memory of a page-aligned range of PE `pe`'s heap back to the system; it then reads as zero. Returns false
  // if the system refuses; the range then keeps what it holds.
  [[nodiscard]] bool discard_heap(int pe, std::size_t offset, std::size_t bytes) const noexcept;

  // Of the blocks and the channel region a core dump of this process holds the first `bytes` of PE `pe`'s heap, a
  // multiple of the page size, and nothing else. Nothing at all before the first call.
  void dump_heap(int pe, std::size_t bytes) const noexcept;

 private:
  Arena() = default;
  Status map_channel(const Geometry& geometry);

  UniqueFd fd_;
  bootstrap::JobHeader* header_ = nullptr;
  std::size_t header_mapped_bytes_ = 0;
  std::byte* channel_ = nullptr;
  std::uintptr_t block0_ = 0;  // of PE 0, also where that one is not mapped
  void* mapped_ = nullptr;     // the blocks' mappings
  std::size_t mapped_bytes_ = 0;
  Geometry geometry_;
};

}  // namespace shmemx::windows
