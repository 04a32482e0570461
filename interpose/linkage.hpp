// Where the symbols of this process are defined: in this library, in the MPI, or in a library between them, such as a
// profiling tool. Cold code.
#pragma once

struct link_map;

namespace shmemx::interpose {

// Returns the object that contains an address of code or data; null if none does.
const link_map* object_of(const void* address) noexcept;
inline bool is_in(const link_map* object, const void* address) noexcept {
  return address != nullptr && object_of(address) == object;
}
// This library.
const link_map* this_object() noexcept;

// The dlsym of the C library: this library has one of its own (api/dlsym.cpp).
void* find_symbol(void* handle, const char* name) noexcept;

// Returns the object's own definition of a symbol; null if it has none. Those of the objects that it needs do not
// count.
void* definition_in(const link_map* object, const char* name) noexcept;
// Returns the first definition of a symbol in an object that is loaded behind `from`; null if there is none.
void* definition_behind(const link_map* from, const char* name) noexcept;
// Returns true if the object is searched, or was loaded, later than this library.
bool is_behind_this(const link_map* object) noexcept;
// Returns true if the object is an MPI library, or the part of one that is for Fortran.
bool is_mpi(const link_map* object) noexcept;

// Where the symbols are searched that some code calls: handles for find_symbol().
struct Scopes {
  void* mpi = nullptr;     // its MPI; null if none is loaded
  void* module = nullptr;  // what a module that has been loaded later needs, which is searched last; may be null
};
// Returns those of the code at an address. An address of null stands for any code.
Scopes scopes_of(const void* code) noexcept;

}  // namespace shmemx::interpose
