#include "runtime/called_function.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>

namespace shmemx::runtime {
namespace {

using Code = const std::uint8_t*;

[[maybe_unused]] bool is_code(Code at) {
  Dl_info info{};
  return ::dladdr(at, &info) != 0;
}

template <class T>
[[maybe_unused]] T read(Code at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

#if defined(__x86_64__)

// Returns where an instruction finds its address that ends with a distance from the next instruction.
Code relative_to(Code distance) { return distance + 4 + read<std::int32_t>(distance); }

// Follows an entry of the procedure linkage table: endbr64, bnd jmp *slot(%rip).
Code behind_entry(Code at) {
  if (read<std::uint32_t>(at) == 0xfa1e0ff3U) at += 4;
  const Code jump = *at == 0xf2 ? at + 1 : at;
  return jump[0] == 0xff && jump[1] == 0x25 ? read<Code>(relative_to(jump + 2)) : at;
}

Code function_called(Code next) {
  if (next[-6] == 0xff && next[-5] == 0x15) return read<Code>(relative_to(next - 4));  // call *slot(%rip)
  if (next[-5] != 0xe8) return nullptr;                                                // call
  const Code target = relative_to(next - 4);
  return is_code(target) ? behind_entry(target) : nullptr;
}

#elif defined(__aarch64__)

// Follows an entry of the procedure linkage table: bti c, adrp x16, ldr x17.
Code behind_entry(Code at) {
  if (read<std::uint32_t>(at) == 0xd503245fU) at += 4;
  const auto page = read<std::uint32_t>(at);
  const auto load = read<std::uint32_t>(at + 4);
  if ((page & 0x9f00001fU) != 0x90000010U || (load & 0xffc003ffU) != 0xf9400211U) return at;
  const std::uint32_t pages = (page >> 5 & 0x7ffffU) << 2 | (page >> 29 & 3U);  // 21 bits
  const std::int64_t distance = static_cast<std::int64_t>(std::uint64_t{pages} << 43) >> 31;
  const std::uintptr_t base = (reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{0xfff}) + distance;
  return read<Code>(reinterpret_cast<Code>(base + (load >> 10 & 0xfffU) * 8));
}

Code function_called(Code next) {
  const auto call = read<std::uint32_t>(next - 4);
  if (call >> 26 != 0x25U) return nullptr;  // bl
  const std::int32_t distance = static_cast<std::int32_t>(call << 6) >> 4;
  const Code target = next - 4 + distance;
  return is_code(target) ? behind_entry(target) : nullptr;
}

#else

Code function_called(Code) { return nullptr; }

#endif

}  // namespace

const void* called_function(const void* return_address) noexcept {
  return function_called(static_cast<Code>(return_address));
}

}  // namespace shmemx::runtime
