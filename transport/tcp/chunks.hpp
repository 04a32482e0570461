// Memory that frames are copied to, chunk after chunk. What has been copied since the last close() is the open part of
// the present chunk.
#pragma once

#include <cstddef>

namespace shmemx::tcp {

class Chunks {
 public:
  struct Chunk {
    std::size_t bytes;
    std::byte* memory() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  };

  Chunks() noexcept = default;
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;
  ~Chunks() { drop(); }

  // Returns null if the present chunk has not so much room.
  std::byte* try_reserve(std::size_t bytes) noexcept {
    if (static_cast<std::size_t>(limit_ - at_) < bytes) [[unlikely]]
      return nullptr;
    at_ += bytes;
    return at_ - bytes;
  }
  // Takes another chunk. The present one, if there is any, belongs to the caller now.
  std::byte* reserve_in_next(std::size_t bytes) noexcept;
  Chunk* present() const noexcept { return chunk_; }

  const std::byte* open() const noexcept { return open_; }
  std::size_t open_bytes() const noexcept { return static_cast<std::size_t>(at_ - open_); }
  // The open part belongs to the caller now.
  void close() noexcept { open_ = at_; }
  // The first bytes of the open part are not needed any more. Requires that no other part of the chunk is.
  void trim(std::size_t bytes) noexcept;

  // Aborts if there is no memory.
  static Chunk* make(std::size_t bytes) noexcept;
  // Gives a chunk of make() back, or keeps it for later. May be null.
  void recycle(Chunk* chunk) noexcept;
  // Gives back the present chunk, and the one that is kept.
  void drop() noexcept;

 private:
  static void give_back(Chunk* chunk) noexcept;

  static constexpr std::size_t kChunkBytes = std::size_t{32} << 10;  // a filled one costs a system call

  std::byte* open_ = nullptr;  // the open part: [open_, at_) of chunk_
  std::byte* at_ = nullptr;
  std::byte* limit_ = nullptr;  // of chunk_
  Chunk* chunk_ = nullptr;
  Chunk* spare_ = nullptr;
};

}  // namespace shmemx::tcp
