// The registration cache: memory that is registered with networks. What no window uses any more stays registered, so
// that a window over the same memory needs no registration, until
//   - the program unmaps, replaces or empties the memory (windows/memory_watch.hpp), which the next user notices,
//   - there is more of it than the limit; then what was used longest ago ends first,
//   - the network refuses a registration, or the windows are hidden.
// Nobody has a key of memory that no window uses: a window ends when all its keys have been revoked.
//
// Under the endpoint's lock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "transport/transport.hpp"
#include "windows/memory_watch.hpp"

namespace shmemx::onesided {

class Registrations {
 public:
  struct Counts {
    std::uint64_t made = 0;     // by a network
    std::uint64_t reused = 0;   // in place of one
    std::uint64_t changed = 0;  // not used again, as the program had changed the memory
  };
  // What happens to the memory when its last user ends.
  enum class Memory : std::uint8_t { stays, ends };

  // The most bytes that stay registered without a user. 0: none.
  void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }
  // Registers a range, or finds that it is. Returns its key. A network knows a registration by its begin, so a range
  // that begins where a shorter one is in use is refused.
  Result<std::string> acquire(transport::Transport& network, std::byte* base, std::uint64_t bytes);
  // Ends one use of a range that acquire() has returned a key of.
  void release(transport::Transport& network, std::byte* base, Memory memory) noexcept;
  // Ends all registrations without a user. No range is watched any more.
  void clear() noexcept;

  std::uint64_t idle_bytes() const noexcept { return idle_bytes_; }
  const Counts& counts() const noexcept { return counts_; }

 private:
  struct Range {
    std::uint64_t bytes = 0;
    std::string key;
    std::uint32_t users = 0;
    std::uint32_t watch = 0;      // not 0 if it is idle: registered, and without users
    std::uint64_t last_used = 0;  // when it became idle
  };
  using Ranges = std::map<std::pair<transport::Transport*, std::byte*>, Range>;

  Result<std::string> add(transport::Transport& network, std::byte* base, std::uint64_t bytes);
  bool try_reuse(Ranges::iterator at, std::uint64_t bytes) noexcept;
  bool end_idle(Range& range) noexcept;
  bool end_longest_idle() noexcept;
  void end(Ranges::iterator at) noexcept;

  Ranges ranges_;
  windows::MemoryWatch watch_;
  std::uint64_t limit_ = 0;
  std::uint64_t idle_bytes_ = 0;
  std::size_t n_idle_ = 0;
  std::uint64_t uses_ = 0;
  Counts counts_;
};

}  // namespace shmemx::onesided
