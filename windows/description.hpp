// A window's description: what travels from its owner to whoever attaches it. 64 bytes without padding, sealed with the
// job's key, so that damage, bytes that are no description and descriptions of another job are noticed. It guards
// against mistakes, not against a program that means harm: that one shares the job's memory anyway.
#pragma once

#include <cstdint>
#include <type_traits>

#include "windows/exposure.hpp"

namespace shmemx::windows {

enum class Kind : std::uint16_t {
  private_memory = 0,  // of the owner's process: nobody maps it
  allocated = 1,       // place: offset in the owner's area
  heap = 2,            // place: offset in the symmetric heap
  statics = 3,         // place: offset in the static data
  ranges = 4           // a set of ranges of the owner's address space: base 0, bytes UINT64_MAX
};

struct Description {
  std::uint32_t magic;
  Kind kind;
  std::uint16_t key_bytes;    // 0: keys are requested from the owner (docs/decisions/0027-keys-of-public-windows.md)
  std::uint64_t network_key;  // 0
  std::int32_t owner;
  std::uint32_t reserved;
  windows::WindowName name;
  std::uint64_t base;  // in the owner's address space
  std::uint64_t bytes;
  std::uint64_t place;
  std::uint64_t seal;  // over all before it
};
static_assert(sizeof(Description) == 64 && std::is_trivially_copyable_v<Description> &&
              std::has_unique_object_representations_v<Description>);

// Fills magic and seal.
void seal(Description& description, std::uint64_t job_key) noexcept;
bool is_sealed(const Description& description, std::uint64_t job_key, int n_pes) noexcept;

}  // namespace shmemx::windows
