#include "windows/heap_address.hpp"

#include <algorithm>

#include "base/mappings.hpp"

namespace shmemx::windows {
namespace {

// Sanitizers, emulators and executables at fixed addresses use the lower zones.
constexpr int kFirstZone = 8;

constexpr std::uint64_t bits_below(int zone) {
  return zone >= kZones ? ~std::uint64_t{0} : (std::uint64_t{1} << zone) - 1;
}

// The zones of [begin, end).
std::uint64_t zones_of(std::uint64_t begin, std::uint64_t end) {
  const auto first = static_cast<int>(std::min<std::uint64_t>(begin / kZoneBytes, kZones));
  const auto last = static_cast<int>(std::min<std::uint64_t>((end - 1) / kZoneBytes, kZones - 1));
  return first > last ? 0 : bits_below(last + 1) & ~bits_below(first);
}

}  // namespace

std::uint64_t free_zones() noexcept {
#if defined(__SANITIZE_THREAD__)
  return 0;
#endif
  MappingReader reader;
  Mapping mapping;
  std::uint64_t used = bits_below(kFirstZone);
  std::uint64_t highest = 0;
  while (reader.next(mapping)) {
    if (mapping.begin >= kZones * kZoneBytes && highest != 0) continue;  // the kernel's own page on x86-64
    used |= zones_of(mapping.begin, mapping.end);
    highest = std::max<std::uint64_t>(highest, mapping.end);
  }
  // What lies above all mappings, the stack among them, need not exist.
  const std::uint64_t last = highest / kZoneBytes;
  return last == 0 ? 0 : bits_below(static_cast<int>(std::min<std::uint64_t>(last, kZones))) & ~used;
}

// The PE with the highest index on its node needs the most room in front of its heap, the lowest one behind it.
std::uintptr_t common_heap_address(std::uint64_t zones, const Geometry& geometry) noexcept {
  const std::size_t before = (geometry.n_pes - 1) * geometry.stride + geometry.heap_offset;
  const std::size_t bytes = (2 * geometry.n_pes - 1) * geometry.stride;
  const std::uint64_t needed = (bytes + kZoneBytes - 1) / kZoneBytes;
  if (needed >= kZones) return 0;
  const std::uint64_t run = bits_below(static_cast<int>(needed));
  for (int zone = 0; zone + static_cast<int>(needed) <= kZones; ++zone) {
    if ((zones >> zone & run) == run) return static_cast<std::uint64_t>(zone) * kZoneBytes + before;
  }
  return 0;
}

}  // namespace shmemx::windows
