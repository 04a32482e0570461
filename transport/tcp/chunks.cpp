#include "transport/tcp/chunks.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/cache_line.hpp"
#include "base/fatal.hpp"
#include "base/recycled_memory.hpp"

namespace shmemx::tcp {

Chunks::Chunk* Chunks::make(std::size_t bytes) noexcept {
  void* const memory = try_take_memory(sizeof(Chunk) + bytes).release();
  if (memory == nullptr) fatal(nullptr, "tcp: no memory for %zu bytes of messages to be sent", bytes);
  return new (memory) Chunk{bytes};
}

std::byte* Chunks::reserve_in_next(std::size_t bytes) noexcept {
  const std::size_t wanted = std::max(kChunkBytes, round_up(bytes, kCacheLine));
  chunk_ = wanted == kChunkBytes && spare_ != nullptr ? std::exchange(spare_, nullptr) : make(wanted);
  open_ = chunk_->memory();
  at_ = open_ + bytes;
  limit_ = open_ + wanted;
  return open_;
}

void Chunks::recycle(Chunk* chunk) noexcept {
  if (chunk != nullptr && chunk->bytes == kChunkBytes) std::swap(chunk, spare_);
  give_back(chunk);
}

void Chunks::give_back(Chunk* chunk) noexcept { ReturnMemory()(reinterpret_cast<std::byte*>(chunk)); }

void Chunks::trim(std::size_t bytes) noexcept {
  open_ += bytes;
  if (open_ != at_ || chunk_ == nullptr) return;
  if (chunk_->bytes == kChunkBytes) {
    open_ = at_ = chunk_->memory();
    return;
  }
  give_back(std::exchange(chunk_, nullptr));  // it was made for one long message
  open_ = at_ = limit_ = nullptr;
}

void Chunks::drop() noexcept {
  give_back(std::exchange(chunk_, nullptr));
  give_back(std::exchange(spare_, nullptr));
  open_ = at_ = limit_ = nullptr;
}

}  // namespace shmemx::tcp
