#include "check/c_library.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/cache_line.hpp"
#include "check/blocks.hpp"
#include "check/checks.hpp"

namespace shmemx::check {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kSlotTypes[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT};
#elif defined(__aarch64__)
constexpr std::uint32_t kSlotTypes[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
#else
constexpr std::uint32_t kSlotTypes[] = {0, 0};  // none
#endif

void free_of_program(void* block) {
  if (is_on()) check_foreign_free("free", "shmem_free", block);
  std::free(block);
}

void* realloc_of_program(void* block, std::size_t bytes) {
  if (is_on()) check_foreign_free("realloc", "shmem_realloc", block);
  return std::realloc(block, bytes);
}

// What the dynamic linker knows of a loaded object.
struct Object {
  std::uintptr_t base = 0;
  std::uintptr_t relro_begin = 0;
  std::uintptr_t relro_end = 0;
  const ElfW(Dyn) * dynamic = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;

  // Some architectures have addresses of the file here.
  std::uintptr_t address_of(const ElfW(Dyn) & entry) const {
    return entry.d_un.d_ptr < base ? entry.d_un.d_ptr + base : entry.d_un.d_ptr;
  }
  const char* name_of(const ElfW(Rela) & relocation) const {
    return names + symbols[ELF64_R_SYM(relocation.r_info)].st_name;
  }
};

bool holds(const dl_phdr_info& info, std::uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - (info.dlpi_addr + part.p_vaddr) < part.p_memsz) return true;
  }
  return false;
}

Object object_of(const dl_phdr_info& info) {
  Object object;
  object.base = info.dlpi_addr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC) object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (part.p_type == PT_GNU_RELRO) {
      object.relro_begin = round_down(begin, kPageBytes);
      object.relro_end = begin + part.p_memsz;
    }
  }
  for (const ElfW(Dyn)* entry = object.dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) object.symbols = reinterpret_cast<const ElfW(Sym)*>(object.address_of(*entry));
    if (entry->d_tag == DT_STRTAB) object.names = reinterpret_cast<const char*>(object.address_of(*entry));
  }
  return object;
}

// The slot may lie in what the dynamic linker has made read-only.
void store(const Object& object, std::uintptr_t slot, std::uintptr_t function) {
  const bool is_sealed = slot >= object.relro_begin && slot < object.relro_end;
  const std::uintptr_t page = round_down(slot, kPageBytes);
  if (is_sealed && ::syscall(SYS_mprotect, page, kPageBytes, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(reinterpret_cast<std::uintptr_t*>(slot), function, __ATOMIC_RELAXED);  // other threads may call it
  if (is_sealed) ::syscall(SYS_mprotect, page, kPageBytes, PROT_READ);
}

void redirect(const Object& object, const ElfW(Rela) & relocation) {
  const std::uint32_t type = ELF64_R_TYPE(relocation.r_info);
  if (type != kSlotTypes[0] && type != kSlotTypes[1]) return;
  const char* const name = object.name_of(relocation);
  const std::uintptr_t slot = object.base + relocation.r_offset;
  if (std::strcmp(name, "free") == 0) store(object, slot, reinterpret_cast<std::uintptr_t>(free_of_program));
  if (std::strcmp(name, "realloc") == 0) store(object, slot, reinterpret_cast<std::uintptr_t>(realloc_of_program));
}

void redirect_list(const Object& object, std::int64_t begin_tag, std::int64_t bytes_tag) {
  const ElfW(Rela)* begin = nullptr;
  std::size_t bytes = 0;
  for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == begin_tag) begin = reinterpret_cast<const ElfW(Rela)*>(object.address_of(*entry));
    if (entry->d_tag == bytes_tag) bytes = entry->d_un.d_val;
  }
  for (std::size_t i = 0; begin != nullptr && i < bytes / sizeof *begin; ++i) redirect(object, begin[i]);
}

// This library and the C library keep their calls.
int redirect_object(dl_phdr_info* info, std::size_t, void*) {
  if (holds(*info, reinterpret_cast<std::uintptr_t>(&watch_c_library)) ||
      holds(*info, reinterpret_cast<std::uintptr_t>(&std::free)))
    return 0;
  const Object object = object_of(*info);
  if (object.dynamic == nullptr || object.symbols == nullptr || object.names == nullptr) return 0;
  redirect_list(object, DT_JMPREL, DT_PLTRELSZ);
  redirect_list(object, DT_RELA, DT_RELASZ);
  return 0;
}

}  // namespace

void watch_c_library() noexcept {
  static constinit bool is_done = false;
  if (!std::exchange(is_done, true)) ::dl_iterate_phdr(redirect_object, nullptr);
}

}  // namespace shmemx::check
