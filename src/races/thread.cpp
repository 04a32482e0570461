#include "races/thread.hpp"

#include <link.h>
#include <sys/mman.h>

#include <mutex>
#include <string_view>

#include "base/object_name.hpp"

namespace shmemx::races {
namespace {

constexpr std::uint32_t kMostThreads = 4096;

struct Threads {
  SpinLock lock;
  Thread* retired[kMostThreads];
  std::uint32_t n_retired;
  std::uint32_t n_made;
};
constinit Threads threads{};

// Threads are never unmapped: their slots and epochs live on.
Thread* allocate() noexcept {
  const std::size_t clock_at = (sizeof(Thread) + 63) / 64 * 64;
  void* const at =
      ::mmap(nullptr, clock_at + Clock::bytes(kMostSlots), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* const thread = new (at) Thread;
  thread->clock = reinterpret_cast<Clock*>(static_cast<std::byte*>(at) + clock_at);
  return thread;
}

}  // namespace

constinit Executable executable{};
constinit Executable cxx_library{};
constinit thread_local Thread* self = nullptr;
constinit thread_local bool is_internal = false;
constinit thread_local std::uint64_t own_stores = Marks::of_stores(kNoMark);

namespace {

int visit_object(dl_phdr_info* info, std::size_t, void*) {
  const std::string_view name = info->dlpi_name;
  if (name.find("/libstdc++.so") == name.npos && name.find("/libc++.so") == name.npos) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) cxx_library = {begin, begin + header.p_memsz};
  }
  return 1;
}

}  // namespace

Thread* make_first_thread() noexcept {
  executable = {reinterpret_cast<std::uintptr_t>(executable_begin()), executable_end()};
  ::dl_iterate_phdr(visit_object, nullptr);
  Thread* const thread = allocate();
  if (thread == nullptr) return nullptr;
  thread->now.slot = static_cast<Slot>(job.my_pe() + 1);
  thread->advance();
  return thread;
}

namespace {

// Is the creator of a new thread behind the end of this one? Else the two have nothing to do with each other, and what
// they do has to stay apart.
bool is_known_to(const Thread& retired, const Clock* creator) noexcept {
  return creator != nullptr && creator->knows_prefix(retired.now.slot, retired.now.epoch - 1);
}
Thread* take_retired(const Clock* creator) noexcept {
  const bool is_any = job.n_slots() > kMostSlots / 2;  // few are left for threads and contexts to come
  const std::lock_guard guard(threads.lock);
  for (std::uint32_t i = threads.n_retired; i != 0; --i) {
    Thread* const found = threads.retired[i - 1];
    if (!is_any && !is_known_to(*found, creator)) continue;
    threads.retired[i - 1] = threads.retired[--threads.n_retired];
    return found;
  }
  return nullptr;
}

}  // namespace

Thread* make_thread(const Clock* known) noexcept {
  cell_locks.share_private();
  Thread* thread = take_retired(known);
  if (thread == nullptr) {
    const std::uint32_t number = std::atomic_ref(threads.n_made).fetch_add(1, std::memory_order_relaxed) + 1;
    const Slot slot = job.new_slot({.pe = job.my_pe(), .thread = number});
    if (slot == kNoSlot || (thread = allocate()) == nullptr) return nullptr;
    thread->now.slot = slot;
    thread->number = number;
  }
  thread->depth = 0;
  if (known != nullptr) thread->acquire(*known);
  thread->advance();
  return thread;
}

void retire_thread(Thread* thread) noexcept {
  if (thread->number == 0) return;  // its successor would be an owner of cells
  const std::lock_guard guard(threads.lock);
  if (threads.n_retired < kMostThreads) threads.retired[threads.n_retired++] = thread;
}

Thread* current_thread() noexcept {
  if (self == nullptr && job.is_open() && !is_internal) become(make_thread(nullptr));
  return self;
}

std::uint32_t stack_node(Thread& thread) noexcept {
  std::uint32_t depth = thread.depth < Thread::kMostFrames ? thread.depth : Thread::kMostFrames;
  if (depth == 0) return 0;
  if (thread.frames[depth - 1].node != 0) return thread.frames[depth - 1].node;
  std::uint32_t known = depth - 1;
  while (known != 0 && thread.frames[known - 1].node == 0) --known;
  std::uint32_t node = known == 0 ? 0 : thread.frames[known - 1].node;
  for (; known < depth; ++known)
    node = thread.frames[known].node = job.calls().add({node, thread.frames[known].site, 0});
  return node;
}

}  // namespace shmemx::races
