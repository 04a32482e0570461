#include "pt2pt/request.hpp"

#include <new>

namespace shmemx::pt2pt {

bool RequestPool::grow() noexcept {
  if (count_ == kChunk * kMaxChunks) return false;
  if (chunks_ == nullptr) {
    chunks_.reset(new (std::nothrow) std::unique_ptr<Request[]>[kMaxChunks]);
    if (chunks_ == nullptr) return false;
  }
  std::unique_ptr<Request[]> chunk(new (std::nothrow) Request[kChunk]());
  if (chunk == nullptr) return false;
  for (std::uint32_t i = kChunk; i-- > 0;) {
    chunk[i].id = {count_ + i, 1};
    chunk[i].link = free_;
    free_ = &chunk[i];
  }
  chunks_[count_ / kChunk] = std::move(chunk);
  count_ += kChunk;
  return true;
}

}  // namespace shmemx::pt2pt
