#include "races/local_words.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <mutex>

namespace shmemx::races {
namespace {

SyncTable local_table;
SpinLock local_lock;

SyncTable& table() noexcept {
  const std::lock_guard guard(local_lock);
  if (!local_table.is_open()) {
    const std::size_t bytes = SyncTable::bytes(job.clock_capacity());
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    local_table.open(static_cast<std::byte*>(at), job.clock_capacity());
  }
  return local_table;
}

Thread* thread_of_program() noexcept {
  Thread* const thread = current_thread();
  return thread != nullptr && thread->in_library == 0 ? thread : nullptr;
}

}  // namespace

SyncWord& local_word(std::uint64_t word) noexcept { return table().at(word); }

void release_word(std::uint64_t word) noexcept {
  Thread* const thread = thread_of_program();
  if (thread == nullptr) return;
  SyncWord& found = local_word(word);
  {
    const std::lock_guard guard(found.lock);
    found.clock().join(*thread->clock, job.n_slots());
  }
  thread->advance();
}

void acquire_word(std::uint64_t word) noexcept {
  Thread* const thread = thread_of_program();
  if (thread == nullptr) return;
  SyncWord& found = local_word(word);
  const std::lock_guard guard(found.lock);
  thread->acquire(found.clock());
}

void clear_own_stack() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (::pthread_attr_getstack(&attributes, &begin, &bytes) == 0)
    memory_map.clear(reinterpret_cast<std::uintptr_t>(begin), bytes);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace shmemx::races
