// Short messages to a PE of another node that travel as one: items behind each other, each with a head that says whose
// it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/cache_line.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

using Bytes = std::span<const std::byte>;

// Without a call where the length is known, or a word.
[[gnu::always_inline]] inline void copy_short(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes != 0) {
    std::memcpy(to, from, bytes);
  }
}
struct ItemHead {
  std::uint16_t handler;
  std::uint16_t reserved;
  std::uint32_t bytes;
  std::uint64_t padding;  // so that the payload is aligned as that of a message
};
static_assert(sizeof(ItemHead) == 16);

class Batch {
 public:
  static constexpr std::size_t kBytes = transport::kLongBytes - kCacheLine;  // as a whole it is a short message

  bool is_empty() const noexcept { return used_ == 0; }
  bool has_room(std::size_t bytes) const noexcept { return bytes <= kBytes && used_ + room_for(bytes) <= kBytes; }
  // Wants room for both together.
  [[gnu::always_inline]] void append(std::uint16_t handler, Bytes header, Bytes body) noexcept {
    const std::size_t bytes = header.size() + body.size();
    std::byte* const at = data_ + used_;
    const ItemHead head{handler, 0, static_cast<std::uint32_t>(bytes), 0};
    std::memcpy(at, &head, sizeof head);
    copy_short(at + sizeof head, header.data(), header.size());
    copy_short(at + sizeof head + header.size(), body.data(), body.size());
    used_ += room_for(bytes);
  }
  Bytes whole() const noexcept { return {data_, used_}; }
  void clear() noexcept { used_ = 0; }

  static constexpr std::size_t room_for(std::size_t bytes) noexcept {
    return sizeof(ItemHead) + round_up(bytes, sizeof(ItemHead));
  }

 private:
  std::size_t used_ = 0;
  alignas(kCacheLine) std::byte data_[kBytes];
};

// Takes the first item off `rest`. False: it is no item; `rest` stays.
inline bool take_item(Bytes& rest, ItemHead& head, Bytes& payload) noexcept {
  if (rest.size() < sizeof head) return false;
  std::memcpy(&head, rest.data(), sizeof head);
  const std::size_t bytes = Batch::room_for(head.bytes);
  if (bytes > rest.size()) return false;
  payload = rest.subspan(sizeof head, head.bytes);
  rest = rest.subspan(bytes);
  return true;
}

}  // namespace shmemx::am
