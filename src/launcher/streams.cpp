#include "streams.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace shmemx::launcher {

bool write_all(int fd, const char* text, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(fd, text, bytes);
    if (n < 0 && errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void TaggedStream::forward() {
  char buffer[16384];
  const ssize_t n = ::read(source_.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    close();
    return;
  }
  unprinted_.append(buffer, static_cast<std::size_t>(n));
  print_lines(false);
}

void TaggedStream::close() {
  if (!open()) return;
  source_.reset();
  print_lines(true);
}

void TaggedStream::print_lines(bool rest) {
  constexpr std::size_t kLongestLine = 1 << 16;
  std::string text;
  std::size_t at = 0;
  for (;;) {
    const std::size_t end = unprinted_.find('\n', at);
    if (end == std::string::npos) break;
    text += tag_;
    text.append(unprinted_, at, end + 1 - at);
    at = end + 1;
  }
  unprinted_.erase(0, at);
  if (!unprinted_.empty() && (rest || unprinted_.size() > kLongestLine)) {
    text += tag_ + unprinted_ + "\n";
    unprinted_.clear();
  }
  if (text.empty() || write_all(dest_, text.data(), text.size())) return;
  // The PE's next write fails as if it wrote to that file itself.
  write_error_ = errno;
  unprinted_.clear();
  source_.reset();
}

}  // namespace shmemx::launcher
