#include "public_windows/attached.hpp"

#include <shmemx/windows.h>

#include "am/endpoint.hpp"
#include "base/contact_table.hpp"
#include "context/location.hpp"
#include "public_windows/completion.hpp"
#include "public_windows/node.hpp"
#include "rma/cma.hpp"

namespace shmemx::public_windows {
namespace {

bool may_map() { return node().path == WindowPath::automatic || node().path == WindowPath::mapped; }

bool is_node_peer(int pe) { return context::is_mapped(context::default_context(), pe); }

// On the queue path nothing of another PE is touched directly, unless the user selects this path.
bool may_use_cma(int owner) {
  return node().path == WindowPath::cma || (node().path == WindowPath::automatic && is_node_peer(owner));
}

// Returns the process number of `pe` if CMA can reach its memory, else 0. Probes once for each PE.
std::int32_t reachable_pid(int pe) {
  static auto* const peers = [] {
    auto* const table = new ContactTable<rma::CmaPeer>;
    table->open(static_cast<std::size_t>(node().n_pes));
    return table;
  }();
  const Directory* const directory = directory_of(pe);
  if (directory == nullptr || directory->probe_address == 0) return 0;
  return (*peers)[pe].pid({directory->probe_address, directory->probe_value, node().pid_of(pe)}, rma::cma_read);
}

std::byte* map_symmetric(const windows::Description& description) {
  const context::Context& world = context::default_context();
  if (!is_node_peer(description.owner)) return nullptr;
  const windows::WindowName window =
      description.kind == windows::Kind::heap ? windows::kHeapWindow : windows::kStaticWindow;
  return context::mapped_address(world, {description.owner, window, description.place}, description.owner);
}

// Null: it has to go another way. False: it should have worked, but there is no address space.
bool map_window(const windows::Description& description, std::byte*& mapped) {
  mapped = nullptr;
  if (description.kind == windows::Kind::ranges) return true;
  if (description.owner == node().me) {
    mapped = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(description.base));
    return true;
  }
  if (!may_map()) return true;
  if (description.kind == windows::Kind::heap || description.kind == windows::Kind::statics) {
    mapped = map_symmetric(description);
    return true;
  }
  if (description.kind != windows::Kind::allocated ||
      (!is_node_peer(description.owner) && node().path != WindowPath::mapped))
    return true;
  mapped = map_memory(description.owner, description.place, description.bytes);
  return mapped != nullptr || !is_node_peer(description.owner);
}

// What all ways have in common. Nobody has the handle yet.
void fill(Attached& window, const windows::Description& description) {
  window.base = description.base;
  window.bytes = description.bytes;
  window.name = description.name;
  window.owner = description.owner;
  window.is_set = description.kind == windows::Kind::ranges;
  window.requests.open.store(0, std::memory_order_relaxed);   // nobody has the handle yet
  window.requests.error.store(0, std::memory_order_relaxed);  // nobody has the handle yet
  window.held.store(0, std::memory_order_relaxed);            // nobody has the handle yet
  window.requested.store(false, std::memory_order_relaxed);   // nobody has the handle yet
}

// Nothing of a PE on another node is looked at from here: neither its directory nor, by its number, its process.
Code attach_internode(const char* routine, const windows::Description& description, std::uint64_t& handle,
                      Check check) {
  expect_answers();
  handle = attached_table.object.add([&](Attached& window) {
    fill(window, description);
    window.mapped = nullptr;
    window.known_life.generation.store(description.name.generation,
                                       std::memory_order_relaxed);  // nobody has the handle yet
    window.life = &window.known_life;
    window.element_locks = nullptr;
    window.lock = nullptr;
    window.doorbell = nullptr;
    window.pid = 0;
  });
  if (handle == 0) return SHMEMX_ERR_LIMIT;
  if (check == Check::later) return SHMEMX_SUCCESS;
  const Code code = onesided::check_window(routine, remote_of(*find_attached(handle)));
  if (code == SHMEMX_SUCCESS) return code;
  attached_table.object.remove(handle);
  attached_table.object.recycle(handle);
  handle = 0;
  return code;
}

}  // namespace

void publish_probe() noexcept {
  Directory* const own = directory_of(node().me);
  if (own == nullptr) return;
  const rma::CmaProbe probe = rma::own_cma_probe();
  own->probe_value = probe.value;
  own->probe_address = probe.address;  // a peer reads it after it has got a description, which is made later
}

Code attach_window(const char* routine, const windows::Description& description, std::uint64_t& handle,
                   Check check) noexcept {
  if (!windows::is_sealed(description, node().key, node().n_pes) || description.name.index >= windows::kMaxWindows)
    return SHMEMX_ERR_DESCRIPTION;
  if (am::is_internode(description.owner)) return attach_internode(routine, description, handle, check);
  Directory* const directory = directory_of(description.owner);
  if (directory == nullptr) return SHMEMX_ERR_MEMORY;
  Life& life = directory->lives[description.name.index];
  if (life.generation.load(std::memory_order_acquire) != description.name.generation) return SHMEMX_ERR_STALE;
  std::byte* mapped = nullptr;
  if (!map_window(description, mapped)) return SHMEMX_ERR_MEMORY;
  const bool by_cma = mapped == nullptr && description.kind != windows::Kind::ranges && may_use_cma(description.owner);
  const std::int32_t pid = by_cma ? reachable_pid(description.owner) : 0;
  if (mapped == nullptr) expect_answers();
  handle = attached_table.object.add([&](Attached& window) {
    fill(window, description);
    window.mapped = mapped;
    window.life = &life;
    window.element_locks = &directory->element_locks;
    window.lock = &directory->locks[description.name.index];
    window.doorbell = &am::own_endpoint().doorbell_of(description.owner);
    window.pid = pid;
  });
  return handle == 0 ? SHMEMX_ERR_LIMIT : SHMEMX_SUCCESS;
}

Code detach_window(const char* routine, std::uint64_t handle) noexcept {
  const Attached* const locked = find_attached(handle);
  if (locked != nullptr && locked->held.load(std::memory_order_relaxed) != 0 && is_alive(*locked))  // by this PE only
    return SHMEMX_ERR_LOCK;
  Attached* const window = attached_table.object.remove(handle);
  if (window == nullptr) return SHMEMX_ERR_WINDOW;
  const Code code = flush(routine, *window);
  attached_table.object.recycle(handle);
  return code;
}

WindowPath path_of(const Attached& window) noexcept {
  if (window.mapped != nullptr) return WindowPath::mapped;
  return window.pid != 0 ? WindowPath::cma : WindowPath::messages;
}

}  // namespace shmemx::public_windows
