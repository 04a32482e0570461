#include "access/attached.hpp"

#include <shmemx/windows.h>

#include "access/cma.hpp"
#include "access/node.hpp"
#include "access/remote.hpp"
#include "channel/channel.hpp"
#include "context/route.hpp"

namespace shmemx::access {
namespace {

bool may_map() { return node().path == WindowPath::automatic || node().path == WindowPath::mapped; }

// On the queue path nothing of another PE is touched directly, unless it is asked for.
bool may_use_cma() {
  return node().path == WindowPath::cma || (node().path == WindowPath::automatic && context::all_mapped);
}

std::byte* map_symmetric(const Description& description) {
  const context::Context& world = context::default_context();
  if (!context::all_mapped) return nullptr;
  const bool heap = description.kind == Kind::heap;
  std::byte* const of_pe0 = heap ? world.heap0 : world.static0;
  return of_pe0 + static_cast<std::int64_t>(description.owner) * world.pe_step + description.place;
}

// Null: it has to go another way. False: it should have worked, but there is no address space.
bool map_window(const Description& description, std::byte*& mapped) {
  mapped = nullptr;
  if (description.owner == node().me) {
    mapped = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(description.base));
    return true;
  }
  if (!may_map()) return true;
  if (description.kind == Kind::heap || description.kind == Kind::statics) {
    mapped = map_symmetric(description);
    return true;
  }
  if (description.kind != Kind::allocated || (!context::all_mapped && node().path != WindowPath::mapped)) return true;
  mapped = map_memory(description.owner, description.place, description.bytes);
  return mapped != nullptr || !context::all_mapped;
}

}  // namespace

Code attach_window(const Description& description, std::uint64_t& handle) noexcept {
  if (!is_sealed(description, node().key, node().n_pes) || description.name.index >= windows::kMaxWindows)
    return SHMEMX_ERR_DESCRIPTION;
  Directory* const directory = directory_of(description.owner);
  if (directory == nullptr) return SHMEMX_ERR_MEMORY;
  Life& life = directory->lives[description.name.index];
  if (life.generation.load(std::memory_order_acquire) != description.name.generation) return SHMEMX_ERR_STALE;
  std::byte* mapped = nullptr;
  if (!map_window(description, mapped)) return SHMEMX_ERR_MEMORY;
  const std::int32_t pid = mapped == nullptr && may_use_cma() ? reachable_pid(description.owner) : 0;
  if (mapped == nullptr) expect_answers();
  handle = attached_table.table.add([&](Attached& window) {
    window.base = description.base;
    window.bytes = description.bytes;
    window.mapped = mapped;
    window.life = &life;
    window.front = &channel::own_endpoint.front_of(description.owner);
    window.name = description.name;
    window.owner = description.owner;
    window.pid = pid;
    window.open.store(0, std::memory_order_relaxed);        // nobody has the handle yet
    window.late_error.store(0, std::memory_order_relaxed);  // nobody has the handle yet
  });
  return handle == 0 ? SHMEMX_ERR_LIMIT : SHMEMX_SUCCESS;
}

Code detach_window(const char* routine, std::uint64_t handle) noexcept {
  Attached* const window = attached_table.table.remove(handle);
  if (window == nullptr) return SHMEMX_ERR_WINDOW;
  const Code code = flush(routine, *window);
  attached_table.table.recycle(handle);
  return code;
}

WindowPath path_of(const Attached& window) noexcept {
  if (window.mapped != nullptr) return WindowPath::mapped;
  return window.pid != 0 ? WindowPath::cma : WindowPath::messages;
}

}  // namespace shmemx::access
