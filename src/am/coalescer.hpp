// Short messages to one PE that travel as one message: a batch of items, each with a header that names its handler and
// its length. When a batch begins and when it leaves is decided by the owner: Gathering for messages to PEs of other
// nodes, tasks/ for tasks, whose batches for node peers hold one cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bulk_copy.hpp"
#include "base/bytes.hpp"
#include "base/cache_line.hpp"
#include "base/contact_table.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

using shmemx::Bytes;
using shmemx::copy_short;

// Items begin at multiples of its size.
struct ItemHeader {
  std::uint16_t handler;
  std::uint16_t detail;  // of the layer that the item belongs to
  std::uint32_t bytes;
};
static_assert(sizeof(ItemHeader) == 8);

class Batch {
 public:
  static constexpr std::size_t kBytes = transport::kLongBytes - kCacheLine;  // so a batch is a short message

  bool is_empty() const noexcept { return used_ == 0; }
  bool has_room(std::size_t bytes) const noexcept { return bytes <= most_ && used_ + room_for(bytes) <= most_; }
  // Requires room for header and payload together.
  [[gnu::always_inline]] void append(std::uint16_t handler, Bytes header, Bytes payload,
                                     std::uint16_t detail = 0) noexcept {
    const std::size_t bytes = header.size() + payload.size();
    std::byte* const at = data_ + used_;
    const ItemHeader item{handler, detail, static_cast<std::uint32_t>(bytes)};
    std::memcpy(at, &item, sizeof item);
    copy_short(at + sizeof item, header.data(), header.size());
    copy_payload(at + sizeof item + header.size(), payload);
    used_ += room_for(bytes);
    ++items_;
  }
  // Requires an empty batch and at most kBytes.
  void limit(std::size_t most) noexcept { most_ = static_cast<std::uint32_t>(most); }
  std::size_t most() const noexcept { return most_; }
  Bytes whole() const noexcept { return {data_, used_}; }
  std::uint32_t items() const noexcept { return items_; }
  void clear() noexcept {
    used_ = 0;
    items_ = looks_ = 0;
    most_ = kBytes;
    is_held_ = false;
  }

  // A batch of a session leaves only if it is full, if something has to follow it, or if it is old.
  void hold() noexcept { is_held_ = true; }
  bool is_held() const noexcept { return is_held_; }
  // To be called at intervals. Returns whether the batch has seen enough calls to be old.
  bool is_old_at_look() noexcept { return ++looks_ >= (is_held_ ? kLooksHeld : kLooks); }
  static constexpr std::uint32_t kLooks = 2;
  static constexpr std::uint32_t kLooksHeld = 20;

  static constexpr std::size_t room_for(std::size_t bytes) noexcept {
    return sizeof(ItemHeader) + round_up(bytes, sizeof(ItemHeader));
  }

 private:
  std::size_t used_ = 0;
  std::uint32_t items_ = 0;
  std::uint32_t looks_ = 0;
  std::uint32_t most_ = kBytes;  // bytes that it may hold
  bool is_held_ = false;
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
  static constexpr bool takes(std::size_t bytes, std::size_t batch_bytes = Batch::kBytes) noexcept {
    return Batch::room_for(bytes) <= batch_bytes / 2;
  }

  Coalescer() = default;
  Coalescer(const Coalescer&) = delete;
  Coalescer& operator=(const Coalescer&) = delete;
  ~Coalescer();
  void open(std::size_t n_pes) { batches_.open(n_pes); }

  // Appends a message to the batch for `pe`. Returns false if none has been begun or if it has no room.
  [[gnu::always_inline]] bool try_append(int pe, std::uint16_t handler, Bytes header, Bytes payload,
                                         std::uint16_t detail = 0) noexcept {
    Batch* const batch = batches_[pe];
    if (batch == nullptr || !batch->has_room(header.size() + payload.size())) [[unlikely]]
      return false;
    batch->append(handler, header, payload, detail);
    return true;
  }
  // Begins a batch with this message. Requires takes() and that there is none for `pe`.
  Batch& begin(int pe, std::uint16_t handler, Bytes header, Bytes payload) {
    Batch& batch = begin(pe);
    batch.append(handler, header, payload);
    return batch;
  }
  // Begins an empty batch.
  Batch& begin(int pe, std::size_t batch_bytes = Batch::kBytes);
  bool holds(int pe) const noexcept { return batches_[pe] != nullptr; }
  // Returns the length of the batch for `pe`; 0 if there is none.
  std::size_t bytes(int pe) const noexcept { return holds(pe) ? batches_[pe]->whole().size() : 0; }
  bool is_empty() const noexcept { return pes_.empty(); }
  std::size_t count() const noexcept { return pes_.size(); }
  // Returns a PE that has had a batch for a long time. Requires one.
  int oldest() const noexcept { return pes_.front(); }

  // Sends the batch for `pe` by try_send(pe, batch). Returns false if that does, and keeps the batch.
  template <class TrySend>
  bool send(int pe, TrySend&& try_send) {
    const Batch* const batch = batches_[pe];
    if (batch == nullptr) return true;
    if (!try_send(pe, *batch)) return false;
    release(pe);
    return true;
  }
  // Sends the batches for which is_due(pe, batch) holds and for which there is room. Returns whether none is left.
  template <class IsDue, class TrySend>
  bool send_due(IsDue&& is_due, TrySend&& try_send) {
    for (std::size_t i = pes_.size(); i-- > 0;) {
      if (i < pes_.size() && is_due(pes_[i], *batches_[pes_[i]])) send(pes_[i], try_send);
    }
    return pes_.empty();
  }
  template <class TrySend>
  bool send_all(TrySend&& try_send) {
    return send_due([](int, const Batch&) { return true; }, try_send);
  }

  // Hands out the batch for `pe`, which must have one; give_back() takes it.
  std::unique_ptr<Batch> take(int pe);
  void give_back(std::unique_ptr<Batch> batch);

 private:
  void release(int pe) { give_back(take(pe)); }

  ContactTable<Batch*> batches_;                // null if there is none; owned
  std::vector<std::int32_t> pes_;               // those with a batch, in the order of their begin
  std::vector<std::unique_ptr<Batch>> unused_;  // empty ones
};

}  // namespace shmemx::am
