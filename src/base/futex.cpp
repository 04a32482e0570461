#include "base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace shmemx {
namespace {

long call_futex(std::atomic<std::uint32_t>& word, int operation, FutexScope scope, std::uint32_t value,
                const timespec* limit) {
  const int flags = scope == FutexScope::process ? FUTEX_PRIVATE_FLAG : 0;
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation | flags, value, limit, nullptr, 0);
}

}  // namespace

void futex_sleep(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t ns, FutexScope scope) noexcept {
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000U), static_cast<long>(ns % 1'000'000'000U)};
  call_futex(word, FUTEX_WAIT, scope, seen, &limit);
}

void futex_wake(std::atomic<std::uint32_t>& word, FutexScope scope) noexcept {
  call_futex(word, FUTEX_WAKE, scope, INT_MAX, nullptr);
}

}  // namespace shmemx
