// A call of a routine of the library by the program: from its entry to its return, loads and stores of this thread are
// not the program's. What the routine does is recorded as the standard has it, whatever the library does.
#pragma once

#include <cstring>
#include <optional>
#include <type_traits>

#include "races/access.hpp"
#include "races/channel.hpp"
#include "sync/compare.hpp"

namespace shmemx::races {

class Routine {
 public:
  explicit Routine(const CallPlace& call) noexcept : thread_(current_thread()) {
    if (thread_ == nullptr) return;
    if (thread_->in_library++ == 0) where_ = where_of(*thread_, call);
  }
  ~Routine() {
    if (word_ != nullptr) release_word();
    if (thread_ != nullptr) --thread_->in_library;
  }
  Routine(const Routine&) = delete;
  Routine& operator=(const Routine&) = delete;

  // Is it called by the program, in a job that is watched?
  bool is_watched() const noexcept { return thread_ != nullptr && thread_->in_library == 1; }
  Thread& thread() const noexcept { return *thread_; }
  const Where& where() const noexcept { return where_; }
  // The word stays locked until the routine has returned, so that its value and its clock change together. Of an update
  // that waits may look for, the value is remembered.
  void hold(SyncWord& word) noexcept;
  void hold_update(SyncWord& word, const Symmetric& place, std::size_t bytes) noexcept;

 private:
  Thread* thread_;
  Where where_;
  SyncWord* word_ = nullptr;
  const void* updated_ = nullptr;  // in this process; null: no update that is remembered
  History::Update update_{};

  void release_word() noexcept;
};

// Blocks at equal distances.
struct Blocks {
  const void* at;
  std::size_t block_bytes;
  std::size_t count = 1;
  std::size_t step = 0;
};

// Puts and gets; `pe` counts in the context's team.
struct Transfer {
  shmem_ctx_t context;
  int pe;
  Blocks dest;
  Blocks source;
  bool is_nonblocking = false;
  std::size_t element_bytes = 8;  // 1: also longer words
};
void note_put(Routine& routine, const Transfer& transfer) noexcept;
void note_get(Routine& routine, const Transfer& transfer) noexcept;

struct SignalUpdate {
  const void* address;
};
// Without `transfer.source`, only the signal is updated.
void note_signal(Routine& routine, const Transfer& transfer, const SignalUpdate& signal) noexcept;

enum class Atomic { load, update, update_of_bits };  // what it does to the word; waits rarely look for bits
enum class Result { none, now, after_quiet };        // when its result is there
struct AtomicOperation {
  shmem_ctx_t context;
  int pe;
  const void* address;
  std::size_t bytes;
  Atomic access;
  Result result;
  void* fetch = nullptr;  // where it is, after quiet
};
void note_atomic(Routine& routine, const AtomicOperation& operation) noexcept;

// A wait or test looks at words of this PE; what it has found to satisfy it.
void note_wait(Routine& routine, const Blocks& words) noexcept;
// The condition of a wait; none: it depends on the value that is there by now.
struct Condition {
  bool (*holds)(std::uint64_t word, const Condition& condition) noexcept = nullptr;
  int comparison = 0;
  std::uint64_t value = 0;
};
template <class T>
Condition condition(int comparison, T value) noexcept;
void note_satisfied(Routine& routine, const void* word, std::size_t bytes, const Condition& condition = {}) noexcept;

// Of a PE of the world.
void record_remote_blocks(Routine& routine, const Blocks& blocks, int pe, const Operation& operation) noexcept;
void note_local(Routine& routine, const Blocks& blocks, Kind kind) noexcept;
void note_fence(Routine& routine, shmem_ctx_t context) noexcept;
void note_quiet(Routine& routine, shmem_ctx_t context, int pe) noexcept;

template <class T>
Blocks elements(const void* at, std::size_t count) noexcept {
  return {at, count * sizeof(T)};
}
// Of `block` elements each; the stride counts elements.
template <class T>
Blocks strided(const void* at, std::ptrdiff_t stride, std::size_t block, std::size_t count) noexcept {
  return {at, block * sizeof(T), count, static_cast<std::size_t>(stride) * sizeof(T)};
}

template <class T>
bool holds(std::uint64_t word, const Condition& condition) noexcept {
  T a;
  T b;
  std::memcpy(&a, &word, sizeof a);
  std::memcpy(&b, &condition.value, sizeof b);
  return sync::compares(a, condition.comparison, b);
}
template <class T>
Condition condition(int comparison, T value) noexcept {
  Condition made{holds<T>, comparison, 0};
  std::memcpy(&made.value, &value, sizeof value);
  return made;
}

// Calls the library's routine, then after(). Returns what the routine returns.
template <class Real, class After>
auto call_then(Real real, After after) noexcept {
  if constexpr (std::is_void_v<decltype(real())>) {
    real();
    after();
  } else {
    const auto result = real();
    after();
    return result;
  }
}

}  // namespace shmemx::races
