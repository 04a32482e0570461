// Cells on the library's own queue: the sender takes a free cell, fills it and enqueues it at the receiver, which
// copies the data out and returns the cell.
#include <algorithm>
#include <new>

#include "common_segment.hpp"
#include "copy.hpp"
#include "mechanism.hpp"
#include "nemesis/mpsc_queue.hpp"

namespace shmemx::bench {
namespace {

constexpr std::size_t kCellHeader = 64;  // the link and the length; the data begin with a line of their own
constexpr std::size_t kMostCells = 64;
constexpr std::size_t kFewestCells = 4;
constexpr std::size_t kPoolBytes = std::size_t{4} << 20;

struct Queues {
  alignas(64) std::byte reserved[64];  // offset 0 is not a cell
  nemesis::MpscQueue receive;
  nemesis::MpscQueue free;
};

class MessageQueue final : public Mechanism {
 public:
  MessageQueue(Link& link, std::size_t chunk_bytes) : Mechanism(link), chunk_(chunk_bytes) {}

  void init() override {
    const std::size_t stride = kCellHeader + (chunk_ + 63) / 64 * 64;
    const std::size_t count = std::clamp(kPoolBytes / stride, kFewestCells, kMostCells);
    segment_.map(link_, sizeof(Queues) + count * stride);
    if (link_.local()) {
      queues_ = new (segment_.base()) Queues;
      for (std::size_t i = 0; i < count; ++i)
        queues_->free.enqueue(new (segment_.base() + sizeof(Queues) + i * stride) nemesis::Cell{});
    } else {
      queues_ = reinterpret_cast<Queues*>(segment_.base());
    }
    link_.barrier();
  }
  void finalize() override { segment_.unmap(); }

  void copy_local(const Transfer& transfer) override {
    std::byte* to = mine_.base + transfer.dest;
    for (std::size_t left = transfer.bytes; left > 0;) {
      nemesis::Cell* cell = dequeue(queues_->receive);
      const std::size_t bytes = length(cell);
      copy_bytes(to, data(cell), bytes);
      queues_->free.enqueue(cell);
      to += bytes;
      left -= std::min(bytes, left);
    }
  }

  void copy_remote(const Transfer& transfer) override {
    const std::byte* from = mine_.base + transfer.source;
    for (std::size_t left = transfer.bytes; left > 0;) {
      nemesis::Cell* cell = dequeue(queues_->free);
      const std::size_t bytes = std::min(left, chunk_);
      length(cell) = bytes;
      copy_bytes(data(cell), from, bytes);
      queues_->receive.enqueue(cell);
      from += bytes;
      left -= bytes;
    }
  }

 private:
  static std::uint64_t& length(nemesis::Cell* cell) { return *reinterpret_cast<std::uint64_t*>(cell->payload()); }
  static std::byte* data(nemesis::Cell* cell) { return reinterpret_cast<std::byte*>(cell) + kCellHeader; }

  nemesis::Cell* dequeue(nemesis::MpscQueue& from) {
    nemesis::Cell* cell = nullptr;
    link_.wait([&] { return (cell = from.try_dequeue()) != nullptr; });
    return cell;
  }

  CommonSegment segment_;
  Queues* queues_ = nullptr;
  std::size_t chunk_;
};

}  // namespace

std::unique_ptr<Mechanism> make_message_queue(Link& link, std::size_t chunk_bytes) {
  return std::make_unique<MessageQueue>(link, chunk_bytes);
}

}  // namespace shmemx::bench
