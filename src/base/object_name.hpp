// Names of the program's own variables and functions, for diagnostics: from the symbol table of the executable, which
// also has those that the dynamic linker does not see. Cold code only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace shmemx {

struct NamedObject {
  std::string name;  // as the linker sees it; empty: unknown
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};

// Returns the variable of the executable that holds this address; no name if there is none, or no symbol table.
NamedObject variable_at(std::uintptr_t address);

}  // namespace shmemx
