// The threads of this PE: what each knows, and the calls that it is in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "races/cell_lock.hpp"
#include "races/job.hpp"
#include "races/marks.hpp"
#include "races/memory_map.hpp"
#include "races/shadow.hpp"

namespace shmemx::races {

struct Frame {
  std::uint32_t site;  // where it was called, less the executable's begin
  std::uint32_t node;  // 0: not known yet
};

struct Thread {
  static constexpr std::uint32_t kMostFrames = 512;

  Stamp now;  // its slot and epoch
  Mark mark = kNoMark;
  std::uint32_t depth = 0;
  std::uint32_t number = 0;
  int in_library = 0;       // calls of this library's own; what they do is none of the program's
  bool has_fenced = false;  // used atomic_thread_fence: relaxed atomics then count as acquire and release
  Clock* clock = nullptr;
  Frame frames[kMostFrames];

  // Its accesses from now on are later than what it has released.
  void advance() noexcept;
  Knowledge knowledge() const noexcept { return {clock, {}}; }
  void acquire(const Clock& other) noexcept { clock->join(other, job.n_slots()); }
};

// Null outside of init .. finalize, and for threads that are none of the program.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Thread* self;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool is_internal;
// The mark of its stores, twice.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::uint64_t own_stores;

// The caller is `thread` from now on, or none.
inline void become(Thread* thread) noexcept {
  self = thread;
  CellLocks::become_owner(thread != nullptr && thread->number == 0);
  own_stores = Marks::of_stores(thread == nullptr ? kNoMark : thread->mark);
}

inline void Thread::advance() noexcept {
  now.epoch = clock->advance(now.slot);
  mark = marks.next();
  if (self == this) own_stores = Marks::of_stores(mark);
}

// The thread of the caller, made at its first use; null if nothing is to be recorded.
Thread* current_thread() noexcept;
Thread* make_first_thread() noexcept;
// A new thread with what its creator knows; null if there are too many.
Thread* make_thread(const Clock* known) noexcept;
// Its slot is given to a later thread, whose creator knows all that this one did.
void retire_thread(Thread* thread) noexcept;

// Marks a stretch in which loads and stores of this thread are none of the program.
class InLibrary {
 public:
  InLibrary() noexcept : thread_(self) {
    if (thread_ != nullptr) ++thread_->in_library;
  }
  ~InLibrary() {
    if (thread_ != nullptr) --thread_->in_library;
  }
  InLibrary(const InLibrary&) = delete;
  InLibrary& operator=(const InLibrary&) = delete;

 private:
  Thread* thread_;
};

// The node of the call that the thread is in; 0 outside of all calls. The second one returns false if there is none
// yet.
std::uint32_t stack_node(Thread& thread) noexcept;
inline bool find_stack_node(const Thread& thread, std::uint32_t& node) noexcept {
  const std::uint32_t innermost = thread.depth - 1;
  node = innermost < Thread::kMostFrames ? thread.frames[innermost].node : 0;
  return node != 0 || thread.depth == 0;
}

struct Executable {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool holds(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
  }
};
extern constinit Executable executable;
extern constinit Executable cxx_library;  // that of C++, if it is a shared one
inline std::uint32_t site_of(const void* return_address) noexcept {
  if (!executable.holds(return_address)) return 0;
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) - executable.begin);
}

}  // namespace shmemx::races
