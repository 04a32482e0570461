// The functions that a program has registered, by number. Tasks and active messages share the numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/contact_table.hpp"

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
// Edge:  registered  release of `kind` in set() -> acquire in find()  function and argument
class HandlerTable {
 public:
  // Makes an empty table; only the first call does anything.
  void open() noexcept {
    if (table_.size() == 0) table_.open(kHandlers);
  }
  // Returns false, and changes nothing, if the number is one of the other kind. A null function removes the entry.
  bool set(std::uint16_t id, HandlerKind kind, HandlerFunction function, void* argument) noexcept;
  // Returns a null function if no handler of that kind has the number.
  Handler find(std::uint16_t id, HandlerKind kind) noexcept {
    Handler& entry = table_[id];
    if (std::atomic_ref(entry.kind).load(std::memory_order_acquire) != kind) return {};  // registered
    return {std::atomic_ref(entry.function).load(std::memory_order_relaxed),             // registered
            std::atomic_ref(entry.argument).load(std::memory_order_relaxed), kind};      // registered
  }

 private:
  ContactTable<Handler> table_;  // by number: pages of numbers that nobody uses take no memory
};

inline constinit HandlerTable handler_table;

}  // namespace shmemx::tasks
