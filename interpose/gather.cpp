#include "interpose/gather.hpp"

#include <cstring>

#include "interpose/direct.hpp"

namespace shmemx::interpose {

void GatheredPuts::add(std::uint64_t there, const void* data, std::size_t bytes) noexcept {
  there_[count_++] = {reinterpret_cast<void*>(there), bytes};
  std::memcpy(data_ + filled_, data, bytes);
  filled_ += bytes;
}

int GatheredPuts::send(shmemx_window_t window) noexcept {
  if (count_ == 0) return SHMEMX_SUCCESS;
  const shmemx_iov_t here{data_, filled_};
  const int code = shmemx_window_putv_nbi(window, there_, count_, &here, 1, nullptr);
  clear();
  return code;
}

int GatheredPuts::send_locked(shmemx_window_t lock, int kind, shmemx_window_t window, long* counter) noexcept {
  const shmemx_iov_t here{data_, filled_};
  const int code = shmemx_window_putv_locked_nbi(lock, kind, window, there_, count_, &here, 1, counter);
  clear();
  return code;
}

namespace {

struct Place {
  std::uint64_t address;
  std::uint64_t bytes;
};

// Returns false if the list is damaged or a place lies outside.
bool is_sound(const std::byte* list, std::size_t list_bytes, std::uint64_t base, std::uint64_t bytes) noexcept {
  std::uint64_t count = 0;
  if (list_bytes < sizeof count) return false;
  std::memcpy(&count, list, sizeof count);
  if (count > GatheredPuts::kMost || list_bytes < sizeof count + count * sizeof(Place)) return false;
  std::size_t data = list_bytes - sizeof count - count * sizeof(Place);
  for (std::size_t i = 0; i < count; ++i) {
    Place place{};
    std::memcpy(&place, list + sizeof count + i * sizeof place, sizeof place);
    if (place.bytes > data || place.bytes > bytes || place.address < base || place.address - base > bytes - place.bytes)
      return false;
    data -= place.bytes;
  }
  return data == 0;
}

}  // namespace

std::size_t GatheredPuts::take(std::byte* list) noexcept {
  const std::uint64_t count = count_;
  std::memcpy(list, &count, sizeof count);
  std::byte* at = list + sizeof count;
  for (std::size_t i = 0; i < count_; ++i) {
    const Place place{reinterpret_cast<std::uintptr_t>(there_[i].base), there_[i].bytes};
    std::memcpy(at, &place, sizeof place);
    at += sizeof place;
  }
  std::memcpy(at, data_, filled_);
  at += filled_;
  clear();
  return static_cast<std::size_t>(at - list);
}

bool GatheredPuts::execute(const std::byte* list, std::size_t list_bytes, std::byte* base, std::size_t bytes) noexcept {
  if (!is_sound(list, list_bytes, reinterpret_cast<std::uintptr_t>(base), bytes)) return false;
  std::uint64_t count = 0;
  std::memcpy(&count, list, sizeof count);
  const std::byte* place_at = list + sizeof count;
  const std::byte* data = place_at + count * sizeof(Place);
  for (std::size_t i = 0; i < count; ++i) {
    Place place{};
    std::memcpy(&place, place_at + i * sizeof place, sizeof place);
    copy_block(reinterpret_cast<void*>(place.address), data, place.bytes);
    data += place.bytes;
  }
  return true;
}

}  // namespace shmemx::interpose
