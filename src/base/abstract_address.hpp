// The address of a Unix socket in the abstract namespace, which leaves no name in the file system.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace shmemx {

class AbstractAddress {
 public:
  // The name, as for printf; it is cut if it is longer than an address may be.
  [[gnu::format(printf, 2, 3)]] explicit AbstractAddress(const char* format, ...) noexcept {
    address_.sun_family = AF_UNIX;
    std::va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(address_.sun_path + 1, kRoom, format, arguments);
    va_end(arguments);
    const auto used = std::min(static_cast<std::size_t>(std::max(length, 0)), kRoom - 1);
    bytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + used);
  }

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t kRoom = sizeof(sockaddr_un::sun_path) - 1;

  sockaddr_un address_{};
  socklen_t bytes_ = 0;
};

}  // namespace shmemx
