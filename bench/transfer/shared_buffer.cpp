// Two buffers in a common segment, used in turn: the receiver copies out of one while the sender fills the other.
#include <algorithm>

#include "common_segment.hpp"
#include "copy.hpp"
#include "mechanism.hpp"

namespace shmemx::bench {
namespace {

// Edges:  fill   full.store(true) -> full.load     the buffer's bytes, before the receiver reads them
//         drain  full.store(false) -> full.load    the receiver's reads, before the sender writes again
struct alignas(64) Flag {
  std::atomic<std::uint32_t> full;
};

class SharedBuffer final : public Mechanism {
 public:
  SharedBuffer(Link& link, std::size_t chunk_bytes) : Mechanism(link), chunk_(chunk_bytes) {}

  void init() override {
    stride_ = (chunk_ + 63) / 64 * 64;
    segment_.map(link_, sizeof(Flag) * 2 + stride_ * 2);
    turn_ = 0;
  }
  void finalize() override { segment_.unmap(); }

  void copy_local(const Transfer& transfer) override {
    std::byte* to = mine_.base + transfer.dest;
    for (std::size_t left = transfer.bytes; left > 0;) {
      const std::size_t bytes = std::min(left, chunk_);
      Flag& flag = next_flag();
      link_.wait([&] { return flag.full.load(std::memory_order_acquire) != 0; });  // fill
      copy_bytes(to, buffer(), bytes);
      flag.full.store(0, std::memory_order_release);  // drain
      to += bytes;
      left -= bytes;
    }
  }

  void copy_remote(const Transfer& transfer) override {
    const std::byte* from = mine_.base + transfer.source;
    for (std::size_t left = transfer.bytes; left > 0;) {
      const std::size_t bytes = std::min(left, chunk_);
      Flag& flag = next_flag();
      link_.wait([&] { return flag.full.load(std::memory_order_acquire) == 0; });  // drain
      copy_bytes(buffer(), from, bytes);
      flag.full.store(1, std::memory_order_release);  // fill
      from += bytes;
      left -= bytes;
    }
  }

 private:
  Flag& next_flag() {
    turn_ ^= 1;
    return reinterpret_cast<Flag*>(segment_.base())[turn_];
  }
  std::byte* buffer() const { return segment_.base() + sizeof(Flag) * 2 + stride_ * turn_; }

  CommonSegment segment_;
  std::size_t chunk_;
  std::size_t stride_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Mechanism> make_shared_buffer(Link& link, std::size_t chunk_bytes) {
  return std::make_unique<SharedBuffer>(link, chunk_bytes);
}

}  // namespace shmemx::bench
