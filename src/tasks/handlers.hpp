// The functions that a program has registered, by number. Tasks and active messages share the numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace shmemx::tasks {

inline constexpr int kHandlers = 65536;

enum class HandlerKind : std::uint8_t { none, active, task };
using HandlerFunction = void (*)(int source, const void* payload, std::size_t bytes, void* argument);

struct Handler {
  HandlerFunction function;
  void* argument;
  HandlerKind kind;
};

// Changed under the endpoint's lock. Read under it, or by the thread in the scheduler.
// Edge:  page        release of a page's address in set() -> acquire in find()  its zeros
//        registered  release of `kind` in set() -> acquire in find()  function and argument
class HandlerTable {
 public:
  // Returns false, and changes nothing, if the number is one of the other kind. A null function removes the entry.
  bool set(std::uint16_t id, HandlerKind kind, HandlerFunction function, void* argument) noexcept;
  // Returns a null function if no handler of that kind has the number.
  Handler find(std::uint16_t id, HandlerKind kind) const noexcept {
    Handler* const page = pages_[id / kPageHandlers].load(std::memory_order_acquire);  // page
    if (page == nullptr) [[unlikely]]
      return {};
    Handler& entry = page[id % kPageHandlers];
    if (std::atomic_ref(entry.kind).load(std::memory_order_acquire) != kind) return {};  // registered
    return {std::atomic_ref(entry.function).load(std::memory_order_relaxed),             // registered
            std::atomic_ref(entry.argument).load(std::memory_order_relaxed), kind};      // registered
  }

 private:
  static constexpr int kPageHandlers = 256;

  // Pages of numbers that nobody uses are null. The others stay: threads may read them while the process exits.
  std::atomic<Handler*> pages_[kHandlers / kPageHandlers] = {};
};

inline constinit HandlerTable handler_table;

}  // namespace shmemx::tasks
