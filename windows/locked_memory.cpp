#include "windows/locked_memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/mappings.hpp"
#include "windows/static_data.hpp"

namespace shmemx::windows {
namespace {

constinit std::atomic<std::uintptr_t> arena_address{0};

int system_mlockall(int flags) noexcept { return static_cast<int>(::syscall(SYS_mlockall, flags)); }

// Locks and backs all that is mapped but what belongs to the arena. Returns false if the limit forbids it.
bool lock_mappings(const Mapping& arena, const StaticData& statics) noexcept {
  const auto statics_begin = reinterpret_cast<std::uintptr_t>(statics.base());
  MappingReader reader;
  Mapping mapping;
  while (reader.next(mapping)) {
    const bool is_static = mapping.begin - statics_begin < statics.span_bytes();
    if (of_same_file(mapping, arena) && !is_static) continue;
    const bool is_locked = ::syscall(SYS_mlock, mapping.begin, mapping.end - mapping.begin) == 0;
    if (!is_locked && errno == ENOMEM && mapping.protection != PROT_NONE) return false;
  }
  return !reader.has_failed();
}

}  // namespace

void set_arena_address(const void* address) noexcept {
  arena_address.store(reinterpret_cast<std::uintptr_t>(address), std::memory_order_relaxed);
}

// A user without the right to lock any amount is refused by the system call, since all that is mapped counts there.
int lock_all_but_arena(int flags) noexcept {
  Mapping arena;
  const std::uintptr_t address = arena_address.load(std::memory_order_relaxed);
  const bool is_simple = (flags & MCL_CURRENT) == 0 || (flags & MCL_ONFAULT) != 0;
  if (address == 0 || is_simple || !find_mapping(address, arena)) return system_mlockall(flags);
  const bool is_allowed = system_mlockall(flags | MCL_ONFAULT) == 0;
  if (!is_allowed && errno != ENOMEM) return -1;
  const bool is_locked = lock_mappings(arena, StaticData::of_executable());
  if (!is_allowed && !is_locked) {
    errno = ENOMEM;
    return -1;
  }
  return (flags & MCL_FUTURE) != 0 ? system_mlockall(MCL_FUTURE) : 0;
}

}  // namespace shmemx::windows
