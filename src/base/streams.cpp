#include "base/streams.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstddef>

namespace shmemx {
namespace {

constexpr timespec kPause{0, 1'000'000};
constexpr int kLooksForLock = 100;
constexpr int kLooksForThread = 1000;
constexpr std::size_t kStackBytes = std::size_t{1} << 18;  // the program's own stream write functions run on it

void flush_unless_locked(std::FILE* stream) {
  for (int look = 0; look < kLooksForLock; ++look) {
    if (::ftrylockfile(stream) == 0) {
      std::fflush(stream);
      ::funlockfile(stream);
      return;
    }
    ::nanosleep(&kPause, nullptr);
  }
}

constinit std::atomic<bool> all_flushed{false};

void* flush_all(void*) {
  std::fflush(nullptr);
  all_flushed.store(true, std::memory_order_release);  // flushed
  return nullptr;
}

bool start_flushing() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool started = ::pthread_create(&thread, &attributes, flush_all, nullptr) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

void flush_standard_streams() noexcept {
  flush_unless_locked(stdout);
  flush_unless_locked(stderr);
}

// Flushes in another thread, which may be left behind: fflush(nullptr) takes the lock of each stream in turn, and no
// call skips the locked ones.
void flush_all_streams() noexcept {
  all_flushed.store(false, std::memory_order_relaxed);
  if (!start_flushing()) return flush_standard_streams();
  for (int look = 0; look < kLooksForThread && !all_flushed.load(std::memory_order_acquire); ++look)  // flushed
    ::nanosleep(&kPause, nullptr);
}

}  // namespace shmemx
