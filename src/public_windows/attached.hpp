// Windows of other PEs as this PE sees them: attached, looked up, checked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "atomic/element_locks.hpp"
#include "base/doorbell.hpp"
#include "base/immortal.hpp"
#include "base/window_path.hpp"
#include "onesided/requests.hpp"
#include "public_windows/area.hpp"
#include "public_windows/handle_table.hpp"
#include "public_windows/owned.hpp"
#include "windows/description.hpp"

namespace shmemx::public_windows {

inline constexpr std::int32_t kHeldAlone = -1;

struct Attached {
  std::uint64_t base = 0;  // in the owner's address space
  std::uint64_t bytes = 0;
  std::byte* mapped = nullptr;                    // where it can be loaded and stored; null: it cannot
  Life* life = nullptr;                           // the owner's word on whether it still lives
  atomic::ElementLocks* element_locks = nullptr;  // the owner's; null for a PE of another node
  onesided::LockWord* lock = nullptr;             // the same
  Doorbell* doorbell = nullptr;                   // where the owner sleeps; null for a PE of another node
  windows::WindowName name{};
  std::int32_t owner = 0;
  std::int32_t pid = 0;                // for cma; 0: not that way
  onesided::Tracker requests;          // nonblocking operations that travel as messages
  onesided::Tracker local;             // those of them that use memory of this PE until the reply
  std::atomic<std::int32_t> held{0};   // of the lock, through this handle: the number of shared holders, or kHeldAlone
  std::atomic<bool> requested{false};  // the lock, without waiting: it may not have been granted yet
  bool is_set = false;                 // of ranges
  Life known_life{};                   // `life` if the owner is on another node: it ends when a reply has said so
};

// At once: requests from an internode owner whether the window exists. Later: the first operation finds out.
enum class Check : std::uint8_t { at_once, later };
Code attach_window(const char* routine, const windows::Description& description, std::uint64_t& handle,
                   Check check = Check::at_once) noexcept;
Code detach_window(const char* routine, std::uint64_t handle) noexcept;

inline constinit Immortal<HandleTable<Attached, 1>> attached_table;

// Null when the handle is not that of a live attached window.
inline Attached* find_attached(std::uint64_t handle) noexcept { return attached_table.object.find(handle); }

inline bool is_alive(const Attached& window) noexcept {
  return window.life->generation.load(std::memory_order_acquire) == window.name.generation;
}
inline std::uint64_t number_of(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }
inline bool in_window(const Attached& window, std::uint64_t address, std::uint64_t bytes) noexcept {
  const std::uint64_t offset = address - window.base;
  return offset <= window.bytes && bytes <= window.bytes - offset;
}
WindowPath path_of(const Attached& window) noexcept;

// Writes the probe of this process into its directory.
void publish_probe() noexcept;

// After something was stored in mapped memory.
inline void tell_owner(const Attached& window) noexcept { wake(*window.doorbell); }

}  // namespace shmemx::public_windows
