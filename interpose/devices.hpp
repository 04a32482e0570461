// Memory of accelerators, which the processor cannot load and store: operations refuse it. That of CUDA is known; other
// devices map theirs.
#pragma once

#include <cstdint>

namespace shmemx::interpose {

// True as soon as this process has loaded the device's library. Then operations take no short way.
inline bool has_devices = false;

// Looks whether that is so by now. Called where windows are made and targets attached: a program has its device's
// memory before it moves any.
void look_for_devices();

// Returns true if this memory is a device's, and cannot be accessed here.
bool is_device_memory_slow(std::uint64_t address);
inline bool is_device_memory(std::uint64_t address) { return has_devices && is_device_memory_slow(address); }
inline bool is_device_memory(const void* address) {
  return is_device_memory(reinterpret_cast<std::uintptr_t>(address));
}

}  // namespace shmemx::interpose
