#include "tasks/handlers.hpp"

#include "base/contact_table.hpp"

namespace shmemx::tasks {

bool HandlerTable::set(std::uint16_t id, HandlerKind kind, HandlerFunction function, void* argument) noexcept {
  std::atomic<Handler*>& page = pages_[id / kPageHandlers];
  if (page.load(std::memory_order_relaxed) == nullptr)  // changed under the lock
    page.store(reinterpret_cast<Handler*>(reserve_zeros(kPageHandlers * sizeof(Handler))),
               std::memory_order_release);  // page
  Handler& entry = page.load(std::memory_order_relaxed)[id % kPageHandlers];
  if (entry.kind != HandlerKind::none && entry.kind != kind) return false;
  std::atomic_ref(entry.function).store(function, std::memory_order_relaxed);  // registered
  std::atomic_ref(entry.argument).store(argument, std::memory_order_relaxed);  // registered
  const HandlerKind now = function == nullptr ? HandlerKind::none : kind;
  std::atomic_ref(entry.kind).store(now, std::memory_order_release);  // registered
  return true;
}

}  // namespace shmemx::tasks
