// Globals and statics of the executable as a window: the writable PT_LOAD segments, less RELRO and less the globals of
// libc and of other libraries behind this one where the program is linked with -static, are copied into the
// PE's block of the arena and mapped over themselves. From then on a global is as reachable as heap memory. Addresses
// of globals differ between PEs under ASLR: translate by offset from base(), never assume equality.
#pragma once

#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace shmemx::windows {

struct StaticRange {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;  // both page-aligned
  std::byte* zero_fill =
      nullptr;  // from here on nothing comes from the executable's file: a page never touched is zero
};

class StaticData {
 public:
  // Looks at the running executable. Empty when there is nothing writable.
  static StaticData of_executable();

  std::byte* base() const noexcept { return count_ == 0 ? nullptr : ranges_[0].begin; }
  // From the first range's begin to the last one's end.
  std::size_t span_bytes() const noexcept {
    return count_ == 0 ? 0 : static_cast<std::size_t>(ranges_[count_ - 1].end - ranges_[0].begin);
  }
  // The same for PEs that run the same executable; differs when the layout differs.
  std::uint64_t digest() const noexcept { return digest_; }

  // Copies the ranges into the arena file `fd` at `file_offset` and maps them over themselves. From then on children of
  // fork get a private copy as of the moment of the fork. Call once. No other thread may write globals meanwhile, so
  // this comes first in shmem_init.
  Status share(int fd, std::size_t file_offset) const;

 private:
  static constexpr std::size_t kMaxRanges = 8;
  std::array<StaticRange, kMaxRanges> ranges_{};
  std::size_t count_ = 0;
  std::uint64_t digest_ = 0;

  void add(const StaticRange& range);
  static int visit(dl_phdr_info* info, std::size_t bytes, void* self);
};

}  // namespace shmemx::windows
