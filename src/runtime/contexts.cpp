#include "runtime/contexts.hpp"

#include <mutex>

#include "base/mutex.hpp"
#include "check/leaks.hpp"
#include "onesided/direct.hpp"
#include "stats/counters.hpp"

namespace shmemx::runtime {
namespace {

constinit Mutex table_mutex;
constinit std::uint64_t generation = 0;
constinit std::size_t first_maybe_free = context::kDefaultContext + 1;
constinit std::size_t used_end = context::kDefaultContext + 1;  // entries from here on have never been used

// Requires the mutex. Calls use(context) for each context that has been created and not destroyed.
template <class Use>
void for_each_context(const Use& use) {
  for (std::size_t i = context::kDefaultContext + 1; i < used_end; ++i) {
    if (context::context_table[i].handle != 0) use(context::context_table[i]);
  }
}

// Requires the mutex.
void clear(context::Context& context) {
  const auto index = static_cast<std::size_t>(&context - context::context_table);
  stats::retire_context(index);
  check::forget_handle(check::Handle::context, static_cast<std::uint32_t>(index));
  context = context::Context{};
  if (index < first_maybe_free) first_maybe_free = index;
}

}  // namespace

std::uint64_t create_context(const coll::Team& team) noexcept {
  const std::lock_guard guard(table_mutex);
  std::size_t index = first_maybe_free;
  while (index < context::kMaxContexts && context::context_table[index].handle != 0) ++index;
  if (index == context::kMaxContexts) return 0;
  first_maybe_free = index + 1;
  if (index >= used_end) used_end = index + 1;
  context::Context& entry = context::context_table[index];
  entry = team.route;
  entry.by_messages = false;
  entry.session_options = 0;
  entry.session_total_ops = ~std::uint64_t{0};
  onesided::open_direct(entry);
  entry.handle = ++generation * context::kMaxContexts + index;
  return entry.handle;
}

void destroy_context(context::Context& context) noexcept {
  const std::lock_guard guard(table_mutex);
  clear(context);
}

std::vector<context::Context*> contexts_of(std::uint32_t team_index) noexcept {
  const std::lock_guard guard(table_mutex);
  std::vector<context::Context*> found;
  for_each_context([&](context::Context& entry) {
    if (entry.team_index == team_index) found.push_back(&entry);
  });
  return found;
}

void drop_contexts_of(std::uint32_t team_index) noexcept {
  const std::lock_guard guard(table_mutex);
  for_each_context([&](context::Context& entry) {
    if (entry.team_index == team_index) clear(entry);
  });
}

void drop_contexts() noexcept {
  const std::lock_guard guard(table_mutex);
  for_each_context(clear);
}

void make_contexts_unusable() noexcept {
  for (std::size_t i = context::kDefaultContext + 1; i < used_end; ++i)
    context::make_unusable(context::context_table[i]);
}

}  // namespace shmemx::runtime
