#include "windows/static_data.hpp"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <utility>

#include "base/cache_line.hpp"
#include "base/hash.hpp"
#include "base/linkage.hpp"
#include "base/machine.hpp"
#include "base/mappings.hpp"

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

// The executable is the first object of its link namespace, and has no name there.
bool is_executable(const dl_phdr_info& info) {
  return info.dlpi_name == nullptr || info.dlpi_name[0] == '\0' ||
         reinterpret_cast<std::uintptr_t>(info.dlpi_phdr) == ::getauxval(AT_PHDR);
}

}  // namespace

int StaticData::visit(dl_phdr_info* info, std::size_t, void* self) {
  StaticData& data = *static_cast<StaticData*>(self);
  data.is_other_namespace_ = !is_executable(*info);
  if (data.is_other_namespace_) return 1;
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
  for (int i = 0; i < info->dlpi_phnum; ++i) {
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
    if (part.begin < part.end) ranges_.push_back(part);
  };
  const bool has_fences = range.begin < &fence_of_data && &fence_of_zeros < range.end;
  if (!has_fences || !is_linked_statically()) return add_part(range);
  add_part({range.begin, &fence_of_data, range.zero_fill});
  add_part({page_up(reinterpret_cast<std::uintptr_t>(__bss_start)), &fence_of_zeros, range.zero_fill});
}

// Without pages that are not the program's private memory any more: it has unmapped them, or mapped something shared
// there. Where they lie is part of the layout, which all PEs must have alike.
void StaticData::leave_out_mappings() {
  const std::vector<StaticRange> whole = std::exchange(ranges_, {});
  MappingReader reader;
  Mapping mapping;
  std::size_t next = 0;
  for (bool more = reader.next(mapping); more && next < whole.size();) {
    const StaticRange& range = whole[next];
    auto* const begin = std::max(range.begin, reinterpret_cast<std::byte*>(mapping.begin));
    auto* const end = std::min(range.end, reinterpret_cast<std::byte*>(mapping.end));
    const bool follows = !ranges_.empty() && ranges_.back().end == begin && begin != range.begin;
    if (begin < end && !mapping.is_shared && follows)
      ranges_.back().end = end;
    else if (begin < end && !mapping.is_shared)
      ranges_.push_back({begin, end, range.zero_fill});
    if (reinterpret_cast<std::byte*>(mapping.end) < range.end)
      more = reader.next(mapping);
    else
      ++next;
  }
  if (reader.has_failed()) ranges_ = whole;
  Fnv1a hash;
  hash.add(digest_);
  for (const StaticRange& range : ranges_) {
    hash.add(static_cast<std::uint64_t>(range.begin - base()));
    hash.add(static_cast<std::uint64_t>(range.end - range.begin));
  }
  digest_ = hash.digest();
}

std::vector<StaticHole> StaticData::holes() const {
  std::vector<StaticHole> found;
  for (std::size_t i = 1; i < ranges_.size(); ++i) {
    const StaticHole between{static_cast<std::uint64_t>(ranges_[i - 1].end - base()),
                             static_cast<std::uint64_t>(ranges_[i].begin - base())};
    if (between.begin != between.end) found.push_back(between);
  }
  return found;
}

StaticData StaticData::of_executable() {
  StaticData data;
  ::dl_iterate_phdr(&StaticData::visit, &data);
  data.leave_out_mappings();
  return data;
}

}  // namespace shmemx::windows
