// Short messages to one PE of another node that travel as one message: a batch of items, each with a header that names
// its handler and its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bytes.hpp"
#include "base/cache_line.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

using shmemx::Bytes;
using shmemx::copy_short;

struct ItemHeader {
  std::uint16_t handler;
  std::uint16_t reserved;
  std::uint32_t bytes;
  std::uint64_t padding;  // aligns the payload like that of a message
};
static_assert(sizeof(ItemHeader) == 16);

class Batch {
 public:
  static constexpr std::size_t kBytes = transport::kLongBytes - kCacheLine;  // so a batch is a short message

  bool is_empty() const noexcept { return used_ == 0; }
  bool has_room(std::size_t bytes) const noexcept { return bytes <= kBytes && used_ + room_for(bytes) <= kBytes; }
  // Requires room for header and payload together.
  [[gnu::always_inline]] void append(std::uint16_t handler, Bytes header, Bytes payload) noexcept {
    const std::size_t bytes = header.size() + payload.size();
    std::byte* const at = data_ + used_;
    const ItemHeader item{handler, 0, static_cast<std::uint32_t>(bytes), 0};
    std::memcpy(at, &item, sizeof item);
    copy_short(at + sizeof item, header.data(), header.size());
    copy_short(at + sizeof item + header.size(), payload.data(), payload.size());
    used_ += room_for(bytes);
  }
  Bytes whole() const noexcept { return {data_, used_}; }
  void clear() noexcept { used_ = 0; }

  static constexpr std::size_t room_for(std::size_t bytes) noexcept {
    return sizeof(ItemHeader) + round_up(bytes, sizeof(ItemHeader));
  }

 private:
  std::size_t used_ = 0;
  alignas(kCacheLine) std::byte data_[kBytes];
};

// Takes the first item off `rest`. Returns false, and leaves `rest` as it is, if there is no valid item.
inline bool take_item(Bytes& rest, ItemHeader& item, Bytes& payload) noexcept {
  if (rest.size() < sizeof item) return false;
  std::memcpy(&item, rest.data(), sizeof item);
  const std::size_t bytes = Batch::room_for(item.bytes);
  if (bytes > rest.size()) return false;
  payload = rest.subspan(sizeof item, item.bytes);
  rest = rest.subspan(bytes);
  return true;
}

// The batches that have been begun and not yet sent, one for each PE at most. Under the endpoint's lock.
class Coalescer {
 public:
  // Longer messages gain nothing: they leave alone.
  static constexpr bool takes(std::size_t bytes) noexcept { return Batch::room_for(bytes) <= Batch::kBytes / 2; }

  void open(std::size_t n_pes) { batches_.resize(n_pes); }

  // Appends a message to the batch for `pe`. Returns false if none has been begun or if it has no room.
  [[gnu::always_inline]] bool try_append(int pe, std::uint16_t handler, Bytes header, Bytes payload) noexcept {
    Batch* const batch = batches_[static_cast<std::size_t>(pe)].get();
    if (batch == nullptr || !batch->has_room(header.size() + payload.size())) [[unlikely]]
      return false;
    batch->append(handler, header, payload);
    return true;
  }
  // Begins a batch with this message. Requires takes() and that there is none for `pe`.
  void begin(int pe, std::uint16_t handler, Bytes header, Bytes payload);
  bool holds(int pe) const noexcept { return batches_[static_cast<std::size_t>(pe)] != nullptr; }
  bool is_empty() const noexcept { return pes_.empty(); }

  // Sends the batch for `pe` by try_send(pe, bytes). Returns false if that does, and keeps the batch.
  template <class TrySend>
  bool send(int pe, TrySend&& try_send) {
    std::unique_ptr<Batch>& batch = batches_[static_cast<std::size_t>(pe)];
    if (batch == nullptr) return true;
    if (!try_send(pe, batch->whole())) return false;
    release(pe);
    return true;
  }
  // Sends all batches for which there is room. Returns whether none is left.
  template <class TrySend>
  bool send_all(TrySend&& try_send) {
    for (std::size_t i = pes_.size(); i-- > 0;) {
      if (i < pes_.size()) send(pes_[i], try_send);
    }
    return pes_.empty();
  }

 private:
  void release(int pe);

  std::vector<std::unique_ptr<Batch>> batches_;  // by PE; null if there is none
  std::vector<std::uint16_t> pes_;               // those with a batch
  std::vector<std::unique_ptr<Batch>> unused_;   // empty ones
};

}  // namespace shmemx::am
