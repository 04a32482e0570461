// What the compiler's thread instrumentation calls: loads and stores of the program, and its functions.
#include "races/access.hpp"

using namespace shmemx::races;  // the names below are the compiler's

#define SHMEMX_PC __builtin_return_address(0)
#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]

// clang-format off
#define SHMEMX_ACCESS(BYTES)                                                                                   \
  SHMEMX_EXPORT void __tsan_read##BYTES(void* at) { note_access<BYTES, Kind::load>(at, SHMEMX_PC); }            \
  SHMEMX_EXPORT void __tsan_write##BYTES(void* at) { note_access<BYTES, Kind::store>(at, SHMEMX_PC); }          \
  SHMEMX_EXPORT void __tsan_volatile_read##BYTES(void* at) { note_access<BYTES, Kind::load>(at, SHMEMX_PC); }   \
  SHMEMX_EXPORT void __tsan_volatile_write##BYTES(void* at) { note_access<BYTES, Kind::store>(at, SHMEMX_PC); } \
  SHMEMX_EXPORT void __tsan_read_write##BYTES(void* at) { note_access<BYTES, Kind::store>(at, SHMEMX_PC); }
// clang-format on

namespace {

void note_range(const void* at, std::size_t bytes, Kind kind, const void* pc) noexcept {
  record_wide(reinterpret_cast<std::uintptr_t>(at), bytes, kind, pc);
}

}  // namespace

SHMEMX_ACCESS(1)
SHMEMX_ACCESS(2)
SHMEMX_ACCESS(4)
SHMEMX_ACCESS(8)

#define SHMEMX_WIDE_ACCESS(NAME, BYTES)                                                                     \
  SHMEMX_EXPORT void __tsan_##NAME##read##BYTES(void* at) { note_range(at, BYTES, Kind::load, SHMEMX_PC); } \
  SHMEMX_EXPORT void __tsan_##NAME##write##BYTES(void* at) { note_range(at, BYTES, Kind::store, SHMEMX_PC); }

SHMEMX_WIDE_ACCESS(, 16)
SHMEMX_WIDE_ACCESS(unaligned_, 2)
SHMEMX_WIDE_ACCESS(unaligned_, 4)
SHMEMX_WIDE_ACCESS(unaligned_, 8)
SHMEMX_WIDE_ACCESS(unaligned_, 16)
SHMEMX_WIDE_ACCESS(volatile_, 16)
SHMEMX_WIDE_ACCESS(unaligned_volatile_, 2)
SHMEMX_WIDE_ACCESS(unaligned_volatile_, 4)
SHMEMX_WIDE_ACCESS(unaligned_volatile_, 8)
SHMEMX_WIDE_ACCESS(unaligned_volatile_, 16)

SHMEMX_EXPORT void __tsan_read_range(void* at, std::size_t bytes) { note_range(at, bytes, Kind::load, SHMEMX_PC); }
SHMEMX_EXPORT void __tsan_write_range(void* at, std::size_t bytes) { note_range(at, bytes, Kind::store, SHMEMX_PC); }

// A constructor or destructor stores the same pointer again: no race if nothing changes.
SHMEMX_EXPORT void __tsan_vptr_update(void** at, void* value) {
  if (*at != value) note_access<8, Kind::store>(at, SHMEMX_PC);
}
SHMEMX_EXPORT void __tsan_vptr_read(void** at) { note_access<8, Kind::load>(at, SHMEMX_PC); }

SHMEMX_EXPORT void __tsan_func_entry(void* call_pc) {
  Thread* const thread = self;
  if (thread == nullptr) return;
  if (thread->depth < Thread::kMostFrames) thread->frames[thread->depth] = {site_of(call_pc), 0};
  ++thread->depth;
}
SHMEMX_EXPORT void __tsan_func_exit() {
  Thread* const thread = self;
  if (thread != nullptr && thread->depth != 0) --thread->depth;
}
SHMEMX_EXPORT void __tsan_init() {}
