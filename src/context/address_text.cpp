#include "context/address_text.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <cstddef>

#include "base/linkage.hpp"
#include "base/object_name.hpp"

namespace shmemx::context {
namespace {

// Is it a thread-local variable of this thread?
bool is_of_thread(std::uintptr_t address) {
  const auto holds = [](dl_phdr_info* object, std::size_t, void* data) {
    const std::uintptr_t offset =
        *static_cast<const std::uintptr_t*>(data) - reinterpret_cast<std::uintptr_t>(object->dlpi_tls_data);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& part = object->dlpi_phdr[i];
      if (part.p_type == PT_TLS && object->dlpi_tls_data != nullptr && offset < part.p_memsz) return 1;
    }
    return 0;
  };
  return ::dl_iterate_phdr(holds, &address) != 0;
}

bool is_on_stack(std::uintptr_t address) {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return false;
  void* stack = nullptr;
  std::size_t bytes = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &stack, &bytes) == 0;
  ::pthread_attr_destroy(&attributes);
  return known && address - reinterpret_cast<std::uintptr_t>(stack) < bytes;
}

// "'x' of libfoo.so", or "in libfoo.so" where the symbol has no public name.
std::string name_of(const Dl_info& info) {
  const std::string path = info.dli_fname == nullptr ? "" : info.dli_fname;
  const std::string file = path.substr(path.rfind('/') + 1);
  return info.dli_sname == nullptr ? "in " + file : "'" + std::string(info.dli_sname) + "' of " + file;
}

std::string& reason() {
  static auto* const instance = new std::string("SHMEMX_STATIC_DATA=0");
  return *instance;
}

// Written by routines that all PEs call.
struct Refused {
  const char* routine = nullptr;  // null: none has failed
  std::size_t bytes = 0;
  std::uint64_t left = 0;
};
constinit Refused refused;

constexpr std::uintptr_t kNearNull = 65536;  // no program has memory there

AddressText describe_null(std::uintptr_t address) {
  const std::string what = address == 0 ? "it is null" : "it is null plus " + std::to_string(address) + " bytes";
  if (refused.routine == nullptr) return {what, "allocate memory with shmem_malloc"};
  return {what + ", and " + std::string(refused.routine) + " had returned NULL for " + std::to_string(refused.bytes) +
              " bytes: there was room for " + std::to_string(refused.left),
          "check what it returns, or set SHMEM_SYMMETRIC_SIZE for a larger heap"};
}

}  // namespace

std::string variable_text(std::uintptr_t address) {
  const NamedObject variable = variable_at(address);
  if (variable.name.empty()) return {};
  const std::size_t inside = address - variable.begin;
  return " (" + (inside == 0 ? std::string() : std::to_string(inside) + " bytes into ") + "'" +
         demangled(variable.name) + "', " + std::to_string(variable.bytes) + " bytes)";
}

void note_refused_allocation(const char* routine, std::size_t bytes, std::uint64_t left) {
  refused = {routine, bytes, left};
}

AddressText describe_address(std::uintptr_t address, bool globals_are_symmetric) {
  if (address < kNearNull) return describe_null(address);
  if (is_on_stack(address))
    return {"it is on this thread's stack", "make the variable static, or allocate it with shmem_malloc"};
  if (is_of_thread(address))
    return {"it is a thread-local variable", "make it static, or allocate it with shmem_malloc"};
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(address), &info) == 0)
    return {"it is private memory, as of malloc", "allocate it with shmem_malloc"};
  if (info.dli_fbase == executable_begin() && globals_are_symmetric)
    return {"it is a constant or a library's global " + name_of(info), "allocate it with shmem_malloc"};
  if (info.dli_fbase == executable_begin())
    return {"it is a global " + name_of(info) + ", which is private since " + reason(),
            "allocate it with shmem_malloc"};
  return {"it is a global " + name_of(info) + ", and globals of shared libraries are private",
          "move it into the executable, or allocate it with shmem_malloc"};
}

AddressText describe_hole(std::uintptr_t address) {
  if (!is_linked_statically())
    return {"the program has unmapped its static data there, or mapped other memory over them, before shmem_init",
            "allocate it with shmem_malloc"};
  Dl_info info{};
  const bool has_name = ::dladdr(reinterpret_cast<const void*>(address), &info) != 0 && info.dli_sname != nullptr;
  return {std::string("it is a global") + (has_name ? " '" + std::string(info.dli_sname) + "'" : "") +
              " in a section of its own or of a library, which a statically linked program keeps private",
          "leave it in .data or .bss, link dynamically, or allocate it with shmem_malloc"};
}

void set_private_globals_reason(std::string text) { reason() = std::move(text); }

}  // namespace shmemx::context
