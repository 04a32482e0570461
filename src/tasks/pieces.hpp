// Messages that travel in pieces because they are longer than a message may be, put together again. The pieces of one
// message arrive in their order, with those of other messages between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bulk_copy.hpp"
#include "base/bytes.hpp"

namespace shmemx::tasks {

// In front of each piece.
struct PieceHead {
  std::uint32_t message;  // tells the pieces of messages of one source apart
  std::uint32_t offset;
  std::uint32_t total;
  std::uint32_t detail;  // of the whole message; its meaning is that of the handler
};
static_assert(sizeof(PieceHead) == 16);

// `Memory` owns what a message is written to. Under the endpoint's lock.
template <class Memory>
class PartialMessages {
 public:
  enum class Added : std::uint8_t { damaged, part, whole };

  // Adds a piece. For the first one of a message, make(memory) makes the memory for head.total bytes, which the caller
  // has checked, and returns where they go. With the last one, `whole` takes the memory over. damaged: it does not fit
  // to the pieces before it, and nothing has changed.
  template <class Make>
  Added add(int source, const PieceHead& head, Bytes piece, const Make& make, Memory& whole) {
    auto at = std::find_if(list_.begin(), list_.end(),
                           [&](const Partial& p) { return p.source == source && p.message == head.message; });
    if (at == list_.end()) {
      if (head.offset != 0 || piece.size() > head.total) return Added::damaged;
      Partial begun{source, head.message, 0, head.total, nullptr, {}};
      begun.at = make(begun.memory);
      at = list_.insert(at, std::move(begun));
    }
    if (head.total != at->total || head.offset != at->received || piece.size() > at->total - at->received)
      return Added::damaged;
    copy_block(at->at + at->received, piece.data(), piece.size());
    at->received += static_cast<std::uint32_t>(piece.size());
    if (at->received != at->total) return Added::part;
    whole = std::move(at->memory);
    list_.erase(at);
    return Added::whole;
  }

  std::size_t count() const noexcept { return list_.size(); }
  // Forgets all, after drop(memory).
  template <class Drop>
  void clear(const Drop& drop) {
    for (Partial& partial : list_) drop(partial.memory);
    list_.clear();
  }

 private:
  struct Partial {
    int source;
    std::uint32_t message;
    std::uint32_t received;
    std::uint32_t total;
    std::byte* at;
    Memory memory;
  };
  std::vector<Partial> list_;
};

}  // namespace shmemx::tasks
