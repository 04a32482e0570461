// What this PE lets others reach by messages: ranges of its memory under names. A message never carries an address,
// only a name and an offset, and both are checked here before memory is touched.
//
// find_exposed() takes no lock and no time that grows with the number of windows: the index leads to the entry.
// expose() and withdraw() take a mutex. After withdraw() find_exposed() fails, but a handler that found the window
// before may still access its memory. So the owner takes the endpoint's lock once, under which handlers run, before it
// releases the memory.
//
// Edges:  expose    generation.store -> generation.load    base and bytes of the window, before its name is known
//         withdraw  generation.store -> base/bytes.load    a reader of the successor's range reads that this one ended
//         use       users.store -> users.load              what the network has done, before the owner releases memory
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::windows {

// Generations tell a window from an earlier one in the same place of the table.
struct WindowName {
  std::uint32_t index;
  std::uint32_t generation;
  friend bool operator==(WindowName, WindowName) = default;
};
inline constexpr WindowName kHeapWindow{0, 0};
inline constexpr WindowName kStaticWindow{1, 0};
inline constexpr std::uint32_t kBuiltinWindows = 2;
inline constexpr std::uint32_t kMaxWindows = 1U << 20;  // at once

// The address of `bytes` at `offset` of a window of this PE; null when there is no such window or the range leaves it.
// Any thread.
std::byte* find_exposed(WindowName window, std::uint64_t offset, std::uint64_t bytes) noexcept;

// All of a window; base null where there is no such window.
struct ExposedRange {
  std::byte* base;
  std::uint64_t bytes;
  std::uint64_t begin = 0;  // the offset of the base
};
ExposedRange range_of_exposed(WindowName window) noexcept;
// When the owner last removed a range of a set that held any of these bytes; 0: not known. Under the endpoint's lock.
std::uint64_t removed_at(WindowName window, std::uint64_t offset, std::uint64_t bytes) noexcept;
// The memory with the byte at `offset`: all of the window, or one range of a set. base null where there is none.
ExposedRange range_around(WindowName window, std::uint64_t offset) noexcept;

// By runtime, at init. `bytes` 0 takes it away.
void expose_builtin(WindowName window, std::byte* base, std::uint64_t bytes) noexcept;

// A network reads or writes memory of the window by itself, after a handler has started that: until end_use() the
// owner must not release the memory. Under the endpoint's lock, but for is_in_use(). The window has been found. Both
// get the same bytes of it.
void begin_use(WindowName window, std::uint64_t offset, std::uint64_t bytes) noexcept;
void end_use(WindowName window, std::uint64_t offset, std::uint64_t bytes) noexcept;
bool is_in_use(WindowName window) noexcept;

// A new window; `base` is null only without bytes. False: kMaxWindows are exposed, or there is no memory for the table.
[[nodiscard]] bool expose(std::byte* base, std::uint64_t bytes, WindowName& window) noexcept;
// A new window that is a set of ranges, empty at first: an offset in it is an address. find_exposed() takes O(log n)
// there. range_of_exposed() has a base and no bytes. Ranges are found, added, removed and withdrawn under the
// endpoint's lock.
[[nodiscard]] bool expose_ranges(WindowName& window) noexcept;
// The ranges of such a window. Null if the window is no set, or not exposed any more. A set is never destroyed: the
// next one in its place takes it over.
class RangeSet;
RangeSet* set_of(WindowName window) noexcept;
// From now on its name is stale. False: there is no such window.
bool withdraw(WindowName window) noexcept;

}  // namespace shmemx::windows
