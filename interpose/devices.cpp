#include "interpose/devices.hpp"

#include <link.h>

#include <array>
#include <atomic>
#include <cstring>

#include "interpose/linkage.hpp"
#include "interpose/recent_targets.hpp"

namespace shmemx::interpose {
namespace {

// As in cuda.h, which need not be here.
using GetAttribute = int (*)(void* value, int attribute, unsigned long long address);
constexpr int kMemoryType = 2;   // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr int kIsManaged = 8;    // CU_POINTER_ATTRIBUTE_IS_MANAGED
constexpr unsigned kDevice = 2;  // CU_MEMORYTYPE_DEVICE
GetAttribute get_attribute = nullptr;

// Devices reserve their addresses for good, so a piece of memory that was none of a device's is none later.
constexpr unsigned kPieceShift = 21;
constexpr std::size_t kKnown = 64;
std::array<std::atomic<std::uint64_t>, kKnown> known_pieces{};  // not of a device

// Returns false if the process has loaded no library since this was last called.
bool has_loaded_more() {
  static std::atomic<unsigned long long> loaded_then{0};
  unsigned long long loaded = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* adds) {
        *static_cast<unsigned long long*>(adds) = info->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded_then.exchange(loaded, std::memory_order_relaxed) != loaded;
}

bool is_devices_by_driver(std::uint64_t address) {
  unsigned type = 0;
  unsigned managed = 0;
  if (get_attribute(&type, kMemoryType, address) != 0 || type != kDevice) return false;
  return get_attribute(&managed, kIsManaged, address) != 0 || (managed & 0xff) == 0;
}

}  // namespace

void look_for_devices() {
  if (has_devices || !has_loaded_more()) return;
  const link_map* object = this_object();
  while (object->l_prev != nullptr) object = object->l_prev;
  while (object != nullptr && std::strstr(object->l_name, "/libcuda.so") == nullptr) object = object->l_next;
  void* const found = object == nullptr ? nullptr : definition_in(object, "cuPointerGetAttribute");
  if (found == nullptr) return;
  get_attribute = reinterpret_cast<GetAttribute>(found);
  forget_recent_targets();
  has_devices = true;
}

bool is_device_memory_slow(std::uint64_t address) {
  const std::uint64_t piece = (address >> kPieceShift) + 1;  // 0: no piece
  std::atomic<std::uint64_t>& known = known_pieces[piece % kKnown];
  if (known.load(std::memory_order_relaxed) == piece) return false;  // a hint that nothing else depends on
  if (is_devices_by_driver(address)) return true;
  known.store(piece, std::memory_order_relaxed);
  return false;
}

}  // namespace shmemx::interpose
