#include "windows/static_data.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cache_line.hpp"
#include "base/hash.hpp"
#include "base/lazy_mapping.hpp"
#include "base/linkage.hpp"
#include "base/machine.hpp"
#include "base/unique_fd.hpp"
#include "windows/fork_guard.hpp"

// From the linker: the end of what has values. What is zero at the start comes next, on a page of its own in an
// executable that holds fence_of_zeros.
extern "C" [[gnu::visibility("hidden")]] std::byte __bss_start[];  // NOLINT(bugprone-reserved-identifier)

namespace shmemx::windows {
namespace {

// Where a program linked with -static stops being symmetric: the linker lays the globals of libraries that come after
// this one, libc's first of all, behind these two, on other pages. libc writes its own in the child before any handler
// of a fork runs: were they shared, the parent would find its threads gone and its locks open.
[[gnu::used]] alignas(kPageBytes) constinit std::byte fence_of_data{1};
[[gnu::used]] alignas(kPageBytes) constinit std::byte fence_of_zeros{};

std::byte* page_down(std::uintptr_t address) { return reinterpret_cast<std::byte*>(round_down(address, page_bytes())); }
std::byte* page_up(std::uintptr_t address) { return reinterpret_cast<std::byte*>(round_up(address, page_bytes())); }

// Volatile reads and system calls instead of memcmp and memcpy: sanitizers keep guard zones between globals.
[[gnu::no_sanitize("address", "thread", "undefined")]] bool page_is_zero(const std::byte* page, std::size_t bytes) {
  const auto* words = reinterpret_cast<const volatile std::uint64_t*>(page);
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) any |= words[i];
  return any == 0;
}

// Which pages of this process were never touched, from /proc/self/pagemap. Where that cannot be read none counts as
// untouched.
class PageMap {
 public:
  PageMap() : fd_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
    // This object has just been written. Where the file says otherwise it numbers pages in another way, as under an
    // emulator.
    if (!untouched(reinterpret_cast<const std::byte*>(this))) return;
    fd_ = UniqueFd();
    known_ = 0;
  }

  bool untouched(const std::byte* page) {
    const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(page) / page_bytes_;
    if (number - first_ >= known_) read_from(number);
    if (number - first_ >= known_) return false;
    constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;
    return (entries_[number - first_] & kPresentOrSwapped) == 0;
  }

 private:
  void read_from(std::uintptr_t number) {
    first_ = number;
    const ssize_t got = fd_.valid() ? ::pread(fd_.get(), entries_.data(), sizeof entries_,
                                              static_cast<off_t>(number * sizeof entries_[0]))
                                    : 0;
    known_ = got > 0 ? static_cast<std::size_t>(got) / sizeof entries_[0] : 0;
  }

  UniqueFd fd_;
  std::size_t page_bytes_ = page_bytes();
  std::array<std::uint64_t, 512> entries_{};
  std::uintptr_t first_ = 0;
  std::size_t known_ = 0;
};

// Copies only pages that hold something: a large zero-filled array must neither become resident nor be walked through.
bool copy_touched(int fd, std::size_t file_offset, const StaticRange& range) {
  PageMap pages;
  const std::size_t bytes = page_bytes();
  for (const std::byte* page = range.begin; page < range.end; page += bytes) {
    if ((page >= range.zero_fill && pages.untouched(page)) || page_is_zero(page, bytes)) continue;
    const std::size_t at = file_offset + static_cast<std::size_t>(page - range.begin);
    if (::syscall(SYS_pwrite64, fd, page, bytes, at) != static_cast<long>(bytes)) return false;
  }
  return true;
}

}  // namespace

int StaticData::visit(dl_phdr_info* info, std::size_t, void* self) {
  StaticData& data = *static_cast<StaticData*>(self);
  const std::uintptr_t load = info->dlpi_addr;
  std::uintptr_t relro_begin = 0;
  std::uintptr_t relro_end = 0;
  Fnv1a hash;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO) {
      relro_begin = load + header.p_vaddr;
      relro_end = relro_begin + header.p_memsz;
    }
    if (header.p_type == PT_LOAD) {
      for (const std::uint64_t value :
           {std::uint64_t{header.p_vaddr}, std::uint64_t{header.p_memsz}, std::uint64_t{header.p_flags}}) {
        hash.add(value);
      }
    }
  }
  for (int i = 0; i < info->dlpi_phnum && data.count_ < kMaxRanges; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0 || header.p_memsz == 0) continue;
    StaticRange range{page_down(load + header.p_vaddr), page_up(load + header.p_vaddr + header.p_memsz),
                      page_up(load + header.p_vaddr + header.p_filesz)};
    const bool holds_relro =
        relro_end > relro_begin && page_down(relro_begin) < range.end && page_up(relro_end) > range.begin;
    // RELRO stands at the segment's start and is read-only by now, as far as it fills pages.
    if (holds_relro) range.begin = page_down(relro_end);
    data.add(range);
  }
  data.digest_ = hash.digest();
  return 1;  // the executable comes first; nothing else is symmetric
}

// Without what lies behind the fences, where libc is part of the executable.
void StaticData::add(const StaticRange& range) {
  const auto add_part = [this](StaticRange part) {
    if (part.begin < part.end && count_ < kMaxRanges) ranges_[count_++] = part;
  };
  const bool has_fences = range.begin < &fence_of_data && &fence_of_zeros < range.end;
  if (!has_fences || !is_linked_statically()) return add_part(range);
  add_part({range.begin, &fence_of_data, range.zero_fill});
  add_part({page_up(reinterpret_cast<std::uintptr_t>(__bss_start)), &fence_of_zeros, range.zero_fill});
}

StaticData StaticData::of_executable() {
  StaticData data;
  ::dl_iterate_phdr(&StaticData::visit, &data);
  return data;
}

Status StaticData::share(int fd, std::size_t file_offset) const {
  SHMEMX_TRY(open_fork_guard());
  // No global may be written between copy and mapping. In a static executable that includes this library's own and
  // libc's.
  for (std::size_t i = 0; i < count_; ++i) {
    const StaticRange& range = ranges_[i];
    const auto at = static_cast<std::size_t>(range.begin - base());
    const auto bytes = static_cast<std::size_t>(range.end - range.begin);
    if (!copy_touched(fd, file_offset + at, range)) return system_error("copy the executable's static data");
    if (map_on_touch(range.begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
                     file_offset + at) == MAP_FAILED) {
      return system_error("map the executable's static data over itself");
    }
  }
  guard_forks({ranges_.data(), count_}, fd, file_offset);
  return {};
}

}  // namespace shmemx::windows
