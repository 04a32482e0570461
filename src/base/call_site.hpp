// Where the program called this library, for diagnostics. Cold code only: it walks the stack, and may start a program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace shmemx {

// The innermost calls on this thread's stack: those of this library, and the program's that led there. Taking it costs
// a microsecond or two, finding out what it means a hundred.
struct CallStack {
  static constexpr int kMost = 16;
  void* frames[kMost];
  int count = 0;

  bool operator==(const CallStack& other) const noexcept {
    return count == other.count && std::equal(frames, frames + count, other.frames);
  }
};
CallStack call_stack() noexcept;

// The address of the innermost call of the program there, or on this thread's stack, as the executable's file has it; 0
// if it is not in the executable.
std::uintptr_t call_site(const CallStack& stack) noexcept;
std::uintptr_t call_site() noexcept;

// Of a thread that was interrupted in this library, or in what that has called: returns the index of the frame that
// called this library; -1 if it was interrupted elsewhere.
int frame_of_caller(void* const* frames, int count) noexcept;

// The address of a call that returns to `address`; 0 if it is not in the executable.
std::uintptr_t call_site_before(const void* address) noexcept;

// Returns "main (ring.c:12)", or "send (ring.c:7), inlined into main (ring.c:12)", with the help of addr2line where
// that is installed and the executable has debug information, else "main+0x2a"; empty if not even the function is
// known. `executable` is a path that another process can open, too.
std::string call_site_text(const std::string& executable, std::uintptr_t site);

// Returns the texts of several sites of an executable, by one run of addr2line for many.
std::vector<std::string> call_site_texts(const std::string& executable, const std::vector<std::uintptr_t>& sites);

// Returns the text of an address in this process: also "libfoo.so, f+0x2a", or the number alone.
std::string frame_text(const std::string& executable, std::uintptr_t address);

}  // namespace shmemx
