// Names of the program's own variables and functions, for diagnostics: from the symbol table of the executable, which
// also has those that the dynamic linker does not see. Cold code only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shmemx {

struct NamedObject {
  std::string name;  // as the linker sees it; empty: unknown
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};

// Returns the name as the program spells it.
std::string demangled(const std::string& name);

// By how much this process's executable lies above the addresses in its file, where it begins, and where it ends.
std::uintptr_t load_bias() noexcept;
const void* executable_begin() noexcept;
std::uintptr_t executable_end() noexcept;

// Returns the function of an executable file that holds this address of the file.
NamedObject function_at(const std::string& executable, std::uintptr_t address);

// Returns the variable of an executable file that holds this address of the file.
NamedObject variable_in(const std::string& executable, std::uintptr_t address);

// Returns the variable of this process's executable that holds this address; no name if there is none, or no symbol
// table.
NamedObject variable_at(std::uintptr_t address);

// Where the variables of this process's executable lie, without names, sorted. Those that overlap are one.
struct AddressSpan {
  std::uintptr_t begin;
  std::uintptr_t end;
};
std::vector<AddressSpan> variables_of_executable();
// What of the executable is mapped and cannot be written to.
std::vector<AddressSpan> constants_of_executable();

}  // namespace shmemx
