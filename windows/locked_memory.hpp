// Locking of memory by a program whose address space holds the arena: most of that is only reserved, and must not be
// backed because the program locks what it has.
#pragma once

namespace shmemx::windows {

// An address in the arena, by which its mappings are recognised.
void set_arena_address(const void* address) noexcept;

// What the shared library exports as mlockall(): hence the visibility. As the system call, but pages of the arena,
// other than static data of this PE, are locked when they are touched.
[[gnu::visibility("default")]] int lock_all_but_arena(int flags) noexcept;

}  // namespace shmemx::windows
