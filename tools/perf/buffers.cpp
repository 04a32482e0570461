#include "perf/buffers.hpp"

#include <cstring>

namespace shmemx::perf {
namespace {

constexpr std::size_t kPage = 4096;

alignas(kPage) std::byte static_blocks[2 * Buffers::kStaticBytes];

}  // namespace

Buffers::Buffers(Memory memory, std::size_t bytes) : memory_(memory), bytes_((bytes + kPage - 1) / kPage * kPage) {
  if (memory == Memory::static_data) {
    if (bytes_ <= kStaticBytes && shmem_addr_accessible(static_blocks, shmem_my_pe()) != 0) own_ = static_blocks;
  } else if (memory == Memory::heap) {
    own_ = static_cast<std::byte*>(shmem_align(kPage, 2 * bytes_));
  } else {
    allocate_window();
  }
  if (own_ != nullptr) std::memset(own_, 1, 2 * bytes_);
}

// A PE whose allocation fails publishes a null address. All PEs look at all, so that they agree.
void Buffers::allocate_window() {
  published_ = static_cast<Published*>(shmem_calloc(1, sizeof(Published)));
  int* const fails = static_cast<int*>(shmem_calloc(2, sizeof(int)));
  if (published_ == nullptr || fails == nullptr) return;
  void* base = nullptr;
  if (shmemx_window_allocate(2 * bytes_, &base, &window_) != SHMEMX_SUCCESS) {
    window_ = SHMEMX_WINDOW_INVALID;
    fails[0] = 1;
  } else {
    shmemx_window_describe(window_, &published_->description);
    published_->base = static_cast<std::byte*>(base);
  }
  shmem_int_max_reduce(SHMEM_TEAM_WORLD, fails + 1, fails, 1);
  if (fails[1] == 0) own_ = static_cast<std::byte*>(base);
  shmem_free(fails);
}

void Buffers::detach() {
  if (attached_ != SHMEMX_WINDOW_INVALID) shmemx_window_detach(attached_);
  attached_ = SHMEMX_WINDOW_INVALID;
}

void Buffers::aim(Work& work, int peer) {
  work.peer = peer;
  work.local = own_ + bytes_;
  work.remote = own_;
  work.window = SHMEMX_WINDOW_INVALID;
  if (memory_ != Memory::window) return;
  detach();
  Published peers;
  shmem_getmem(&peers, published_, sizeof peers, peer);
  if (shmemx_window_attach(&peers.description, &attached_) != SHMEMX_SUCCESS) shmem_global_exit(1);
  work.remote = peers.base;
  work.window = attached_;
}

Buffers::~Buffers() {
  if (memory_ == Memory::heap) shmem_free(own_);
  if (memory_ != Memory::window) return;
  detach();
  shmem_barrier_all();
  if (window_ != SHMEMX_WINDOW_INVALID) shmemx_window_free(window_);
  shmem_free(published_);
}

}  // namespace shmemx::perf
