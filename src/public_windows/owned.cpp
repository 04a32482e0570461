#include "public_windows/owned.hpp"

#include <shmemx/windows.h>

#include "am/endpoint.hpp"
#include "base/clock.hpp"
#include "base/immortal.hpp"
#include "base/machine.hpp"
#include "context/location.hpp"
#include "onesided/rdma.hpp"
#include "progress/wait.hpp"
#include "public_windows/area.hpp"
#include "public_windows/handle_table.hpp"
#include "public_windows/node.hpp"
#include "windows/range_set.hpp"

namespace shmemx::public_windows {
namespace {

constinit Immortal<HandleTable<Owned, 0>> owned_table;
HandleTable<Owned, 0>& table() { return owned_table.object; }

// What others can map is known by its place in a window that they have anyway.
void classify(Owned& window) {
  const context::Context& world = context::default_context();
  if (window.bytes != 0 && find_own_memory(window.base, window.bytes, window.place)) {
    window.kind = windows::Kind::allocated;
    return;
  }
  const auto found =
      context::find_place(world, reinterpret_cast<std::uintptr_t>(window.base), window.bytes, world.my_pe);
  if (!found) return;
  window.kind = found->window == windows::kHeapWindow ? windows::Kind::heap : windows::Kind::statics;
  window.place = found->offset;
}

// PEs of other nodes wait for a lock by the owner, which a node peer that releases it wakes.
bool may_need_messages(windows::Kind kind) {
  return kind == windows::Kind::private_memory || kind == windows::Kind::ranges || am::has_networks() ||
         !node().maps_peers || node().path == WindowPath::cma || node().path == WindowPath::messages;
}

Code add_window(Owned window, std::uint64_t& handle) {
  Directory* const directory = directory_of(node().me);
  if (directory == nullptr) return SHMEMX_ERR_MEMORY;
  if (may_need_messages(window.kind)) serve_messages();
  const bool exposed = window.kind == windows::Kind::ranges ? windows::expose_ranges(window.name)
                                                            : windows::expose(window.base, window.bytes, window.name);
  if (!exposed) return SHMEMX_ERR_LIMIT;
  window.ranges = windows::set_of(window.name);
  handle = table().add([&](Owned& object) { object = window; });
  if (handle == 0) {
    const am::Locked endpoint;
    windows::withdraw(window.name);
    return SHMEMX_ERR_LIMIT;
  }
  directory->locks[window.name.index].reset();
  // Whoever looks has the description, which is made later.
  directory->lives[window.name.index].generation.store(window.name.generation, std::memory_order_release);
  return SHMEMX_SUCCESS;
}

// Returns when no network accesses memory by a key any more that nobody finds now.
void revoke(const char* routine, windows::WindowName window, const onesided::Extent& extent, windows::Kind memory) {
  using Memory = onesided::Registrations::Memory;
  // Of memory in the node's file pages are given back in a way that nothing reports.
  const bool stays = memory == windows::Kind::private_memory;
  onesided::revoke_keys(routine, window, extent, stays ? Memory::stays : Memory::ends);
}

// Returns when nobody accesses the memory any more that nobody finds now.
void await_users(const char* routine, const Owned& window) {
  const Life& life = directory_of(node().me)->lives[window.name.index];
  if (onesided::has_opened_keys()) revoke(routine, window.name, {}, window.kind);
  progress::wait_for(routine, [&] {
    return life.users.load(std::memory_order_seq_cst) == 0 && !windows::is_in_use(window.name);  // live
  });
}

}  // namespace

Code allocate_window(std::size_t bytes, void** address, std::uint64_t& handle) noexcept {
  Owned window;
  window.bytes = bytes;
  window.kind = windows::Kind::allocated;
  window.releases_memory = true;
  window.base = allocate_memory(bytes, window.place);
  if (window.base == nullptr) return SHMEMX_ERR_MEMORY;
  const Code code = add_window(window, handle);
  if (code == SHMEMX_SUCCESS) {
    *address = window.base;
  } else {
    release_memory(window.place);
  }
  return code;
}

Code expose_window(void* address, std::size_t bytes, std::uint64_t& handle) noexcept {
  if ((address == nullptr && bytes != 0) || !is_mapped(reinterpret_cast<std::uintptr_t>(address), bytes))
    return SHMEMX_ERR_ARGUMENT;
  Owned window;
  window.base = static_cast<std::byte*>(address);
  window.bytes = bytes;
  classify(window);
  return add_window(window, handle);
}

Code describe_window(std::uint64_t handle, windows::Description& description) noexcept {
  const Owned* const window = table().find(handle);
  if (window == nullptr) return SHMEMX_ERR_WINDOW;
  description = {};
  description.kind = window->kind;
  description.owner = node().me;
  description.name = window->name;
  description.base = reinterpret_cast<std::uintptr_t>(window->base);
  description.bytes = window->bytes;
  description.place = window->place;
  windows::seal(description, node().key);
  return SHMEMX_SUCCESS;
}

Code expose_ranges(std::uint64_t& handle) noexcept {
  Owned window;
  window.bytes = UINT64_MAX;
  window.kind = windows::Kind::ranges;
  return add_window(window, handle);
}

Code add_range(std::uint64_t handle, void* address, std::size_t bytes) noexcept {
  const Owned* const window = table().find(handle);
  if (window == nullptr || window->ranges == nullptr) return SHMEMX_ERR_WINDOW;
  if (address == nullptr && bytes != 0) return SHMEMX_ERR_ARGUMENT;
  const am::Locked endpoint;
  return window->ranges->add(reinterpret_cast<std::uintptr_t>(address), bytes) ? SHMEMX_SUCCESS : SHMEMX_ERR_OVERLAP;
}

namespace {

// Returns when no network accesses a range that has been removed.
[[gnu::noinline]] void await_networks(const char* routine, const Owned& window, std::byte* base, std::uint64_t bytes) {
  Owned range;
  range.base = base;
  range.bytes = bytes;
  classify(range);
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  if (onesided::has_opened_keys()) revoke(routine, window.name, {address, bytes}, range.kind);
  progress::wait_under_lock(routine, -1, [&](am::Endpoint&) { return !window.ranges->is_leaving(address); });
}

}  // namespace

Code remove_range(const char* routine, std::uint64_t handle, void* address) noexcept {
  const Owned* const window = table().find(handle);
  if (window == nullptr || window->ranges == nullptr) return SHMEMX_ERR_WINDOW;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  std::uint64_t bytes = 0;
  bool may_be_in_use = false;
  {
    // Handlers have this lock, so each that has found the memory is done, or has counted a network as a user.
    const am::Locked endpoint;
    bytes = window->ranges->remove(begin);
    if (bytes != 0) window->ranges->note_removed(begin, bytes, coarse_now_ms());
    may_be_in_use = window->ranges->is_leaving(begin) || onesided::has_opened_keys();
  }
  if (bytes == 0) return SHMEMX_ERR_RANGE;
  if (may_be_in_use) [[unlikely]]
    await_networks(routine, *window, static_cast<std::byte*>(address), bytes);
  return SHMEMX_SUCCESS;
}

Code free_window(const char* routine, std::uint64_t handle) noexcept {
  const Owned* const found = table().remove(handle);
  if (found == nullptr) return SHMEMX_ERR_WINDOW;
  const Owned window = *found;
  Life& life = directory_of(node().me)->lives[window.name.index];
  life.generation.store(0, std::memory_order_seq_cst);  // live
  {
    // Exposed until here, so that nobody could take the entry of the directory over. A handler that has found the
    // memory is done once its lock is free, or has counted a network as a user.
    const am::Locked endpoint;
    windows::withdraw(window.name);
  }
  await_users(routine, window);
  if (window.releases_memory) release_memory(window.place);
  table().recycle(handle);
  return SHMEMX_SUCCESS;
}

const Owned* find_owned(std::uint64_t handle) noexcept { return table().find(handle); }

}  // namespace shmemx::public_windows
