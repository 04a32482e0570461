#include "rma/cma.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bootstrap/wire.hpp"

namespace shmemx::rma {
namespace {

constexpr std::size_t kMostPlaces = 128;  // of each side in one system call; both lists lie on stacks of 16 KiB, too
constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // the kernel counts in a signed number

// The next places of a shape, as the kernel takes them.
struct Places {
  iovec vectors[kMostPlaces];
  std::size_t count = 0;
  std::size_t bytes = 0;

  Places(Cursor cursor, std::size_t most) noexcept {
    while (count < kMostPlaces) {
      const Place place = cursor.next(most - bytes);
      if (place.bytes == 0) return;
      vectors[count++] = {place.at, place.bytes};
      bytes += place.bytes;
      cursor.advance(place.bytes);
    }
  }
};

using SystemCall = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

long move(SystemCall call, pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept {
  const Places there(remote, std::min(most, kMostBytes));
  const Places here(local, there.bytes);
  ssize_t bytes;
  do bytes = call(pid, here.vectors, here.count, there.vectors, there.count, 0);
  while (bytes < 0 && errno == EINTR);
  if (bytes < 0) return -static_cast<long>(errno);
  local.advance(static_cast<std::size_t>(bytes));
  remote.advance(static_cast<std::size_t>(bytes));
  return bytes;
}

}  // namespace

CmaProbe own_cma_probe() noexcept {
  static const std::uint64_t value = bootstrap::random_id();
  return {reinterpret_cast<std::uintptr_t>(&value), value, static_cast<std::int32_t>(::getpid())};
}

long cma_read(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept {
  return move(::process_vm_readv, pid, local, remote, most);
}

long cma_write(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept {
  return move(::process_vm_writev, pid, local, remote, most);
}

}  // namespace shmemx::rma
