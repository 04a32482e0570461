// Globals and statics of the executable as a window: the writable PT_LOAD segments, less RELRO, less the globals of
// libc and of other libraries behind this one where the program is linked with -static, and less pages over which the
// program has mapped other memory, are copied into the PE's block of the arena and mapped over themselves. From then on
// a global is as reachable as heap memory. Addresses of globals differ between PEs under ASLR: translate by offset from
// base(), never assume equality.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "windows/static_holes.hpp"

namespace shmemx::windows {

struct StaticRange {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;  // both page-aligned
  std::byte* zero_fill =
      nullptr;  // from here on nothing comes from the executable's file: a page never touched is zero
};

class StaticData {
 public:
  // Looks at the running executable. Empty if there is nothing writable, or if this library lies in another link
  // namespace than the executable (dlmopen): there the executable's handlers of fork are unknown to it.
  static StaticData of_executable();

  std::byte* base() const noexcept { return ranges_.empty() ? nullptr : ranges_.front().begin; }
  // From the first range's begin to the last one's end.
  std::size_t span_bytes() const noexcept {
    return ranges_.empty() ? 0 : static_cast<std::size_t>(ranges_.back().end - ranges_.front().begin);
  }
  std::span<const StaticRange> ranges() const noexcept { return ranges_; }
  // What lies between the ranges.
  std::vector<StaticHole> holes() const;
  bool is_other_namespace() const noexcept { return is_other_namespace_; }
  // A hash of the layout: equal on PEs that run the same executable, different if the layout differs.
  std::uint64_t digest() const noexcept { return digest_; }

  // Copies the ranges into the arena file `fd` at `file_offset` and maps them over themselves, with the protections
  // that their pages have. Signals are blocked and other threads stopped meanwhile; fails if one cannot be stopped.
  // From then on children of fork get a private copy as of the moment of the fork. Called once.
  Status share(int fd, std::size_t file_offset) const;

 private:
  std::vector<StaticRange> ranges_;  // in ascending order
  std::uint64_t digest_ = 0;
  bool is_other_namespace_ = false;

  void add(const StaticRange& range);
  void leave_out_mappings();
  static int visit(dl_phdr_info* info, std::size_t bytes, void* self);
};

// Finds out whether all other threads of the process can be stopped, by doing it. Returns 0 if they can, and otherwise
// one that cannot: nobody may write globals while they are moved.
pid_t find_unstoppable_thread() noexcept;
// Called in place of share(), if static data stay private. See Stop::last.
void stop_no_more() noexcept;

}  // namespace shmemx::windows
