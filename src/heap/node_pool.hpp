// Allocates nodes of one type in chunks that never move. Memory comes directly from the kernel: it is independent of
// the program's malloc and shares no page with memory that the program may overrun.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>

namespace shmemx::heap {

template <class Node>
class NodePool {
 public:
  NodePool() noexcept = default;
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;
  // Does not run destructors of nodes that have not been given back.
  ~NodePool() {
    while (chunks_ != nullptr) {
      Chunk* const next = chunks_->next;
      ::munmap(chunks_, chunks_->bytes);
      chunks_ = next;
    }
  }

  // Ensures that the next `count` calls of take() succeed. Returns false if the kernel has no memory.
  [[nodiscard]] bool reserve(std::size_t count) noexcept {
    while (free_count_ + unused_count() < count) {
      if (!add_chunk()) return false;
    }
    return true;
  }

  // Precondition: reserve() has succeeded.
  Node* take() noexcept {
    void* place = nullptr;
    if (free_ != nullptr) {
      place = free_;
      free_ = free_->next;
      --free_count_;
    } else {
      place = unused_;
      unused_ += sizeof(Slot);
    }
    return ::new (place) Node{};
  }

  void give_back(Node* node) noexcept {
    node->~Node();
    free_ = ::new (static_cast<void*>(node)) FreeNode{free_};
    ++free_count_;
  }

 private:
  struct FreeNode {
    FreeNode* next;
  };
  union Slot {
    alignas(Node) std::byte node[sizeof(Node)];
    FreeNode free;
  };
  struct alignas(64) Chunk {
    Chunk* next;
    std::size_t bytes;
  };

  static constexpr std::size_t kFirstChunkBytes = std::size_t{64} << 10;
  static constexpr std::size_t kLargestChunkBytes = std::size_t{4} << 20;

  std::size_t unused_count() const noexcept { return static_cast<std::size_t>(end_ - unused_) / sizeof(Slot); }

  // The kernel backs pages of a chunk when they are touched, so a large chunk costs nothing until its nodes are used.
  bool add_chunk() noexcept {
    const std::size_t bytes = chunks_ == nullptr ? kFirstChunkBytes : std::min(chunks_->bytes * 2, kLargestChunkBytes);
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    while (unused_count() > 0) {  // moves the unused rest of the old chunk to the free list
      free_ = ::new (static_cast<void*>(unused_)) FreeNode{free_};
      ++free_count_;
      unused_ += sizeof(Slot);
    }
    chunks_ = ::new (memory) Chunk{chunks_, bytes};
    unused_ = static_cast<std::byte*>(memory) + sizeof(Chunk);
    end_ = static_cast<std::byte*>(memory) + bytes;
    return true;
  }

  FreeNode* free_ = nullptr;
  std::size_t free_count_ = 0;
  std::byte* unused_ = nullptr;  // the part of the newest chunk that has not been handed out
  std::byte* end_ = nullptr;
  Chunk* chunks_ = nullptr;
};

}  // namespace shmemx::heap
