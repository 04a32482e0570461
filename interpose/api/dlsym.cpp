// The dlsym of this process: the C library's, but for tools that look for the next routine of MPI behind themselves,
// where they would find the MPI's own. A tool that is linked with the program stands behind this library.
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "interpose/api/entry.hpp"
#include "interpose/linkage.hpp"

namespace interpose = shmemx::interpose;

namespace {

constexpr const char* kVersions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};

bool is_of_mpi(const char* name) noexcept {
  if (name == nullptr) return false;
  if (*name == 'P' || *name == 'p') ++name;
  return std::strncmp(name, "MPI_", 4) == 0 || std::strncmp(name, "mpi_", 4) == 0;
}

}  // namespace

extern "C" {

using FindSymbol = void* (*)(void*, const char*);

// Looked up by the version, since it has the name of this library's own.
__attribute__((visibility("hidden"))) FindSymbol shmemx_rma_next_dlsym() noexcept {
  static const auto found = [] {
    void* next = nullptr;
    for (const char* const version : kVersions)
      if (next == nullptr) next = ::dlvsym(RTLD_NEXT, "dlsym", version);
    return reinterpret_cast<FindSymbol>(next);
  }();
  return found;
}

// Returns this library's PMPI_X for a tool that looks for the next MPI_X or PMPI_X and would find an MPI's; else null.
__attribute__((visibility("hidden"))) void* shmemx_rma_own_routine(void* handle, const char* name,
                                                                   const void* caller) noexcept {
  if (handle != RTLD_NEXT || !is_of_mpi(name)) return nullptr;
  char own_name[64] = "P";
  const bool has_p = *name == 'P' || *name == 'p';
  if (std::strlen(name) + 2 > sizeof own_name) return nullptr;
  if (!has_p && *name == 'm') own_name[0] = 'p';
  std::strcpy(own_name + (has_p ? 0 : 1), name);
  void* const own = interpose::definition_in(interpose::this_object(), own_name);
  const link_map* const from = interpose::object_of(caller);
  if (own == nullptr || from == nullptr || from == interpose::this_object() || interpose::is_mpi(from)) return nullptr;
  const void* const next = interpose::definition_behind(from, name);
  return next != nullptr && interpose::is_mpi(interpose::object_of(next)) ? own : nullptr;
}

}  // extern "C"

// The C library's looks at its return address to know who calls, so it is jumped to, with the registers as they were.
#if defined(__x86_64__)
asm(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq 24(%rsp), %rdx
  call shmemx_rma_own_routine
  testq %rax, %rax
  jne 1f
  call shmemx_rma_next_dlsym
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_adjust_cfa_offset 24
1:
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  ret
  .cfi_endproc
  .size dlsym, . - dlsym
)");
#endif

void* shmemx::interpose::find_symbol(void* handle, const char* name) noexcept {
  return shmemx_rma_next_dlsym()(handle, name);
}
