// The modes of the provider, and what the environment chooses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strict_provider {

struct Limits {
  std::size_t inject_bytes;
  std::size_t sends;     // operations under way that an endpoint has started
  std::size_t receives;  // posted receive buffers
  std::size_t message_bytes;
  std::size_t eager_bytes;   // the receiver reads longer messages from the sender's memory
  std::size_t parts;         // of a local buffer
  std::size_t remote_parts;  // of a remote buffer
};

enum Feature : unsigned {
  kWaitFd = 1,
  kWaitSet = 2,
  kFence = 4,
  kAvMap = 8,
  kAutoControl = 16,
  kSeparateRelease = 32,  // a completion of its own tells that a buffer for many messages is released
  kSlowConnect = 64,      // the first posts to a peer return -FI_EAGAIN
};

// What one real provider requires and offers.
struct Mode {
  const char* name;
  std::uint64_t mode;
  int mr_mode;
  std::size_t key_bytes;
  std::uint64_t order;
  Limits limits;
  unsigned features;

  bool has(Feature feature) const noexcept { return (features & feature) != 0; }
  bool requires_mr(int bit) const noexcept { return (mr_mode & bit) != 0; }
};

// Returns the mode that SHMEMX_TEST_PROVIDER names.
const Mode& chosen_mode();
// Returns the mode of this name; null if there is none. Domains are named after their mode.
const Mode* mode_of(const char* name) noexcept;
// Returns SHMEMX_TEST_PROVIDER_SEED. With 0 nothing is delayed, reordered or refused by chance.
std::uint64_t chosen_seed() noexcept;
// Which operations of RMA the target's CPU carries out, when its queue is read.
struct SoftwareRma {
  bool reads;
  bool writes;
};
// Returns what SHMEMX_TEST_PROVIDER_SOFTWARE names.
SoftwareRma chosen_software();
// Returns SHMEMX_TEST_PROVIDER_MEMORY: as many bytes can be registered with a domain, as where the system limits
// locked memory. Without it there is no limit.
std::uint64_t chosen_registration_limit() noexcept;
// Returns the file that SHMEMX_TEST_PROVIDER_LOG names, or null.
const char* log_file() noexcept;

}  // namespace strict_provider
