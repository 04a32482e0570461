#include "interpose/linkage.hpp"

#include <dlfcn.h>
#include <link.h>

namespace shmemx::interpose {
namespace {

// An object's handle, by which it and all that it needs are searched. Objects that were there when the program started
// have none of their own before.
class Handle {
 public:
  explicit Handle(const link_map* object, int flags = 0) noexcept {
    const bool is_program = object->l_name == nullptr || *object->l_name == 0;
    handle_ = ::dlopen(is_program ? nullptr : object->l_name, RTLD_NOLOAD | RTLD_LAZY | flags);
  }
  ~Handle() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void* find(const char* name) const noexcept { return handle_ == nullptr ? nullptr : find_symbol(handle_, name); }
  void* release() noexcept {
    void* const kept = handle_;
    handle_ = nullptr;
    return kept;
  }

 private:
  void* handle_;
};

constexpr char kProof[] = "PMPI_Init";  // what every MPI defines, and nobody else
constexpr char kFortranProof[] = "pmpi_init_";

// The plug-ins of an MPI may look for its routines among those that all may see.
void* visible_to_all(const void* routine) noexcept {
  const link_map* const object = object_of(routine);
  return object == nullptr ? nullptr : Handle(object, RTLD_GLOBAL).release();
}

}  // namespace

const link_map* object_of(const void* address) noexcept {
  Dl_info unused;
  void* object = nullptr;
  return ::dladdr1(address, &unused, &object, RTLD_DL_LINKMAP) == 0 ? nullptr : static_cast<const link_map*>(object);
}

const link_map* this_object() noexcept {
  static const link_map* const found = object_of(reinterpret_cast<const void*>(&this_object));
  return found;
}

void* definition_in(const link_map* object, const char* name) noexcept {
  void* const found = Handle(object).find(name);
  return is_in(object, found) ? found : nullptr;
}

void* definition_behind(const link_map* from, const char* name) noexcept {
  for (const link_map* object = from->l_next; object != nullptr; object = object->l_next)
    if (void* const found = definition_in(object, name); found != nullptr) return found;
  return nullptr;
}

bool is_behind_this(const link_map* object) noexcept {
  const link_map* behind = this_object()->l_next;
  while (behind != nullptr && behind != object) behind = behind->l_next;
  return behind != nullptr;
}

bool is_mpi(const link_map* object) noexcept {
  return object != nullptr && object != this_object() &&
         (definition_in(object, kProof) != nullptr || definition_in(object, kFortranProof) != nullptr);
}

Scopes scopes_of(const void* code) noexcept {
  Scopes found;
  const link_map* const object = code == nullptr ? nullptr : object_of(code);
  if (object != nullptr && object != this_object()) found.module = Handle(object).release();
  const void* const proof = found.module == nullptr ? nullptr : find_symbol(found.module, kProof);
  if (proof != nullptr && !is_in(this_object(), proof)) {
    found.mpi = visible_to_all(proof);
  } else if (find_symbol(RTLD_NEXT, kProof) != nullptr) {
    found.mpi = RTLD_NEXT;
  } else {
    found.mpi = visible_to_all(definition_behind(this_object(), kProof));
  }
  return found;
}

}  // namespace shmemx::interpose
