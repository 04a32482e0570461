// Contexts and teams that threads may not share: a private context is for the thread that has made it, a serialized one
// and the collectives of a team for one thread at a time. Contexts and teams are known by their indices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "check/checks.hpp"

namespace shmemx::check {

inline constexpr std::size_t kMostContexts = 4096;

enum class Sharing : std::uint8_t { free, serialized, private_to_thread };

// Of a context that this thread has just made. From the first one on that is not free, calls are watched by the hooks
// of spans (stats/call_hooks.hpp).
void note_sharing(std::uint32_t context, Sharing sharing) noexcept;

// Ends the job if this thread may not use the context now.
void check_owner(const char* routine, std::uint32_t context) noexcept;

// A collective of a team that this thread is in, from its begin to its end. Ends the job if another one is in one, too.
class TeamUse {
 public:
  TeamUse(std::uint32_t team, const char* routine) noexcept : team_(team) {
    if (is_on()) [[unlikely]]
      begin(routine);
  }
  ~TeamUse() {
    if (is_open_) [[unlikely]]
      end();
  }
  TeamUse(const TeamUse&) = delete;
  TeamUse& operator=(const TeamUse&) = delete;

 private:
  void begin(const char* routine) noexcept;
  void end() noexcept;

  std::uint32_t team_;
  bool is_open_ = false;
};

}  // namespace shmemx::check
