// The node's one shared file, mapped once by each PE: header first, the rest of it when the geometry is known. The
// header and the records are mapped by all who open the file; a node's channel region by its PEs, its blocks by all of
// them, or each by its own PE only. Where several nodes are pretended on one machine they share one file.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/file_identity.hpp"
#include "base/pe.hpp"
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

// Where the heap of PE `own` of the node is to lie. If something else is there by now, or if it is 0, the kernel
// chooses.
struct HeapAt {
  NodeIndex own{0};
  std::uintptr_t at = 0;
};

class Arena {
 public:
  // Maps the header page to learn the number of PEs, then header and records. Takes the descriptor.
  static Result<Arena> open(UniqueFd fd);

  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  ~Arena();

  // Sizes the file (the same size whoever does it) and maps the channel region and the blocks of a node. Called once,
  // after all records are complete. `node`: this PE's one among those that share the file.
  Status map_blocks(const Geometry& geometry, std::size_t node = 0, HeapAt heap = {});
  // map_blocks() of the block of one PE only: block() and its kin are right for that PE. `guard_others`: where the
  // other blocks would be nothing else is put, so that a stray access there faults.
  Status map_own_block(const Geometry& geometry, std::size_t node, HeapAt heap, bool guard_others);

  bootstrap::JobHeader& header() const noexcept { return *header_; }
  // Which PEs of the job share the arena, in ascending order. Without that it is all of them.
  void set_pes(std::vector<int> pes) { pes_ = std::move(pes); }
  bool has(int pe) const noexcept;
  // The place among them of one of these PEs.
  std::size_t place_of(int pe) const noexcept;
  int pe_at(std::size_t place) const noexcept { return pes_.empty() ? static_cast<int>(place) : pes_[place]; }
  // Of a PE that shares the arena.
  bootstrap::PeRecord& record(int pe) const noexcept { return *bootstrap::record_of(header_, place_of(pe)); }
  bootstrap::PeAddresses& endpoint_addresses(int pe) const noexcept {
    return *bootstrap::addresses_of(header_, place_of(pe));
  }
  // Returns the records of all PEs that share the arena, and those of other PEs that matter here, by world PE.
  std::vector<bootstrap::RecordOfPe> records() const;
  // By world PE: where each PE of the job is.
  PeLocation* locations() const noexcept { return bootstrap::locations_of(header_); }
  const Geometry& geometry() const noexcept { return geometry_; }
  std::byte* channel() const noexcept { return channel_; }
  // Blocks of this PE's node.
  std::byte* block(NodeIndex pe) const noexcept {
    return reinterpret_cast<std::byte*>(block0_ + static_cast<std::size_t>(pe.value) * geometry_.stride);
  }
  std::byte* heap(NodeIndex pe) const noexcept { return block(pe) + geometry_.heap_offset; }
  std::byte* statics(NodeIndex pe) const noexcept { return block(pe) + geometry_.static_offset; }
  Doorbell& doorbell(NodeIndex pe) const noexcept {
    return *reinterpret_cast<Doorbell*>(block(pe) + geometry_.doorbell_offset);
  }
  // The descriptor of the file; -1 if the program has closed it, and may have another file under that number.
  int fd() const noexcept;
  // Where a block lies in the file.
  std::size_t offset_of_block(NodeIndex pe) const noexcept {
    return node_offset_ + static_cast<std::size_t>(pe.value) * geometry_.stride;
  }

  // Where the program locks all its memory (mlockall), locks pages of the mapped blocks when they are touched. Returns
  // false if the limit on locked memory forbids it.
  bool follow_locking() const noexcept;

  // Bytes of memory the file has by now.
  std::size_t resident_bytes() const noexcept;
  // Gives the memory of a page-aligned range of a PE's heap back to the system; it then reads as zero. Returns false
  // if the system refuses; the range then keeps what it holds.
  [[nodiscard]] bool discard_heap(NodeIndex pe, std::size_t offset, std::size_t bytes) const noexcept;

  // Of the blocks and the channel region a core dump of this process holds the first `bytes` of the heap of `pe`, a
  // multiple of the page size, and nothing else. Nothing at all before the first call.
  void dump_heap(NodeIndex pe, std::size_t bytes) const noexcept;

 private:
  Arena() = default;
  Status map_channel(const Geometry& geometry, std::size_t node);

  UniqueFd fd_;
  FileIdentity file_;
  bootstrap::JobHeader* header_ = nullptr;
  std::size_t header_mapped_bytes_ = 0;
  std::vector<int> pes_;
  std::byte* channel_ = nullptr;
  std::uintptr_t block0_ = 0;  // of the node's first PE, also where that one is not mapped
  void* mapped_ = nullptr;     // the blocks' mappings
  std::size_t mapped_bytes_ = 0;
  std::size_t node_offset_ = 0;  // of the node's first block in the file
  Geometry geometry_;
};

}  // namespace shmemx::windows
