#include "interpose/gather.hpp"

#include <cstring>

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
  count_ = 0;
  filled_ = 0;
  return code;
}

}  // namespace shmemx::interpose
