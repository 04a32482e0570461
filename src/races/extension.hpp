// Routines of shmemx.h: messages, tasks, active messages, collectives that do not block, windows.
//
// What they order depends on what matches, runs or arrives inside the library. They are taken to order more than they
// do: each call knows at its return what all PEs knew at theirs before. So a race may be missed, and none is invented.
#pragma once

#include <shmem.h>
#include <shmemx/active.h>
#include <shmemx/collectives.h>
#include <shmemx/messages.h>
#include <shmemx/start.h>
#include <shmemx/stats.h>
#include <shmemx/tasks.h>
#include <shmemx/windows.h>

#include "races/life.hpp"

namespace shmemx::races {

// Tells the job what this thread knows, and learns what the others have told.
void exchange_knowledge() noexcept;

// A call of such a routine. It may run the program's handlers, so what happens in it is not the library's own.
class Extension {
 public:
  Extension() noexcept { exchange_knowledge(); }
  ~Extension() { exchange_knowledge(); }
  Extension(const Extension&) = delete;
  Extension& operator=(const Extension&) = delete;
};

}  // namespace shmemx::races

// clang-format off
#define SHMEMX_ORDERED(R, NAME, ARGUMENTS, ...)                                                                  \
  extern "C" [[gnu::visibility("default")]] R NAME(__VA_ARGS__) noexcept {                                       \
    static const auto real = reinterpret_cast<decltype(&NAME)>(shmemx::races::next_definition(#NAME));           \
    const shmemx::races::Extension call;                                                                         \
    return real ARGUMENTS;                                                                                       \
  }
// clang-format on
