#include "tasks/memory.hpp"

#include <algorithm>
#include <new>

#include "base/fatal.hpp"

namespace shmemx::tasks {

void Budget::exceed(int peer, bool is_received) const noexcept {
  fatal("shmemx_task_send",
        "%zu bytes of tasks are queued on PE %d, the last ones %s PE %d; allowed are %zu (SHMEMX_TASKS_MAX)", used(),
        me_, is_received ? "of" : "for", peer, limit_);
}

Buffer* make_small_buffer(Budget& budget, std::size_t capacity, int source) noexcept {
  budget.take(capacity, source, true);
  void* const memory = ::operator new (sizeof(Buffer) + capacity, std::align_val_t{alignof(Buffer)}, std::nothrow);
  if (memory == nullptr) fatal("shmemx_task_send", "no memory for %zu bytes of tasks of PE %d", capacity, source);
  return new (memory) Buffer{1, 0, static_cast<std::uint32_t>(capacity), 0, nullptr};
}

Buffer* make_buffer(Budget& budget, std::size_t bytes, int source) noexcept {
  return make_small_buffer(budget, std::max(bytes, kBufferBytes), source);
}

void release_share(Budget& budget, Buffer* buffer) noexcept {
  if (buffer->shares.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // shared
  budget.give_back(buffer->capacity);
  ::operator delete (buffer, std::align_val_t{alignof(Buffer)});
}

}  // namespace shmemx::tasks
